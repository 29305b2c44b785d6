//! The Undo button for rows that were just removed and for replaced content of the panels.

use atelier_engine::UNDO_MS;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{after, effect, handler, memo, text, when};
use crate::view::parts::focus;
use crate::view::shell::undo::offered_since;

/// The message and the button. They are above the foot of the form, which is visible wherever a row can be removed.
pub fn removed_rows(composer: Composer) -> AnyView {
    let removal = memo(move || composer.table.read().removal_message());
    let number = memo(move || removal.read().as_ref().map(|(number, _)| *number));
    // Removals from before this view was opened are not offered.
    let expired = RwSignal::new(number.get_untracked());
    effect(move || {
        let number = number.get();
        let end = after(UNDO_MS as u32, move || {
            expired.try_set(number);
        });
        // A later removal has its own timer.
        end.forget();
    });
    let is_expired = when(move || number.get().is_none() || number.get() <= expired.get());
    // A replacement of panel content takes precedence over removed rows.
    let way_back = memo(move || composer.way_back.message());
    let message = memo(move || match (way_back.get(), is_expired.get()) {
        (Some(message), _) => Some((0, message)),
        (None, false) => removal.get(),
        (None, true) => None,
    });
    effect(move || {
        number.track();
        composer.way_back.end_on_change();
    });
    let undo = move |_| {
        match way_back.get_untracked() {
            Some(_) => composer.way_back.undo(),
            None => composer.edit(|table| table.undo_removal()),
        }
        focus::once_lost(focus_on_items);
    };
    view! {
        <div class="undo of-rows" hidden=when(move || message.read().is_none())>
            <p role="status" prop:textContent=text(move || message.get().unwrap_or_default().1)></p>
            <button
                class="button quiet small undoes"
                type="button"
                data-since=offered_since(message)
                on:click=handler(undo)
            >
                "Undo"
            </button>
        </div>
    }
    .into_any()
}

/// Moves the focus to the table, or to the Undo button or the first field if there is no table.
pub fn focus_on_items() {
    // Without rows, the Undo button comes first: in a text field, Ctrl+Z would undo typed text instead.
    let _ = focus::in_place_to(".sheet-scroll")
        || focus::in_place_to(".of-rows:not([hidden]) .undoes")
        || focus::in_place_to(FIRST_FIELD);
}

/// The selector of the first field of the panels.
pub const FIRST_FIELD: &str = ".composer .fill :is(textarea, select)";
