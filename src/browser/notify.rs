//! Notifies a user who does not look at the page: the title of the document and system notifications.

use leptos::prelude::{document, window};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Notification, NotificationOptions, NotificationPermission};

pub fn set_title(title: &str) {
    document().set_title(title);
}

/// Returns whether a page can show system notifications in this browser. Chrome on Android requires a service worker for
/// them.
pub fn is_supported() -> bool {
    let agent = window().navigator().user_agent().unwrap_or_default();
    let is_phone = agent.contains("Android") && agent.contains("Chrome/");
    !is_phone && js_sys::Reflect::has(&window(), &"Notification".into()) == Ok(true)
}

pub fn is_granted() -> bool {
    is_supported() && Notification::permission() == NotificationPermission::Granted
}

/// Returns whether the user has neither allowed nor refused notifications, so that the browser would ask.
pub fn is_undecided() -> bool {
    is_supported() && Notification::permission() == NotificationPermission::Default
}

/// Asks the user for permission, and returns whether it is granted. Must be called while a click is handled.
pub async fn ask() -> bool {
    if !is_supported() {
        return false;
    }
    match Notification::request_permission() {
        Ok(promise) => {
            let _ = JsFuture::from(promise).await;
            is_granted()
        }
        Err(_) => false,
    }
}

/// Shows a notification; a later one with the same `tag` replaces it.
pub fn show(title: &str, body: &str, tag: &str) {
    if !is_granted() {
        return;
    }
    let options = NotificationOptions::new();
    options.set_body(body);
    options.set_tag(tag);
    // The browser may refuse.
    let _ = Notification::new_with_options(title, &options);
}
