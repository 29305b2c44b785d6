//! Alt with the up and down arrow keys steps through the earlier prompts of the model in a text field.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, ModelId, Schema};
use atelier_studio::form::prompt_history::PromptHistory;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use crate::browser::editing;
use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::view::form::{Field, earlier_prompts};

/// Returns a handler for keys in the form, which returns whether it has handled the key.
///
/// A key that is pressed before the tasks are read takes effect once they are.
pub fn recall(
    model: ModelId,
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
) -> impl Fn(&KeyboardEvent) -> bool + 'static {
    let runner = contexts().runner;
    let history = StoredValue::new((String::new(), PromptHistory::default()));
    let show = move |press: Press| {
        let Press {
            name,
            field,
            direction,
        } = press;
        let earlier = earlier_prompts(runner, &model, &name);
        let recalled = history.try_update_value(|(current, history)| {
            if *current != name {
                (*current, *history) = (name.clone(), PromptHistory::default());
            }
            match direction {
                Direction::Older => history.older(&earlier, &field.value()),
                Direction::Newer => history.newer(&earlier, &field.value()),
            }
        });
        // The user may have left the field while the press was waiting.
        let has_focus = document().active_element().as_ref() == Some(field.as_ref());
        // Replace the text as if typed, so that the browser can undo it; its `input` event updates the draft.
        if let Some(prompt) = recalled.flatten()
            && !(has_focus && editing::replace(&field, &prompt))
        {
            draft.update(|draft| draft.set(name, Entry::Text(prompt)));
        }
    };
    let waiting = StoredValue::new_local(None::<Press>);
    effect({
        let show = show.clone();
        move || {
            if runner.is_open()
                && let Some(press) = waiting.try_update_value(Option::take).flatten()
            {
                untrack(|| show(press));
            }
        }
    });
    move |event| {
        let direction = match &*event.key() {
            "ArrowUp" if event.alt_key() => Direction::Older,
            "ArrowDown" if event.alt_key() => Direction::Newer,
            _ => return false,
        };
        let target = event.target().and_then(|it| it.dyn_into().ok());
        let Some((name, field)) = target.and_then(|field| parameter_of(&schema, field)) else {
            return false;
        };
        let press = Press {
            name,
            field,
            direction,
        };
        if untrack(|| runner.is_open()) {
            show(press);
        } else {
            waiting.set_value(Some(press));
        }
        event.prevent_default();
        true
    }
}

struct Press {
    /// Name of the parameter.
    name: String,
    field: HtmlTextAreaElement,
    direction: Direction,
}

enum Direction {
    Older,
    Newer,
}

/// Returns the name of the parameter of a field, if it is a long text.
fn parameter_of(
    schema: &Schema,
    field: HtmlTextAreaElement,
) -> Option<(String, HtmlTextAreaElement)> {
    let id = field.id();
    let mut parameters = schema.parameters().enumerate();
    let (_, (parameter, _)) = parameters.find(|(at, _)| Field::id_of(*at) == id)?;
    parameter
        .is_long_text()
        .then(|| (parameter.name.clone(), field))
}
