//! Full screen, where the browser has it for elements: phones of Apple do not.

use gloo_events::EventListener;
use js_sys::{Function, Promise};
use leptos::prelude::{RwSignal, Set, StoredValue, document};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

use super::press::get;
use crate::reactive::boxed::spawn;

pub fn is_supported() -> bool {
    get(&document(), "fullscreenEnabled").and_then(|it| it.as_bool()) == Some(true)
}

/// Whether anything is shown in full screen, followed for as long as its owner lives.
pub fn is_on() -> RwSignal<bool> {
    let is_on = RwSignal::new(has_any());
    let listener = EventListener::new(&document(), "fullscreenchange", move |_| {
        is_on.try_set(has_any());
    });
    StoredValue::new_local(listener);
    is_on
}

fn has_any() -> bool {
    get(&document(), "fullscreenElement").is_some_and(|it| it.is_instance_of::<Element>())
}

/// Shows an element in full screen, or leaves it; must be called from a press.
pub fn turn(element: &Element) {
    let (on, name): (JsValue, _) = match has_any() {
        true => (document().into(), "exitFullscreen"),
        false => (element.into(), "requestFullscreen"),
    };
    let function = get(&on, name).and_then(|it| it.dyn_into::<Function>().ok());
    let begun = function.and_then(|function| function.call0(&on).ok());
    if let Some(promise) = begun.and_then(|begun| begun.dyn_into::<Promise>().ok()) {
        spawn(async move {
            // Refused, it stays as it is, which is to be seen.
            let _ = JsFuture::from(promise).await;
        });
    }
}
