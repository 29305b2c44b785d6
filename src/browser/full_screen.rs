//! The Fullscreen API for elements, which iPhones don't support.

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

/// Returns a signal that is true while an element is in full screen. It is updated until its owner is disposed.
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

/// Enters full screen with an element, or exits full screen. Must be called while a press is handled.
pub fn turn(element: &Element) {
    let (on, name): (JsValue, _) = match has_any() {
        true => (document().into(), "exitFullscreen"),
        false => (element.into(), "requestFullscreen"),
    };
    let function = get(&on, name).and_then(|it| it.dyn_into::<Function>().ok());
    let started = function.and_then(|function| function.call0(&on).ok());
    if let Some(promise) = started.and_then(|started| started.dyn_into::<Promise>().ok()) {
        spawn(async move {
            // If the browser refuses, nothing changes.
            let _ = JsFuture::from(promise).await;
        });
    }
}
