//! The position of the form: above the batch while there is something to send, and below it once everything is sent. The
//! form does not move while the user types in it. On wide screens it stays next to the batch.

use std::rc::Rc;

use atelier_studio::compose::fill_method::FillMethod;
use atelier_studio::text::plural::counted;
use icondata_lu::LuPlus;
use leptos::prelude::*;

use super::composer::Composer;
use super::removed_rows::{FIRST_FIELD, focus_on_items};
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, handler, memo, text, when};
use crate::view::form::field::focus_in_place;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::viewport;

const NEW_BATCH: &str = "new-batch";
const TEXT_FIELDS: &str =
    ".composer :is(textarea, select, input:not([type=radio], [type=checkbox]))";

/// Whether the form is below the batch.
pub fn is_below(composer: Composer, has_batch: Memo<bool>) -> Memo<bool> {
    let has_unsent = memo(move || composer.table.read().unsent() > 0);
    effect(move || {
        // The form opens for unsent rows that the user did not just type, so that they are visible.
        if has_unsent.get() && !is_typing() {
            composer.is_opened.set(true);
        }
    });
    let is_side_by_side = viewport::beside();
    memo(move || has_batch.get() && !composer.is_opened.get() && !is_side_by_side.get())
}

/// Moves the form below the batch after everything was sent, unless the user is typing in it. If rows could not be sent,
/// moves the focus to the first one that needs a fix.
pub fn make_way(composer: Composer) {
    if is_typing() {
        return;
    }
    if composer.table.with_untracked(|table| table.unsent() > 0) {
        // If Generate is disabled now, it has lost the focus.
        let bad = composer.table.with_untracked(|table| table.bad_rows(1));
        return focus::when_lost(move || {
            composer.row_to_fix.try_set(bad.into_iter().next());
        });
    }
    composer.is_opened.try_set(false);
    match viewport::is_side_by_side() {
        // Generate is disabled now, so the focus moves to the batch next to the form.
        true => focus::when_lost(|| {
            focus::to_without_scrolling(".run h2");
        }),
        false => after_frame(|| focus_in_place(NEW_BATCH)),
    }
}

fn is_typing() -> bool {
    let focused = document().active_element();
    focused.is_some_and(|it| it.matches(TEXT_FIELDS).unwrap_or_default())
}

/// The bar above the batch while the form is below it: a message about what was sent and a button for a new batch.
pub fn new_batch_bar(composer: Composer, is_below: Memo<bool>) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    view! {
        <div class="panel row new-batch" hidden=when(move || !is_below.get())>
            <button class="button" id=NEW_BATCH type="button" on:click=handler(move |_| open_form(composer))>
                <Glyph icon=LuPlus />
                "New batch"
            </button>
            <p class="muted" hidden=when(move || sent.get() == 0) prop:textContent=sent_message(composer)></p>
            {composer.answer.view()}
        </div>
    }
    .into_any()
}

/// The button for a new batch next to Generate. It is shown while a panel still has content after everything was sent, or
/// while only rows that can't be sent are left.
pub fn new_batch(composer: Composer, is_below: Memo<bool>) -> AnyView {
    let is_sent = memo(move || composer.table.read().is_all_sent());
    let has_content = memo(move || {
        composer.way.get() != FillMethod::Lines && composer.panel_state.read().has_content()
    });
    let has_left = memo(move || composer.table.read().has_only_invalid_rows_left());
    view! {
        <button
            class="button"
            type="button"
            hidden=when(move || is_below.get() || !(has_left.get() || is_sent.get() && has_content.get()))
            on:click=handler(move |_| {
                composer.start_new_batch();
                show_form(composer);
            })
        >
            <Glyph icon=LuPlus />
            "New batch"
        </button>
    }
    .into_any()
}

/// Opens the form. Empties it first, unless some of its content is still to be sent.
fn open_form(composer: Composer) {
    if composer.is_idle() {
        composer.start_new_batch();
    }
    show_form(composer);
}

fn show_form(composer: Composer) {
    composer.is_opened.set(true);
    after_frame(|| {
        focus::to(FIRST_FIELD);
    });
}

fn sent_message(composer: Composer) -> Signal<String> {
    text(move || {
        let (is_held, queued) = (composer.is_held.get(), composer.queued.read());
        composer.table.read().sent_message(is_held, &queued)
    })
}

/// The message about rows that were sent, with buttons that put them back or remove them.
pub fn sent_rows(composer: Composer) -> AnyView {
    let sent = memo(move || composer.table.read().sent());
    let count = RwSignal::new(0);
    composer.on_table_change(Rc::new(move || {
        let now = composer.table.read_untracked().put_back_count();
        if now != count.get_untracked() {
            count.set(now);
        }
    }));
    // Both buttons disappear with the sent rows, so they move the focus to the table.
    let put_back = move |_| {
        composer.put_all_back();
        focus::when_lost(focus_on_items);
    };
    let remove = move |_| {
        composer.edit(|table| table.clear_sent());
        focus::when_lost(focus_on_items);
    };
    view! {
        <div class="row tight sent-rows" hidden=when(move || sent.get() == 0)>
            <p class="muted" prop:textContent=sent_message(composer)></p>
            <button
                class="button quiet small"
                type="button"
                title="Generate sends them again"
                // While storage is blocked, the rows are still queued and would be sent twice.
                hidden=when(move || count.get() == 0 || composer.is_held.get())
                on:click=handler(put_back)
                prop:textContent=text(move || format!("Put {} back", counted(count.get(), "row")))></button>
            <button class="button quiet small" type="button" on:click=handler(remove) prop:textContent=text(move || format!("Remove {}", counted(sent.get(), "sent row")))></button>
        </div>
    }
    .into_any()
}
