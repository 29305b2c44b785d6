//! Where the focus is, and where it goes once what had it is gone.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement};

use crate::browser::frame::after_frame;

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
    to(&format!("[data-output={}]", quoted(name)))
}

/// A text as it stands in a selector.
pub fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

/// As [`to`], and nothing is scrolled.
pub fn in_place_to(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let element = found.and_then(|found| found.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| {
        in_place(&element);
        document().active_element().as_ref() == Some(element.as_ref())
    })
}

/// Acts if what has it now is gone by the next frame.
pub fn once_lost(act: impl FnOnce() + 'static) {
    after_frame(move || {
        if is_lost() {
            act();
        }
    });
}

/// Nothing has it: keys go nowhere. A browser takes it from an element that is hidden only some time after the frame.
pub fn is_lost() -> bool {
    let focused = document().active_element();
    focused.is_none_or(|focused| focused.tag_name() == "BODY" || !is_rendered(&focused))
}

fn is_rendered(element: &Element) -> bool {
    let place = element.get_bounding_client_rect();
    place.width() > 0.0 || place.height() > 0.0
}

/// Nothing has it that a person would miss: nothing at all, or the page as a whole.
pub fn is_free() -> bool {
    let focused = document().active_element();
    focused.is_none_or(|focused| matches!(&*focused.tag_name(), "BODY" | "MAIN"))
}

/// The focus is where letters are typed or chosen by, and are no keys of ours.
pub fn is_writing() -> bool {
    const FIELDS: &str = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";
    let focused = document().active_element();
    focused.is_some_and(|focused| focused.matches(FIELDS) == Ok(true))
}
