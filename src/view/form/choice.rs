//! A selector for one of many values. Each value keeps its JSON type.

use atelier_contract::{Entry, check, choice_text};
use maud::html;
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlSelectElement};

use super::field::Field;
use super::frame::Parts;

/// Returns the index of the chosen value. Typed text is validated first, to find the value that it stands for.
pub fn chosen(field: &Field) -> Option<usize> {
    let values = field.parameter.choices();
    let position = |value: &Value| values.iter().position(|allowed| allowed == value);
    let entry = field.shown()?;
    let direct = match &entry {
        Entry::Value(value) => position(value),
        Entry::Text(_) => None,
    };
    direct.or_else(|| position(&check(&field.parameter, false, Some(&entry)).ok()??))
}

pub fn html(field: &Field) -> Parts {
    let values = field.parameter.choices();
    let selected = chosen(field);
    // Without a default, no value is chosen until the user chooses one.
    let has_unset = field.parameter.default.is_none() || selected.is_none();
    let unset = if field.required {
        "Choose…"
    } else {
        "Not set"
    };
    Parts::of(html! {
        select translate="no" id=(field.id) required[field.required] aria-describedby=(field.described_by()) {
            @if has_unset { option value="" selected[selected.is_none()] { (unset) } }
            @for (at, value) in values.iter().enumerate() {
                option value=(at) selected[selected == Some(at)] { (choice_text(values, value)) }
            }
        }
    })
}

pub fn show(field: &Field, control: &Element) {
    if let Some(select) = control.dyn_ref::<HtmlSelectElement>() {
        let at = chosen(field).map(|at| at.to_string());
        select.set_value(&at.unwrap_or_default());
    }
}

/// Sets the permitted value at `index`; sets an empty text if `index` is not a number.
pub fn choose(field: &Field, index: &str) {
    let Ok(at) = index.parse::<usize>() else {
        return field.set_text(String::new());
    };
    if let Some(value) = field.parameter.choices().get(at) {
        field.set(Entry::Value(value.clone()));
    }
}
