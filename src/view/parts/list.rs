use std::sync::Arc;

use leptos::prelude::*;

/// One item of a list: what tells it from the others, and what it shows.
#[derive(Clone)]
pub struct Item {
    pub key: String,
    view: ViewFn,
}

impl Item {
    pub fn new(key: String, view: impl Fn() -> AnyView + Send + Sync + 'static) -> Self {
        Self {
            key,
            view: ViewFn::from(view),
        }
    }
}

/// A list that changes item by item; an item whose key stays is left alone.
///
/// `For` with one type of item for all lists, so that the code that compares them is there once.
pub fn list(items: impl Fn() -> Vec<Item> + Send + Sync + 'static) -> AnyView {
    boxed(Arc::new(items))
}

fn boxed(items: Arc<dyn Fn() -> Vec<Item> + Send + Sync>) -> AnyView {
    view! { <For each=move || items() key=|item| item.key.clone() children=|item| item.view.run() /> }
        .into_any()
}
