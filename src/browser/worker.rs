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

/// The prefix of the names of all caches, which the service worker creates.
const CACHE_PREFIX: &str = "atelier-";

/// Returns whether the browser allows a service worker: not in some private windows, and only on https or localhost.
pub fn is_possible() -> bool {
    container().is_some()
}

fn container() -> Option<ServiceWorkerContainer> {
    let navigator = window().navigator();
    let container = Reflect::get(&navigator, &"serviceWorker".into()).ok()?;
    container.dyn_into().ok()
}

/// Registers the worker of the newest release, and returns whether the browser allows it. The page sends its release to the
/// new worker, which replaces the previous one once all open pages are of the new release.
///
/// `is_wanted` is called after the registration, because the user may have switched the worker off in the meantime.
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
        // Fails only for a worker that no longer exists.
        let _ = worker.post_message(&"keep".into());
    }
    let release = release.to_owned();
    send_release(&registered, &release);
    let again = {
        let registered = registered.clone();
        move |_: &Event| send_release(&registered, &release)
    };
    EventListener::new(&registered, "updatefound", again.clone()).forget();
    // A waiting worker requests the release.
    EventListener::new(&container, "message", again).forget();
    true
}

/// Removes the worker and everything it has cached.
pub async fn stop() {
    let Some(container) = container() else {
        return;
    };
    let registered: Option<ServiceWorkerRegistration> = settled(container.get_registration()).await;
    if let Some(it) = &registered {
        for worker in [it.installing(), it.waiting(), it.active()] {
            // Stops the worker from caching, so that it does not create a cache again. Fails only for a worker that no
            // longer exists.
            let _ = worker.map(|worker| worker.post_message(&"drop".into()));
        }
    }
    if let Some(unregistered) = registered.and_then(|it| it.unregister().ok()) {
        // Fails only if there is no worker.
        let _ = JsFuture::from(unregistered).await;
    }
    let Ok(caches) = window().caches() else {
        return;
    };
    let names: Option<js_sys::Array> = settled(caches.keys()).await;
    let names = names.unwrap_or_default();
    for name in names.iter().filter_map(|name| name.as_string()) {
        if name.starts_with(CACHE_PREFIX) {
            let _ = JsFuture::from(caches.delete(&name)).await;
        }
    }
}

/// Sends the release of the page to a waiting worker, and to an installing one once it is installed.
fn send_release(registered: &ServiceWorkerRegistration, release: &str) {
    if let Some(worker) = registered.waiting() {
        post_release(&worker, release);
    }
    if let Some(worker) = registered.installing() {
        let (installing, release) = (worker.clone(), release.to_owned());
        let listener = EventListener::new(&worker, "statechange", move |_| {
            if installing.state() == ServiceWorkerState::Installed {
                post_release(&installing, &release);
            }
        });
        listener.forget();
    }
}

fn post_release(worker: &ServiceWorker, release: &str) {
    let message = Object::new();
    // Setting a property of a new object can't fail, and a worker that no longer exists needs no message.
    let _ = Reflect::set(&message, &"release".into(), &release.into());
    let _ = worker.post_message(&message);
}

async fn settled<T: JsCast>(promise: Promise) -> Option<T> {
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}
