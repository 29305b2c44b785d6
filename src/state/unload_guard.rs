//! Makes the browser ask before the page is closed while tasks are not stored.

use gloo_events::EventListener;
use leptos::prelude::*;

use crate::browser::lifecycle;
use crate::browser::storage::StorageError;
use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::Contexts;

/// Follows storage and asks before the page is closed if tasks would be lost. The browser chooses the wording.
pub fn follow(all: Contexts) {
    let runner = all.runner;
    let is_unstored = memo(move || {
        let error = runner.own_storage_error();
        // A newer version stores the tasks. The browser must not ask then, because the user has to reload this page.
        error.is_some_and(|error| error != StorageError::Newer)
    });
    // Only the leader asks, because it also has the tasks of the followers. Completed tasks count too: they may be paid for
    // but not stored.
    let would_lose = move || runner.leads() && untrack(|| !runner.keys().is_empty());
    let listener = StoredValue::new_local(None::<EventListener>);
    effect(move || {
        let must_ask = is_unstored.get();
        listener.set_value(must_ask.then(|| lifecycle::ask_before_leaving(would_lose)));
    });
}
