use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Clicks the first element that matches a selector. Used for keyboard shortcuts.
pub fn click(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(found) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
        found.click();
    }
}
