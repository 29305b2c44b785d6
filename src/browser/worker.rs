//! The service worker: `public/worker.js`.

use gloo_events::EventListener;
use js_sys::{Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Event, RegistrationOptions, ServiceWorker, ServiceWorkerContainer, ServiceWorkerRegistration,
    ServiceWorkerState, ServiceWorkerUpdateViaCache,
};

const SCRIPT: &str = "/worker.js";

/// The names of all releases' caches begin with this; the service worker gives them.
const CACHES: &str = "atelier-";

/// Whether the browser lets a page have one: not in some private windows, nor where the page is neither
/// https nor localhost.
pub fn is_possible() -> bool {
    container().is_some()
}

fn container() -> Option<ServiceWorkerContainer> {
    let navigator = window().navigator();
    let container = Reflect::get(&navigator, &"serviceWorker".into()).ok()?;
    container.dyn_into().ok()
}

/// Has the worker of the newest release installed. A page that is of that release says so, for the
/// worker takes over from the one before it once all open pages are. Whether the browser allows it.
///
/// `is_wanted`: asked once the browser has answered: a person may have switched it off meanwhile.
pub async fn start(release: &str, is_wanted: fn() -> bool) -> bool {
    let Some(container) = container() else {
        return false;
    };
    let options = RegistrationOptions::new();
    options.set_update_via_cache(ServiceWorkerUpdateViaCache::None);
    let registered: Option<ServiceWorkerRegistration> =
        settled(container.register_with_options(SCRIPT, &options)).await;
    let Some(registered) = registered else {
        return false;
    };
    if let Some(worker) = registered.active().filter(|_| is_wanted()) {
        // A worker that is gone keeps nothing.
        let _ = worker.post_message(&"keep".into());
    }
    let release = release.to_owned();
    greet(&registered, &release);
    let again = {
        let registered = registered.clone();
        move |_: &Event| greet(&registered, &release)
    };
    EventListener::new(&registered, "updatefound", again.clone()).forget();
    // A worker that waits asks for it.
    EventListener::new(&container, "message", again).forget();
    true
}

/// Takes the worker and all that it keeps away.
pub async fn stop() {
    let Some(container) = container() else {
        return;
    };
    let registered: Option<ServiceWorkerRegistration> = settled(container.get_registration()).await;
    if let Some(it) = &registered {
        for worker in [it.installing(), it.waiting(), it.active()] {
            // What it is just storing would come back. A worker that is gone stores nothing.
            let _ = worker.map(|worker| worker.post_message(&"drop".into()));
        }
    }
    if let Some(unregistered) = registered.and_then(|it| it.unregister().ok()) {
        // If this fails, there is no worker.
        let _ = JsFuture::from(unregistered).await;
    }
    let Ok(caches) = window().caches() else {
        return;
    };
    let names: Option<js_sys::Array> = settled(caches.keys()).await;
    let names = names.unwrap_or_default();
    for name in names.iter().filter_map(|name| name.as_string()) {
        if name.starts_with(CACHES) {
            let _ = JsFuture::from(caches.delete(&name)).await;
        }
    }
}

/// Says the page's release to a worker that waits, or will.
fn greet(registered: &ServiceWorkerRegistration, release: &str) {
    if let Some(worker) = registered.waiting() {
        say(&worker, release);
    }
    if let Some(worker) = registered.installing() {
        let (coming, release) = (worker.clone(), release.to_owned());
        let listener = EventListener::new(&worker, "statechange", move |_| {
            if coming.state() == ServiceWorkerState::Installed {
                say(&coming, &release);
            }
        });
        listener.forget();
    }
}

fn say(worker: &ServiceWorker, release: &str) {
    let message = Object::new();
    // A new object takes any property; a worker that is gone has nothing to hear.
    let _ = Reflect::set(&message, &"release".into(), &release.into());
    let _ = worker.post_message(&message);
}

async fn settled<T: JsCast>(promise: Promise) -> Option<T> {
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}
