//! A switch. Untouched and without a default, it is off and is not sent.

use atelier_contract::Entry;
use maud::html;
use serde_json::Value;

use super::field::Field;
use super::frame::Parts;

pub fn is_on(field: &Field) -> bool {
    match field.shown() {
        Some(Entry::Value(Value::Bool(on))) => on,
        Some(Entry::Text(text)) => matches!(text.trim(), "true" | "yes" | "on" | "1"),
        _ => false,
    }
}

pub fn html(field: &Field) -> Parts {
    Parts::of(html! {
        input.switch type="checkbox" role="switch" id=(field.id) aria-describedby=(field.described_by())
            checked[is_on(field)];
    })
}
