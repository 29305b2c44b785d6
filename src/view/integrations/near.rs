use js_sys::Array;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

use crate::reactive::boxed::effect;

/// The distance at which an element is near the screen, so that its content is fetched before it is visible.
const MARGIN: &str = "300px 0px";

/// Returns a signal that becomes true once an element is near the screen, and stays true. The element is observed once
/// `is_settled` is true: before that, the content above it may still change its height.
pub fn observe_near(element: NodeRef<Div>, is_settled: Signal<bool>) -> RwSignal<bool> {
    let is_near = RwSignal::new(false);
    let watch = StoredValue::new_local(None);
    let stop = move || {
        watch.try_with_value(|watch: &Option<(IntersectionObserver, _)>| {
            if let Some((observer, _)) = watch {
                observer.disconnect();
            }
        });
    };
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        if !is_settled.get() || is_near.get_untracked() {
            return;
        }
        let on_intersection = Closure::<dyn FnMut(Array)>::new(move |entries: Array| {
            let is_intersecting = entries.iter().any(|entry| {
                let entry: IntersectionObserverEntry = entry.unchecked_into();
                entry.is_intersecting()
            });
            if is_intersecting {
                is_near.try_set(true);
                stop();
            }
        });
        let options = IntersectionObserverInit::new();
        options.set_root_margin(MARGIN);
        let observer = IntersectionObserver::new_with_options(
            on_intersection.as_ref().unchecked_ref(),
            &options,
        );
        match observer {
            Ok(observer) => {
                observer.observe(&element);
                watch.set_value(Some((observer, on_intersection)));
            }
            Err(_) => is_near.set(true),
        }
    });
    on_cleanup(stop);
    is_near
}
