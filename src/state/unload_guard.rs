//! What would be lost by leaving is asked about first: tasks that stand in no storage.

use gloo_events::EventListener;
use leptos::prelude::*;

use crate::browser::lifecycle;
use crate::browser::storage::StorageError;
use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::Contexts;

/// The browser asks, in its own words, for as long as there is something to lose.
pub fn follow(all: Contexts) {
    let runner = all.runner;
    let is_unkept = memo(move || {
        let error = runner.own_storage_error();
        // A newer Atelier has what was stored, and asks to be loaded.
        error.is_some_and(|error| error != StorageError::Newer)
    });
    // What a tab knows that follows, the one that leads has as well. A task that is completed may be paid and as little
    // stored as one under way.
    let would_lose = move || runner.leads() && untrack(|| !runner.keys().is_empty());
    let asking = StoredValue::new_local(None::<EventListener>);
    effect(move || {
        let asked = is_unkept.get();
        asking.set_value(asked.then(|| lifecycle::ask_before_leaving(would_lose)));
    });
}
