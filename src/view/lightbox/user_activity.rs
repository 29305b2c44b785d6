//! Detects user activity, so that the controls over a picture in full screen can be hidden without it.

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{after, effect};

/// How long activity lasts after the last event, in milliseconds.
const DURATION: u32 = 2_500;

/// Returns a signal that is true for a short time after the pointer moved or a key was pressed in an element.
pub fn follow(element: NodeRef<Div>) -> RwSignal<bool> {
    let is_active = RwSignal::new(false);
    let timer = StoredValue::new_local(None::<Timeout>);
    let listeners = StoredValue::new_local(Vec::new());
    let activate = move || {
        if !is_active.get_untracked() {
            is_active.set(true);
        }
        let end = after(DURATION, move || {
            is_active.try_set(false);
        });
        timer.set_value(Some(end));
    };
    effect(move || {
        let Some(element) = element.get() else { return };
        let capture = EventListenerOptions::run_in_capture_phase();
        let listen = |name: &'static str| {
            EventListener::new_with_options(&element, name, capture, move |_| activate())
        };
        listeners.set_value(["pointermove", "keydown"].map(listen).into());
    });
    is_active
}
