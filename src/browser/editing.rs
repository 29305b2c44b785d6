//! Changes of a text that the browser knows of: Ctrl+Z takes them back like anything typed.

use js_sys::Function;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use super::press::get;

/// Puts a text in the place of all that stands there, as if it were typed; whether the browser has done so.
pub fn replace(area: &HtmlTextAreaElement, text: &str) -> bool {
    let _ = area.focus();
    let _ = area.set_selection_range(0, u32::MAX);
    let document = document();
    let command: Option<Function> = get(&document, "execCommand").and_then(|it| it.dyn_into().ok());
    let is_done = command.and_then(|command| {
        let typed = command.call3(&document, &"insertText".into(), &false.into(), &text.into());
        typed.ok()?.as_bool()
    });
    is_done == Some(true)
}
