//! Where the focus goes once what had it is gone.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{FocusOptions, HtmlElement};

/// Gives it to the first element that matches; whether that has it now: what is hidden takes none.
pub fn to(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let element = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| {
        // It fails only where the element is gone.
        let _ = element.focus();
        document().active_element().as_ref() == Some(element.as_ref())
    })
}

/// The same for one element, and nothing is scrolled.
pub fn in_place(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // It fails only where the element is gone.
    let _ = element.focus_with_options(&options);
}

/// Gives it to what shows an output on the page; whether that is there.
pub fn to_output(name: &str) -> bool {
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    to(&format!("[data-output=\"{quoted}\"]"))
}

/// Nothing has it: keys go nowhere.
pub fn is_lost() -> bool {
    let focused = document().active_element();
    focused.is_none_or(|focused| focused.tag_name() == "BODY")
}
