//! The Undo button for rows that were just removed and for replaced content of the panels.

use atelier_engine::UNDO_MS;
use atelier_studio::compose::table::Table;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{after, effect, handler, memo, text, when};
use crate::view::parts::focus;
use crate::view::shell::undo::offered_since;

/// The message and the button. They are in the foot of the form, which stays visible while the user scrolls through the rows.
pub fn removed_rows(composer: Composer) -> AnyView {
    let removal = memo(move || composer.table.read().removal_message());
    let number = memo(move || removal.read().as_ref().map(|(number, _)| *number));
    // Removals from before this view was opened can't be undone.
    let expired = RwSignal::new(number.get_untracked());
    let table = composer.keeping();
    // Also of a removal that can't be undone.
    let last = memo(move || composer.table.read().last_removal());
    effect(move || {
        let number = last.get();
        let end = after(UNDO_MS as u32, move || {
            expired.try_set(number);
            number.iter().for_each(|it| table.end_removed_uploads(*it));
        });
        // A later removal has its own timer.
        end.forget();
    });
    let is_expired = when(move || number.get().is_none() || number.get() <= expired.get());
    // A replacement of panel content takes precedence over removed rows.
    let undo_offer = memo(move || composer.undo_offer.message());
    let message = memo(move || match (undo_offer.get(), is_expired.get()) {
        (Some(message), _) => Some((0, message)),
        (None, false) => removal.get(),
        (None, true) => None,
    });
    effect(move || {
        number.track();
        composer.undo_offer.end_on_change();
    });
    let undo = move |_| {
        match undo_offer.get_untracked() {
            Some(_) => composer.undo_offer.undo(),
            None => table.edit_files(Table::undo_removal),
        }
        focus::when_lost(focus_on_items);
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
    let _ = focus::to_without_scrolling(".sheet-scroll")
        || focus::to_without_scrolling(".of-rows:not([hidden]) .undoes")
        || focus::to_without_scrolling(FIRST_FIELD);
}

/// The selector of the first field of the panels.
pub const FIRST_FIELD: &str = ".composer .fill :is(textarea, select)";
