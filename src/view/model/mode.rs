use leptos::prelude::*;

use crate::boxed::{handler, memo, when};
use crate::contexts::contexts;

const QUERY: &str = "mode";
const BATCH: &str = "batch";

/// Whether many inputs are composed instead of one. It is in the address: a reload keeps it.
pub fn is_batch() -> Memo<bool> {
    let navigation = contexts().navigation;
    memo(move || navigation.query(QUERY).as_deref() == Some(BATCH))
}

/// The choice between one input and many.
pub fn modes(is_batch: Memo<bool>) -> AnyView {
    let navigation = contexts().navigation;
    let mode = move |name: &'static str, batch: bool| {
        view! {
            <label>
                <input
                    type="radio"
                    name="mode"
                    prop:checked=when(move || is_batch.get() == batch)
                    on:change=handler(move |_| navigation.set_query(QUERY, batch.then_some(BATCH)))
                />
                <span>{name}</span>
            </label>
        }
        .into_any()
    };
    view! {
        <div class="segments modes" role="radiogroup" aria-label="Mode">
            {mode("One", false)}
            {mode("Batch", true)}
        </div>
    }
    .into_any()
}
