//! Reports whether the page is visible and online, and when this changes.

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

/// Returns whether the browser reports a network, or the service was reached without one.
pub fn is_online() -> bool {
    if window().navigator().on_line() {
        IS_REACHED.set(false);
        return true;
    }
    IS_REACHED.get()
}

/// Records that the service has replied although the browser reports no network: the service runs on this machine. This is
/// valid until the network returns.
pub fn mark_reached() {
    IS_REACHED.set(true);
}

/// Waits until [`is_online`] returns `true`.
pub async fn until_online() {
    if is_online() {
        return;
    }
    let (sender, receiver) = oneshot::channel();
    let _listening = EventListener::once(&window(), "online", move |_| {
        // The receiver may have been dropped.
        let _ = sender.send(());
    });
    // The listener owns the sender, so the wait ends only when the event is fired.
    let _ = receiver.await;
}

/// Calls back whenever the page becomes active (`visibilitychange`, `pageshow`, `focus`) or the network becomes available
/// or unavailable. The listeners are never removed.
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

/// Calls back whenever the user leaves the page, perhaps permanently, until the listeners are dropped.
pub fn on_leaving(callback: impl Fn() + Clone + 'static) -> [EventListener; 2] {
    let hidden = callback.clone();
    [
        EventListener::new(&window(), "pagehide", move |_| callback()),
        // On a phone, this may be the only event before the browser discards the page.
        EventListener::new(&document(), "visibilitychange", move |_| {
            if !is_visible() {
                hidden();
            }
        }),
    ]
}

/// Makes the browser ask before the user leaves the page while something would be lost, until the listener is dropped.
pub fn ask_before_leaving(would_lose: impl Fn() -> bool + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&window(), "beforeunload", options, move |event| {
        if would_lose() {
            event.prevent_default();
            // Older browsers ask only if this is set.
            let _ = js_sys::Reflect::set(event, &"returnValue".into(), &true.into());
        }
    })
}
