//! Notes next to the heading of the list of models.

use atelier_studio::navigation::model_order;
use leptos::prelude::*;

use crate::reactive::boxed::text;
use crate::state::model_order::{favorites, first};
use crate::view::parts::as_of;

/// Returns the age of the list, if the service can't be reached, and the order of the models.
///
/// `is_searched`: whether the models are sorted by how well they match the search text.
pub fn list_note(is_searched: Signal<bool>) -> AnyView {
    // Not tracked, like the list itself, which keeps its order until it is opened again.
    let (shown, has_first) = (untrack(favorites), !first().is_empty());
    let order = text(move || {
        model_order::order_text(is_searched.get(), &shown, &favorites(), has_first).to_owned()
    });
    view! {
        {as_of::models_as_of()}
        <p class="muted models-order" translate="no">{order}</p>
    }
    .into_any()
}
