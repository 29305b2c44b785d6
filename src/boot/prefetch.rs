//! Fetches the part with the pages as soon as the user seems to need one.

use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::boot::deferred::{Deferred, Pages};
use crate::boot::offline;
use crate::browser::typing;
use crate::reactive::boxed::spawn;
use crate::view::parts::viewport;

/// Elements that open a page or a dialog.
const TRIGGERS: &str = "a[href], [aria-haspopup=dialog]";

/// Events that precede a press, of a mouse, the keyboard or a finger.
const EVENTS: [&str; 3] = ["pointerover", "focusin", "pointerdown"];

/// Installs the event listeners, which are never removed.
pub fn follow(pages: Deferred<Pages>) {
    let options = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    for event_name in EVENTS {
        EventListener::new_with_options(&document(), event_name, options, move |event| {
            let at = event.target().and_then(|at| at.dyn_into::<Element>().ok());
            if at.is_some_and(|at| at.closest(TRIGGERS).is_ok_and(|trigger| trigger.is_some())) {
                pages.load_early();
            }
        })
        .forget();
    }
    spawn(async move {
        TimeoutFuture::new(offline::NON_URGENT_DELAY_MS - typing::PAUSE_MS).await;
        // Compiling the pages slows down the open page.
        typing::pause().await;
        // With a mouse, the events come half a second before a press. A touch has no hover, and phones compile slowly. The
        // service worker also fetches the pages at this time, but compiles nothing.
        if viewport::is_primary_pointer_coarse() || !offline::is_possible() || !offline::is_wanted()
        {
            pages.load_early();
        }
    });
}
