//! While the list of models says that one is away, it is asked for again: no message says when that one is back.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::{after, effect};
use crate::state::catalog::Catalog;

const AGAIN_MS: u32 = 30_000;

/// For as long as the page lives.
pub fn follow(catalog: Catalog) {
    let timer = StoredValue::new_local(None::<Timeout>);
    effect(move || {
        // A list that can't be had is asked for again anyway.
        let is_known = catalog.models_as_of().is_none();
        let models = catalog.models();
        let has_one_away = models.loaded().is_some_and(|list| {
            list.models
                .iter()
                .any(|model| !model.unavailable_reason.is_empty())
        });
        let again = is_known && has_one_away;
        timer.set_value(again.then(|| after(AGAIN_MS, move || catalog.load_models())));
    });
}
