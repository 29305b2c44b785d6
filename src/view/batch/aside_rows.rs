//! A note about the rows that were put aside, with buttons that bring them back or remove them.

use leptos::prelude::*;

use super::composer::Composer;
use super::removed_rows::focus_on_items;
use crate::reactive::boxed::{handler, memo, text, when};
use crate::view::parts::focus;

/// The note above the table. It is hidden while no rows are put aside.
pub fn aside_rows(composer: Composer) -> AnyView {
    let message = memo(move || composer.table.read().aside_message());
    // Both buttons hide this note, so they move the focus to the table.
    let bring_back = move |_| {
        composer.change(|table, _| table.bring_back());
        composer.is_opened.set(true);
        focus::when_lost(focus_on_items);
    };
    let remove = move |_| {
        composer.edit(|table| table.remove_aside());
        focus::when_lost(focus_on_items);
    };
    view! {
        <div class="row tight sent-rows" hidden=when(move || message.read().is_empty())>
            <p class="muted" role="status" prop:textContent=text(move || message.get())></p>
            <button class="button quiet small" type="button" on:click=handler(bring_back)>
                "Bring back"
            </button>
            <button
                class="button quiet small"
                type="button"
                aria-label="Remove the rows that are put aside"
                on:click=handler(remove)
            >
                "Remove"
            </button>
        </div>
    }
    .into_any()
}
