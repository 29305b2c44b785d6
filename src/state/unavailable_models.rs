//! Requests the list of models again while it contains an unavailable model, because no event reports that the model is
//! available again.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::{after, effect};
use crate::state::catalog::Catalog;

/// The time between two requests, in milliseconds.
const INTERVAL_MS: u32 = 30_000;

/// Follows the list of models, as long as the page is open.
pub fn follow(catalog: Catalog) {
    let timer = StoredValue::new_local(None::<Timeout>);
    effect(move || {
        // A list that failed to load is requested again anyway.
        let is_current = catalog.models_as_of().is_none();
        let models = catalog.models();
        let has_unavailable = models.loaded().is_some_and(|list| {
            list.models
                .iter()
                .any(|model| !model.unavailable_reason.is_empty())
        });
        let is_due = is_current && has_unavailable;
        timer.set_value(is_due.then(|| after(INTERVAL_MS, move || catalog.load_models())));
    });
}
