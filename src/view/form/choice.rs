//! One of many values; each keeps its JSON type.

use atelier_contract::{Entry, check, choice_text};
use maud::html;
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlSelectElement};

use super::field::Field;
use super::frame::Parts;

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

pub fn html(field: &Field) -> Parts {
    let values = field.parameter.choices();
    let selected = chosen(field);
    // Without a default nothing is chosen until a person chooses.
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

/// Puts the value at this place of the list there; nothing where the place is none.
pub fn choose(field: &Field, place: &str) {
    let Ok(at) = place.parse::<usize>() else {
        return field.set_text(String::new());
    };
    if let Some(value) = field.parameter.choices().get(at) {
        field.set(Entry::Value(value.clone()));
    }
}
