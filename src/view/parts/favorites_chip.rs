use icondata_lu::LuHeart;
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::reactive::boxed::{handler, when};
use crate::state::navigation::Navigation;

/// In the URL, of whatever list: favorites alone.
pub const FAVORITES: &str = "favorites";

/// Narrows a list to favorites. It stands next to chips of which one is always selected, and does not look like one of
/// them when it is.
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
