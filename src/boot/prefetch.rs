//! Fetches the parts with pages as soon as the user seems to need one.

use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::boot::deferred::{Deferred, MorePages, Pages};
use crate::boot::offline;
use crate::browser::typing;
use crate::reactive::boxed::spawn;
use crate::view::parts::viewport;

/// Elements that open a page or a dialog.
const TRIGGERS: &str = "a[href], .modes, [aria-haspopup=dialog]";

/// Events that precede a press, of a mouse, the keyboard or a finger.
const EVENTS: [&str; 3] = ["pointerover", "focusin", "pointerdown"];

/// Installs the event listeners, which are never removed.
pub fn follow(pages: Deferred<Pages>) {
    load_soon(Box::new(move || pages.load_early()));
}

/// As [`follow`], for the last part. Called when the pages are loaded.
pub fn follow_more(more_pages: Deferred<MorePages>) {
    load_soon(Box::new(move || more_pages.load_early()));
}

/// Calls `load` when an element that needs the part will probably be pressed, and on some devices soon in any case.
fn load_soon(load: Box<dyn Fn()>) {
    let load: &'static dyn Fn() = Box::leak(load);
    let options = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    for event_name in EVENTS {
        EventListener::new_with_options(&document(), event_name, options, move |event| {
            let at = event.target().and_then(|at| at.dyn_into::<Element>().ok());
            if at.is_some_and(|at| at.closest(TRIGGERS).is_ok_and(|trigger| trigger.is_some())) {
                load();
            }
        })
        .forget();
    }
    spawn(async move {
        TimeoutFuture::new(offline::NON_URGENT_DELAY_MS - typing::PAUSE_MS).await;
        // Compiling a part slows down the open page.
        typing::pause().await;
        // With a mouse, the events come half a second before a press. A touch has no hover, and phones compile slowly. The
        // service worker also fetches the parts at this time, but compiles nothing.
        if viewport::is_primary_pointer_coarse() || !offline::is_possible() || !offline::is_wanted()
        {
            load();
        }
    });
}
