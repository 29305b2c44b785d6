//! The time of a press. A busy page handles a press late, and the two clicks of a double click must not count as two
//! separate presses then.

use std::cell::Cell;

use atelier_engine::Millis;
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::{Function, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};

use super::clock;

thread_local! {
    /// The time stamp of the last press, in milliseconds on the clock of events. An event that a press causes, such as
    /// `submit`, has the time at which it was fired instead.
    static LAST: Cell<Option<f64>> = const { Cell::new(None) };
    /// The time that [`at`] returns during [`with_time`].
    static FIXED: Cell<Option<Millis>> = const { Cell::new(None) };
}

/// Installs the event listeners, which are never removed.
pub fn listen() {
    for kind in ["click", "keydown"] {
        let first = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&document(), kind, first, |event| {
            LAST.set(get(event, "timeStamp").and_then(|at| at.as_f64()));
        })
        .forget();
    }
}

/// Calls a function that handles a press from this time: the page has waited before, and there may be later presses.
pub fn with_time(time: Millis, act: impl FnOnce()) {
    FIXED.set(Some(time));
    act();
    FIXED.set(None);
}

/// Returns the time of the press that is being handled, or the current time outside of a handler.
pub fn at() -> Millis {
    if let Some(time) = FIXED.get() {
        return time;
    }
    let event_age = event_age().unwrap_or_default().max(0.0);
    clock::now().saturating_sub(event_age as Millis)
}

/// Returns how long ago the event that is being handled happened, in milliseconds; `None` outside of a handler.
fn event_age() -> Option<f64> {
    let kind = get(&get(&window(), "event")?, "type")?.as_string()?;
    if !matches!(kind.as_str(), "click" | "keydown" | "submit") {
        return None;
    }
    let performance = get(&window(), "performance")?;
    let now: Function = get(&performance, "now")?.dyn_into().ok()?;
    Some(now.call0(&performance).ok()?.as_f64()? - LAST.get()?)
}

/// Reads a property by name. A function of `web_sys` would add a line to the script that a visit loads first.
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

    /// Guards against submitting twice on a double click while the page is busy.
    #[wasm_bindgen_test]
    async fn at_returns_the_time_of_the_press_if_it_is_handled_late() {
        listen();
        let reported = Rc::new(Cell::new(0));
        // A click can also submit a form.
        let _submitted = EventListener::new(&document(), "submit", {
            let reported = Rc::clone(&reported);
            move |_| reported.set(at())
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
        assert!((before.saturating_sub(5)..after + 50).contains(&reported.get()));
        let now = clock::now();
        assert!(at() >= now, "nothing is being handled");
        // A later press does not change the time of the one that has waited.
        with_time(5, || {
            document()
                .dispatch_event(&Event::new("click").expect("an event"))
                .expect("dispatched");
        });
        assert_eq!(reported.get(), 5);
    }
}
