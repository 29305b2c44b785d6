//! An answer that `index.html` has asked for while the program was still loading.

use js_sys::{Promise, Reflect, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

/// Under which name the page hands it over: `{ url, answer, controller, body }`.
const NAME: &str = "atelierEarly";

pub struct Early {
    /// It resolves to a `Response`.
    pub answer: Promise,
    pub controller: AbortController,
    handed_over: JsValue,
}

impl Early {
    /// The whole body of an answer of success, if it is read by now.
    pub fn body(&self) -> Option<Uint8Array> {
        field(&self.handed_over, "body")?.dyn_into().ok()
    }
}

/// The answer to a `GET` of this URL, if it was asked for; it can be had once.
pub fn take(url: &str) -> Option<Early> {
    let name = JsValue::from_str(NAME);
    let early = Reflect::get(&window(), &name).ok()?;
    // It does no harm if it stays: the next caller asks for another URL.
    let _ = Reflect::delete_property(&window(), &name);
    if field(&early, "url")?.as_string().as_deref() != Some(url) {
        return None;
    }
    Some(Early {
        answer: field(&early, "answer")?.dyn_into().ok()?,
        controller: field(&early, "controller")?.dyn_into().ok()?,
        handed_over: early,
    })
}

fn field(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &JsValue::from_str(name)).ok()
}
