use crate::erased::effect;
use atelier_contract::{Draft, ModelId, Schema, json};
use atelier_engine::TaskKey;
use atelier_engine::rerun;
use leptos::prelude::*;

use crate::browser::local::Place;
use crate::runner::Runner;

/// What a person typed into a model's form, kept over reloads and visits to other pages: nothing
/// typed is lost.
pub fn kept_draft(model: &ModelId) -> RwSignal<Draft> {
    let key = format!("atelier.draft.{model}");
    let kept: Draft = Place::Browser
        .read(&key)
        .and_then(|text| Draft::from_value(json::read(&text)?))
        .unwrap_or_default();
    let draft = RwSignal::new(kept);
    let mut first = true;
    effect(move || {
        let draft = draft.read();
        // The first run only begins to follow.
        if !std::mem::take(&mut first) {
            if draft.is_empty() {
                Place::Browser.remove(&key);
            } else {
                Place::Browser.write(&key, &draft.to_value().to_string());
            }
        }
    });
    draft
}

/// An earlier task's input against today's schema: the draft that fills the form, and what is not
/// as it was.
pub fn rerun_of(runner: Runner, key: &TaskKey, schema: &Schema) -> Option<rerun::Rerun> {
    let task = runner.task(key)?.get_untracked();
    Some(rerun::rerun(task.input.values(), schema))
}
