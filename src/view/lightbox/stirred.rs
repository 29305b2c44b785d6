//! In full screen, what lies over the picture is in sight while a person moves the pointer or presses keys.

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{after, effect};

/// How long it stays after that, in ms.
const STAYS: u32 = 2_500;

/// Whether a person has stirred in this room just now.
pub fn follow(room: NodeRef<Div>) -> RwSignal<bool> {
    let has_stirred = RwSignal::new(false);
    let timer = StoredValue::new_local(None::<Timeout>);
    let listeners = StoredValue::new_local(Vec::new());
    let stir = move || {
        if !has_stirred.get_untracked() {
            has_stirred.set(true);
        }
        let end = after(STAYS, move || {
            has_stirred.try_set(false);
        });
        timer.set_value(Some(end));
    };
    effect(move || {
        let Some(room) = room.get() else { return };
        let first = EventListenerOptions::run_in_capture_phase();
        let listen = |name: &'static str| {
            EventListener::new_with_options(&room, name, first, move |_| stir())
        };
        listeners.set_value(["pointermove", "keydown"].map(listen).into());
    });
    has_stirred
}
