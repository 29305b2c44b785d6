use std::sync::Arc;

use atelier_contract::{Entry, check, choice_text};
use leptos::prelude::*;
use serde_json::Value;

use super::field::{Field, FieldFrame};
use crate::boxed::{handler, memo, text};

/// Which of the permitted values an entry means: itself, or what validation makes of it, as of typed
/// text.
pub fn chosen(field: &Field) -> Option<usize> {
    let values = field.parameter.choices();
    let place = |value: &Value| values.iter().position(|allowed| allowed == value);
    let entry = field.shown()?;
    let itself = match &entry {
        Entry::Value(value) => place(value),
        Entry::Text(_) => None,
    };
    itself.or_else(|| place(&check(&field.parameter, false, Some(&entry)).ok()??))
}

/// One of many values; each keeps its JSON type.
#[component]
pub fn Choice(field: Field) -> impl IntoView {
    let values: Arc<Vec<Value>> = Arc::new(field.parameter.choices().to_vec());
    let (state, change) = (field.clone(), field.clone());
    // Without a default nothing is chosen until a person chooses.
    let unset = if field.required {
        "Choose…"
    } else {
        "Not set"
    };
    let has_unset = field.parameter.default.is_none();
    let shown = values.clone();
    let selected = memo(move || chosen(&state));
    let options = shown
        .iter()
        .enumerate()
        .map(|(at, value)| {
            view! {
                <option value=at.to_string() selected=selected.get_untracked() == Some(at)>
                    {choice_text(&shown, value)}
                </option>
            }
            .into_any()
        })
        .collect_view();
    let on_change = move |event| match event_target_value(&event).parse::<usize>() {
        Ok(at) => {
            if let Some(value) = values.get(at) {
                change.set(Entry::Value(value.clone()));
            }
        }
        Err(_) => change.set_text(String::new()),
    };
    view! {
        <FieldFrame field=field.clone()>
            <select
                translate="no"
                id=field.id.clone()
                required=field.required
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=text(move || selected.get().map(|at| at.to_string()).unwrap_or_default())
                on:change=handler(on_change)
            >
                {(has_unset || selected.get_untracked().is_none())
                    .then(|| {
                        view! {
                            <option value="" selected=selected.get_untracked().is_none()>
                                {unset}
                            </option>
                        }.into_any()
                    })}
                {options}
            </select>
        </FieldFrame>
    }
}
