//! Alt with an arrow key calls earlier prompts of the model back into the field.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, ModelId, Schema};
use atelier_engine::prompt_history::{self, PromptHistory};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use crate::contexts::contexts;
use crate::view::form::Field;

/// How far back it goes.
const MAX: usize = 100;

/// What to do on a press of a key in the form; whether it was one of these.
pub fn recall(
    model: ModelId,
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
) -> impl Fn(&KeyboardEvent) -> bool + 'static {
    let runner = contexts().runner;
    let history = StoredValue::new((String::new(), PromptHistory::default()));
    move |event| {
        let is_older = event.key() == "ArrowUp";
        if !event.alt_key() || !(is_older || event.key() == "ArrowDown") {
            return false;
        }
        let target = event.target().and_then(|it| it.dyn_into().ok());
        let Some(field) = target.and_then(|field: HtmlTextAreaElement| named(&schema, &field))
        else {
            return false;
        };
        let (name, shown) = field;
        let earlier: Vec<String> = {
            let keys = untrack(|| runner.keys());
            let tasks = keys.iter().filter_map(|key| runner.task(key));
            let prompts = tasks.filter_map(|task| {
                let task = task.read_untracked();
                let text = task.input.values().get(&name)?.as_str()?;
                (task.model == model).then(|| text.to_owned())
            });
            let prompts: Vec<String> = prompts.collect();
            prompt_history::distinct(prompts.iter().map(String::as_str), MAX)
        };
        let recalled = history.try_update_value(|(of, history)| {
            if *of != name {
                (*of, *history) = (name.clone(), PromptHistory::default());
            }
            if is_older {
                history.older(&earlier, &shown)
            } else {
                history.newer(&earlier, &shown)
            }
        });
        if let Some(prompt) = recalled.flatten() {
            draft.update(|draft| draft.set(name, Entry::Text(prompt)));
        }
        event.prevent_default();
        true
    }
}

/// The parameter that a field of the form is for, and what stands in it.
fn named(schema: &Schema, field: &HtmlTextAreaElement) -> Option<(String, String)> {
    let id = field.id();
    let mut parameters = schema.parameters().enumerate();
    let (_, (parameter, _)) = parameters.find(|(at, _)| Field::id_of(*at) == id)?;
    parameter
        .is_long_text()
        .then(|| (parameter.name.clone(), field.value()))
}
