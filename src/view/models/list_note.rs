//! What is said of the list of models, next to its heading.

use atelier_studio::navigation::model_order;
use leptos::prelude::*;

use crate::reactive::boxed::text;
use crate::state::model_order::{favorites, first};
use crate::view::parts::as_of;

/// Since when it is as it is, where the service can't be reached, and in what order it stands.
///
/// `is_searched`: they stand as they match what is typed. The address says so only once typing pauses.
pub fn list_note(is_searched: Signal<bool>) -> AnyView {
    // As the list itself: in this order it stays until it is opened anew.
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
