//! An answer that `index.html` has asked for while the program was still loading.

use js_sys::{Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

/// Under which name the page hands it over: `{ url, answer, controller }`.
const NAME: &str = "atelierEarly";

pub struct Early {
    /// Of a `Response`.
    pub answer: Promise,
    pub controller: AbortController,
}

/// The answer to a `GET` of this URL, if it was asked for; it can be had once.
pub fn take(url: &str) -> Option<Early> {
    let name = JsValue::from_str(NAME);
    let early = Reflect::get(&window(), &name).ok()?;
    // Nothing that matters if it stays: the next one who comes would ask for another URL.
    let _ = Reflect::delete_property(&window(), &name);
    let field = |name: &str| Reflect::get(&early, &JsValue::from_str(name)).ok();
    if field("url")?.as_string().as_deref() != Some(url) {
        return None;
    }
    Some(Early {
        answer: field("answer")?.dyn_into().ok()?,
        controller: field("controller")?.dyn_into().ok()?,
    })
}
