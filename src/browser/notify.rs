//! Telling a person who looks elsewhere: the document's title and system notifications.

use leptos::prelude::{document, window};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Notification, NotificationOptions, NotificationPermission};

pub fn set_title(title: &str) {
    document().set_title(title);
}

/// Whether this browser has system notifications that a page can show: Chrome on Android wants a service worker for that.
pub fn is_supported() -> bool {
    let agent = window().navigator().user_agent().unwrap_or_default();
    let is_phone = agent.contains("Android") && agent.contains("Chrome/");
    !is_phone && js_sys::Reflect::has(&window(), &"Notification".into()) == Ok(true)
}

pub fn is_granted() -> bool {
    is_supported() && Notification::permission() == NotificationPermission::Granted
}

/// Neither allowed nor refused: the browser would ask.
pub fn is_undecided() -> bool {
    is_supported() && Notification::permission() == NotificationPermission::Default
}

/// Asks the person; must be called from their click.
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

/// Shows a notification; a later one with the same `tag` takes its place.
pub fn show(title: &str, body: &str, tag: &str) {
    if !is_granted() {
        return;
    }
    let options = NotificationOptions::new();
    options.set_body(body);
    options.set_tag(tag);
    // Where a page may not show one, there is none.
    let _ = Notification::new_with_options(title, &options);
}
