//! Where the composer stands: above what was sent from it while there is something to send, and below it once all is
//! sent. It stays where somebody writes in it.

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
const WRITTEN_IN: &str =
    ".composer :is(textarea, select, input:not([type=radio], [type=checkbox]))";
const FIRST_FIELD: &str = ".composer .fill :is(textarea, select)";

/// Whether it stands below.
pub fn is_below(composer: Composer, has_batch: Memo<bool>) -> Memo<bool> {
    let has_unsent = memo(move || composer.table.read().unsent() > 0);
    effect(move || {
        // Rows that come from elsewhere are to be seen.
        if has_unsent.get() && !is_written_in() {
            composer.is_wanted.set(true);
        }
    });
    memo(move || has_batch.get() && !composer.is_wanted.get())
}

/// All of it was sent: what came of it takes its place, unless somebody writes on.
pub fn make_way(composer: Composer) {
    if is_written_in() {
        return;
    }
    composer.is_wanted.try_set(false);
    after_frame(|| focus_in_place(NEW_BATCH));
}

fn is_written_in() -> bool {
    let focused = document().active_element();
    focused.is_some_and(|it| it.matches(WRITTEN_IN).unwrap_or_default())
}

/// What was sent from the composer, and the way to it, where it stands below.
pub fn way_to_composer(composer: Composer, is_below: Memo<bool>) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    let open = move |_| {
        composer.is_wanted.set(true);
        after_frame(|| {
            focus::to(FIRST_FIELD);
        });
    };
    view! {
        <div class="panel row new-batch" hidden=when(move || !is_below.get())>
            <button class="button" id=NEW_BATCH type="button" on:click=handler(open)>
                <Glyph icon=LuPlus />
                "New batch"
            </button>
            <p class="muted" hidden=when(move || sent.get() == 0)>
                {text(move || format!("{} sent", counted(sent.get(), "row")))}
            </p>
            {composer.answer.view()}
        </div>
    }
    .into_any()
}

/// What was sent and stepped aside.
pub fn sent_rows(composer: Composer, with_sent: RwSignal<bool>) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    view! {
        <div class="row tight sent-rows" hidden=when(move || sent.get() == 0)>
            <p class="muted">{text(move || format!("{} sent", counted(sent.get(), "row")))}</p>
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
    }
    .into_any()
}
