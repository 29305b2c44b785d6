//! What is said of the list of models, beside its heading.

use atelier_engine::model_order;
use leptos::prelude::*;

use super::parts::as_of;
use crate::boxed::text;
use crate::contexts::contexts;
use crate::model_order::{favorites, first};

/// Since when it is as it is, where the service can't be reached, and in what order it stands.
pub fn models_said() -> AnyView {
    let navigation = contexts().navigation;
    // As the list itself: in this order it stays until it is opened anew.
    let (shown, has_first) = (untrack(favorites), !first().is_empty());
    let order = text(move || {
        let is_searched = navigation.query("q").is_some();
        model_order::order_text(is_searched, &shown, &favorites(), has_first).to_owned()
    });
    view! {
        {as_of::models_as_of()}
        <p class="muted models-order" translate="no">{order}</p>
    }
    .into_any()
}
