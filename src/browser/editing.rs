//! Changes of a text that the browser knows of: Ctrl+Z takes them back like anything typed.

use js_sys::Function;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};

use super::press::get;

/// Puts a text in the place of all that stands in a text field, as if it were typed; whether the browser has done so. The
/// field has the focus then.
pub fn replace(field: &HtmlElement, text: &str) -> bool {
    let _ = field.focus();
    if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        area.select();
    } else if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        input.select();
    }
    let name = if text.is_empty() {
        "delete"
    } else {
        "insertText"
    };
    let document = document();
    let command: Option<Function> = get(&document, "execCommand").and_then(|it| it.dyn_into().ok());
    let is_done = command.and_then(|command| {
        let typed = command.call3(&document, &name.into(), &false.into(), &text.into());
        typed.ok()?.as_bool()
    });
    is_done == Some(true)
}
