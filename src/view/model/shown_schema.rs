//! The schema that a model's form is built from.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema};
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;

/// The schema that was current when the page was opened. If the service changes it, the form is rebuilt only when the user
/// asks for that, because they may be filling it in.
#[derive(Clone, Copy)]
pub struct ShownSchema {
    shown: RwSignal<Load<Arc<Schema>>>,
    /// Whether the service has another schema by now.
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

    /// Returns the schema; tracked.
    pub fn get(self) -> Load<Arc<Schema>> {
        self.shown.get()
    }

    /// Switches to the current schema of the service.
    pub fn show_newest(self, model: &ModelId) {
        self.shown.set(untrack(|| contexts().catalog.schema(model)));
    }
}

/// Returns whether both schemas are loaded and differ.
fn differ(shown: &Load<Arc<Schema>>, newest: &Load<Arc<Schema>>) -> bool {
    shown.loaded().is_some() && newest.loaded().is_some() && shown != newest
}
