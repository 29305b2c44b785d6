//! When a press was made: a page that is busy comes to it later, and two halves of a double click must not be taken
//! for two presses then.

use std::cell::Cell;

use atelier_engine::Millis;
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::{Function, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};

use super::clock;

thread_local! {
    /// The time of the last press, in milliseconds by the clock of events. An event that a press leads to, such as a
    /// submission, carries the time of its handling instead.
    static LAST: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes presses, for as long as the page lives.
pub fn listen() {
    for kind in ["click", "keydown"] {
        let first = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&document(), kind, first, |event| {
            LAST.set(get(event, "timeStamp").and_then(|at| at.as_f64()));
        })
        .forget();
    }
}

/// When the press was made that is being handled; outside of a handler, now.
pub fn at() -> Millis {
    let late = late().unwrap_or_default().max(0.0);
    clock::now().saturating_sub(late as Millis)
}

/// Gives how long ago the present event happened, in milliseconds; `None` outside of a handler.
fn late() -> Option<f64> {
    let kind = get(&get(&window(), "event")?, "type")?.as_string()?;
    if !matches!(kind.as_str(), "click" | "keydown" | "submit") {
        return None;
    }
    let performance = get(&window(), "performance")?;
    let now: Function = get(&performance, "now")?.dyn_into().ok()?;
    Some(now.call0(&performance).ok()?.as_f64()? - LAST.get()?)
}

/// Reads a property by its name. Each function of `web_sys` that is used anywhere would be a line more in the script
/// that a visit begins with.
pub(super) fn get(object: &JsValue, name: &str) -> Option<JsValue> {
    let found = Reflect::get(object, &name.into()).ok()?;
    (!found.is_undefined()).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use gloo_timers::future::TimeoutFuture;
    use wasm_bindgen_test::wasm_bindgen_test;
    use web_sys::Event;

    use super::*;

    /// Guards against a double click that is paid twice, because the page was busy when its second half was made.
    #[wasm_bindgen_test]
    async fn a_press_was_made_before_it_is_handled() {
        listen();
        let said = Rc::new(Cell::new(0));
        // A form is submitted by a click, too.
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
        // Both clocks are rounded.
        assert!((before.saturating_sub(5)..after + 50).contains(&said.get()));
        let now = clock::now();
        assert!(at() >= now, "nothing is being handled");
    }
}
