//! Whether the page is seen and online, and the events that say so.

use std::cell::Cell;

use futures::channel::oneshot;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::{document, window};
use web_sys::VisibilityState;

pub fn is_visible() -> bool {
    document().visibility_state() == VisibilityState::Visible
}

thread_local! {
    static IS_REACHED: Cell<bool> = const { Cell::new(false) };
}

/// There is a network, or none is needed.
pub fn is_online() -> bool {
    if window().navigator().on_line() {
        IS_REACHED.set(false);
        return true;
    }
    IS_REACHED.get()
}

/// The service has answered although the browser says that there is no network: it is on this machine. That
/// holds until the network has come, and gone again.
pub fn mark_reached() {
    IS_REACHED.set(true);
}

/// Waits for the network, where there is none.
pub async fn until_online() {
    if is_online() {
        return;
    }
    let (tell, told) = oneshot::channel();
    let _listening = EventListener::once(&window(), "online", move |_| {
        // The receiver may be gone.
        let _ = tell.send(());
    });
    // The sender lives as long as the listener, so an answer comes.
    let _ = told.await;
}

/// Calls back whenever the page wakes (`visibilitychange`, `pageshow`, `focus`) or the network
/// comes or goes. Lives as long as the page.
pub fn on_change(callback: impl Fn() + Clone + 'static) {
    let listen = |target: &web_sys::EventTarget, name: &'static str| {
        let callback = callback.clone();
        EventListener::new(target, name, move |_| callback()).forget();
    };
    listen(&document(), "visibilitychange");
    for name in ["pageshow", "online", "offline", "focus"] {
        listen(&window(), name);
    }
}

/// Calls back whenever the page is left, perhaps for good, for as long as the listeners live.
pub fn on_leaving(callback: impl Fn() + Clone + 'static) -> [EventListener; 2] {
    let hidden = callback.clone();
    [
        EventListener::new(&window(), "pagehide", move |_| callback()),
        // On a phone nothing else may be said before it ends.
        EventListener::new(&document(), "visibilitychange", move |_| {
            if !is_visible() {
                hidden();
            }
        }),
    ]
}

/// The browser asks a person who wants to leave the page while something would be lost, until this is dropped.
pub fn ask_before_leaving(would_lose: impl Fn() -> bool + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&window(), "beforeunload", options, move |event| {
        if would_lose() {
            event.prevent_default();
            // Older browsers ask for this alone.
            let _ = js_sys::Reflect::set(event, &"returnValue".into(), &true.into());
        }
    })
}
