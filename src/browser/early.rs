//! A request that `index.html` has sent while the program was still loading.

use js_sys::{Promise, Reflect, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

/// The property of `window` with the request: `{ url, answer, controller, body }`.
const NAME: &str = "atelierEarly";

/// The request and its reply.
pub struct Early {
    /// Resolves to a `Response`.
    pub answer: Promise,
    pub controller: AbortController,
    object: JsValue,
}

impl Early {
    /// Returns the complete body of a successful reply, if it has been read by now.
    pub fn body(&self) -> Option<Uint8Array> {
        field(&self.object, "body")?.dyn_into().ok()
    }
}

/// Returns the request for this URL, if there is one. Only the first call returns it.
pub fn take(url: &str) -> Option<Early> {
    let name = JsValue::from_str(NAME);
    let early = Reflect::get(&window(), &name).ok()?;
    // A failure is harmless, because the next caller requests another URL.
    let _ = Reflect::delete_property(&window(), &name);
    if field(&early, "url")?.as_string().as_deref() != Some(url) {
        return None;
    }
    Some(Early {
        answer: field(&early, "answer")?.dyn_into().ok()?,
        controller: field(&early, "controller")?.dyn_into().ok()?,
        object: early,
    })
}

fn field(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &JsValue::from_str(name)).ok()
}
