//! The pages behind the list of models are fetched as soon as a person seems to want one.

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

/// What leads to them.
const WAYS: &str = "a[href], [aria-haspopup=dialog]";

/// What is on its way there: a pointer, the focus, a finger.
const SIGNS: [&str; 3] = ["pointerover", "focusin", "pointerdown"];

/// For as long as the page lives.
pub fn follow(pages: Deferred<Pages>) {
    let seen = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    for sign in SIGNS {
        EventListener::new_with_options(&document(), sign, seen, move |event| {
            let at = event.target().and_then(|at| at.dyn_into::<Element>().ok());
            if at.is_some_and(|at| at.closest(WAYS).is_ok_and(|way| way.is_some())) {
                pages.load_early();
            }
        })
        .forget();
    }
    spawn(async move {
        TimeoutFuture::new(offline::LATE_MS - typing::PAUSE_MS).await;
        // To compile them takes time from the page.
        typing::pause().await;
        // With a mouse, the signs come half a second before a press. A touch has no hover, and phones compile slowly. The
        // service worker fetches the pages at this time too, but compiles nothing.
        if viewport::is_mainly_coarse() || !offline::is_possible() || !offline::is_wanted() {
            pages.load_early();
        }
    });
}
