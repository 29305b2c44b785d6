//! The schema that a model's form is made of.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema};
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;

/// The newest when the page is opened. A form that a person may have begun to fill in is not made anew under their
/// hands when the service, which was away, has another one by now: they say when.
#[derive(Clone, Copy)]
pub struct ShownSchema {
    shown: RwSignal<Load<Arc<Schema>>>,
    /// The service has another one by now.
    pub is_older: Memo<bool>,
}

impl ShownSchema {
    pub fn follow(model: ModelId) -> Self {
        let catalog = contexts().catalog;
        let shown = RwSignal::new(untrack(|| catalog.schema(&model)));
        let is_older = memo({
            let model = model.clone();
            move || differ(&shown.read(), &catalog.schema(&model))
        });
        effect(move || {
            let newest = catalog.schema(&model);
            let is_other = *shown.read_untracked() != newest;
            if is_other && !differ(&shown.read_untracked(), &newest) {
                shown.set(newest);
            }
        });
        Self { shown, is_older }
    }

    /// Tracked.
    pub fn get(self) -> Load<Arc<Schema>> {
        self.shown.get()
    }

    pub fn show_newest(self, model: &ModelId) {
        self.shown.set(untrack(|| contexts().catalog.schema(model)));
    }
}

/// Both are there, and are not the same.
fn differ(shown: &Load<Arc<Schema>>, newest: &Load<Arc<Schema>>) -> bool {
    shown.loaded().is_some() && newest.loaded().is_some() && shown != newest
}
