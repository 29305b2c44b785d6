//! A button for new outputs that have appeared above the visible ones.

use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use super::focus;
use super::windowed::Windowed;
use crate::reactive::boxed::{dynamic, handler, memo};

/// The button shows the number of new outputs and scrolls to them. It is hidden if there are none.
pub fn new_outputs(windowed: Memo<Windowed>) -> AnyView {
    let arrived = memo(move || windowed.read().arrived.max(0).unsigned_abs());
    let show = move |_| {
        window().scroll_to_with_x_and_y(0.0, 0.0);
        // The button disappears, so the focus moves to the list.
        focus::to_list();
    };
    view! {
        <p class="gallery-arrivals" role="status">
            {dynamic(move || match arrived.get() {
                0 => ().into_any(),
                count => {
                    view! {
                        <button class="button primary" type="button" on:click=handler(show)>
                            {counted(count, "new output")}
                        </button>
                    }
                        .into_any()
                }
            })}
        </p>
    }
    .into_any()
}
