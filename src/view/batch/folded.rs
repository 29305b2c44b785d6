//! The composer as a line, once all that was written there is sent.

use atelier_engine::compose::opening::Opening;
use atelier_engine::plural::counted;
use icondata_lu::LuPlus;
use leptos::prelude::*;

use super::composer::Composer;
use crate::boxed::{effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::view::form::field::focus_in_place;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;

const NEW_BATCH: &str = "new-batch";

/// Whether the composer is open. Who has opened it or writes there keeps it, whatever becomes of the rows elsewhere.
pub fn opening(composer: Composer, has_batch: Memo<bool>) -> Memo<bool> {
    let is_open = memo(move || {
        let opening = Opening {
            unsent: composer.table.read().unsent(),
            has_batch: has_batch.get(),
            is_held: composer.held.get(),
        };
        opening.is_open()
    });
    effect(move || {
        if is_open.get() {
            composer.held.set(true);
        }
    });
    is_open
}

/// All of it was sent: what came of it takes its place, unless somebody writes on.
pub fn let_go(composer: Composer) {
    let focused = document().active_element();
    let is_typing = focused.is_some_and(|it| it.matches(WRITTEN_IN).unwrap_or_default());
    composer.held.try_set(is_typing);
    after_frame(|| {
        if focus::is_lost() {
            focus_in_place(NEW_BATCH);
        }
    });
}

const WRITTEN_IN: &str =
    ".composer :is(textarea, select, input:not([type=radio], [type=checkbox]))";
const FIRST_FIELD: &str = ".composer .fill :is(textarea, select)";

/// What was sent and stepped aside, and the way to what is sent next.
pub fn sent_rows(composer: Composer, is_open: Memo<bool>, with_sent: RwSignal<bool>) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    let open = move |_| {
        composer.held.set(true);
        after_frame(|| {
            focus::to(FIRST_FIELD);
        });
    };
    view! {
        <div class="row sent-rows" hidden=when(move || is_open.get() && sent.get() == 0)>
            <button
                class="button"
                id=NEW_BATCH
                type="button"
                hidden=is_open
                on:click=handler(open)
            >
                <Glyph icon=LuPlus />
                "New batch"
            </button>
            <div class="row tight" hidden=when(move || sent.get() == 0)>
                <p class="muted sent-count">
                    {text(move || format!("{} sent", counted(sent.get(), "row")))}
                </p>
                <button
                    class="button quiet small"
                    type="button"
                    aria-expanded=text(move || with_sent.get().to_string())
                    on:click=handler(move |_| with_sent.update(|is| *is = !*is))
                >
                    {text(move || if with_sent.get() { "Hide" } else { "Show" }.to_owned())}
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    on:click=handler(move |_| composer.edit(|table| table.send_all_again()))
                >
                    "Send again"
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    on:click=handler(move |_| composer.edit(|table| table.clear_sent()))
                >
                    {text(move || format!("Remove {}", counted(sent.get(), "sent row")))}
                </button>
            </div>
            <div hidden=is_open>{composer.answer.view()}</div>
        </div>
    }
    .into_any()
}
