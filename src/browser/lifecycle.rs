//! Whether the page is seen and online, and the events that say so.

use futures::channel::oneshot;
use gloo_events::EventListener;
use leptos::prelude::{document, window};
use web_sys::VisibilityState;

pub fn is_visible() -> bool {
    document().visibility_state() == VisibilityState::Visible
}

pub fn is_online() -> bool {
    window().navigator().on_line()
}

/// Waits for the network, where there is none.
pub async fn until_online() {
    if is_online() {
        return;
    }
    let (tell, told) = oneshot::channel();
    let _listening = EventListener::once(&window(), "online", move |_| {
        // Nobody may be waiting any more.
        let _ = tell.send(());
    });
    // It is told of as long as it is listened for.
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
