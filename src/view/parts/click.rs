use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Presses what this selector finds first, where a key stands for it.
pub fn click(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(found) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
        found.click();
    }
}
