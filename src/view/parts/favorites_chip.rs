use icondata_lu::LuHeart;
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::reactive::boxed::{handler, when};
use crate::state::navigation::Navigation;

/// Query parameter of lists that are filtered to favorites.
pub const FAVORITES: &str = "favorites";

/// Returns the chip that filters a list to favorites. It looks different from the adjacent chips, one of which is always
/// selected.
pub fn favorites_chip(navigation: Navigation) -> AnyView {
    view! {
        <label class="chip favorites-chip">
            <input
                type="checkbox"
                prop:checked=when(move || navigation.query(FAVORITES).is_some())
                on:change=handler(move |event| {
                    let is_wanted = event_target_checked(&event);
                    navigation.set_query(FAVORITES, is_wanted.then_some("yes"));
                })
            />
            <span>
                <Glyph icon=LuHeart />
                "Favorites"
            </span>
        </label>
    }
    .into_any()
}
