//! When a press was made: a page that is busy comes to it later, and two halves of a double click must not be taken
//! for two presses then.

use std::cell::Cell;

use atelier_engine::Millis;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::{document, window};
use wasm_bindgen::JsCast;
use web_sys::Event;

use super::clock;

thread_local! {
    /// By the clock of events. What a press leads to, as the submission of a form, has a time of its own, which is
    /// that of its handling.
    static LAST: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes presses, for as long as the page lives.
pub fn listen() {
    for kind in ["click", "keydown"] {
        let first = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&document(), kind, first, |event| {
            LAST.set(Some(event.time_stamp()));
        })
        .forget();
    }
}

/// When the press was made that is being handled; outside of a handler, now.
pub fn at() -> Millis {
    let event = window().event().dyn_into::<Event>().ok();
    let pressed = match event.as_ref().map(Event::type_).as_deref() {
        Some("click" | "keydown" | "submit") => LAST.get(),
        _ => None,
    };
    let handled = window().performance().map(|performance| performance.now());
    let late = handled
        .zip(pressed)
        .map(|(handled, pressed)| handled - pressed);
    clock::now().saturating_sub(late.unwrap_or_default().max(0.0) as Millis)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use gloo_timers::future::TimeoutFuture;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Guards against a double click that is paid twice, because the page was busy when its second half was made.
    #[wasm_bindgen_test]
    async fn a_press_was_made_before_it_is_handled() {
        listen();
        let said = Rc::new(Cell::new(0));
        // As a form is submitted by a click.
        let _submitted = EventListener::new(&document(), "submit", {
            let said = Rc::clone(&said);
            move |_| said.set(at())
        });
        let _pressed = EventListener::new(&document(), "click", |_| {
            let submit = Event::new("submit").expect("an event");
            document().dispatch_event(&submit).expect("dispatched");
        });
        let before = clock::now();
        let press = Event::new("click").expect("an event");
        let after = clock::now();
        TimeoutFuture::new(300).await;
        document().dispatch_event(&press).expect("dispatched");
        // Each of both clocks is rounded.
        assert!((before.saturating_sub(5)..after + 50).contains(&said.get()));
        assert!(at() + 50 > clock::now(), "nothing is being handled");
    }
}
