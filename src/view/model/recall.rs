//! Alt with an arrow key calls earlier prompts of the model back into the field.

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

/// What to do on a press of a key in the form; whether it was one of these. A press before the tasks are read is
/// answered once they are.
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
        let recalled = history.try_update_value(|(of, history)| {
            if *of != name {
                (*of, *history) = (name.clone(), PromptHistory::default());
            }
            match direction {
                Direction::Older => history.older(&earlier, &field.value()),
                Direction::Newer => history.newer(&earlier, &field.value()),
            }
        });
        // The user may have left the field while the press was waiting.
        let has_focus = document().active_element().as_ref() == Some(field.as_ref());
        // As typed it is taken over, and Ctrl+Z takes it back.
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
        let Some((name, field)) = target.and_then(|field| named(&schema, field)) else {
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
    /// The parameter.
    name: String,
    field: HtmlTextAreaElement,
    direction: Direction,
}

enum Direction {
    Older,
    Newer,
}

/// The parameter that a field of the form is for.
fn named(schema: &Schema, field: HtmlTextAreaElement) -> Option<(String, HtmlTextAreaElement)> {
    let id = field.id();
    let mut parameters = schema.parameters().enumerate();
    let (_, (parameter, _)) = parameters.find(|(at, _)| Field::id_of(*at) == id)?;
    parameter
        .is_long_text()
        .then(|| (parameter.name.clone(), field))
}
