//! The way back for rows that were taken out of the table just now, and for what was written and replaced.

use atelier_engine::UNDO_MS;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{after, effect, handler, memo, text, when};
use crate::view::parts::focus;
use crate::view::shell::undo::offered_since;

/// Above the foot of the form, which is in sight wherever a row can be taken out.
pub fn removed_rows(composer: Composer) -> AnyView {
    let removal = memo(move || composer.table.read().removal_message());
    let number = memo(move || removal.read().as_ref().map(|(number, _)| *number));
    // What was taken out before the table was opened here is not talked of any more.
    let over = RwSignal::new(number.get_untracked());
    effect(move || {
        let number = number.get();
        let end = after(UNDO_MS as u32, move || {
            over.try_set(number);
        });
        // Another removal in between has its own time.
        end.forget();
    });
    let is_over = when(move || number.get().is_none() || number.get() <= over.get());
    // What was done last is what a person wants back.
    let way_back = memo(move || composer.way_back.said());
    let said = memo(move || match (way_back.get(), is_over.get()) {
        (Some(said), _) => Some((0, said)),
        (None, false) => removal.get(),
        (None, true) => None,
    });
    effect(move || {
        number.track();
        composer.way_back.end_by_change();
    });
    let undo = move |_| {
        match way_back.get_untracked() {
            Some(_) => composer.way_back.take(),
            None => composer.edit(|table| table.undo_removal()),
        }
        focus::once_lost(focus_on_items);
    };
    view! {
        <div class="undo of-rows" hidden=when(move || said.read().is_none())>
            <p role="status" prop:textContent=text(move || said.get().unwrap_or_default().1)></p>
            <button
                class="button quiet small undoes"
                type="button"
                data-since=offered_since(said)
                on:click=handler(undo)
            >
                "Undo"
            </button>
        </div>
    }
    .into_any()
}

/// The table as a whole, where there is one.
pub fn focus_on_items() {
    // Ctrl+Z in a text field undoes what was typed there: where no row is left, the focus is on the way back.
    let _ = focus::in_place_to(".sheet-scroll")
        || focus::in_place_to(".of-rows:not([hidden]) .undoes")
        || focus::in_place_to(FIRST_FIELD);
}

/// Where a table begins to be filled.
pub const FIRST_FIELD: &str = ".composer .fill :is(textarea, select)";
