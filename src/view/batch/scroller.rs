use std::rc::Rc;

use gloo_events::EventListener;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

use crate::boxed::effect;
use crate::view::parts::viewport::{Viewport, rem};

/// The stretch of a scrolling element's content that is in sight, and half as much again on both
/// sides; followed for as long as its owner lives.
pub fn scrolled(element: NodeRef<Div>) -> RwSignal<Viewport> {
    let seen = RwSignal::new(Viewport::default());
    let measure = Rc::new(move || {
        let Some(element) = element.try_get_untracked().flatten() else {
            return;
        };
        let (top, height) = (element.scroll_top(), element.client_height());
        let next = Viewport {
            from: f64::from(top - height / 2),
            to: f64::from(top + height + height / 2),
            margin: f64::from(height / 2),
            width: f64::from(element.client_width()),
            rem: rem(),
        };
        if seen.try_get_untracked().is_some_and(|seen| seen != next) {
            seen.set(next);
        }
    });
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        measure();
        let on_scroll = measure.clone();
        let scroll = EventListener::new(&element, "scroll", move |_| on_scroll());
        let measure = measure.clone();
        let on_size = Closure::<dyn FnMut()>::new(move || measure());
        if let Ok(observer) = web_sys::ResizeObserver::new(on_size.as_ref().unchecked_ref()) {
            observer.observe(&element);
            listeners.set_value(vec![(scroll, observer, on_size)]);
        }
    });
    on_cleanup(move || {
        listeners.try_update_value(|listeners| {
            for (_, observer, _) in listeners.drain(..) {
                observer.disconnect();
            }
        });
    });
    seen
}
