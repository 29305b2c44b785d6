//! Web Locks: one page at a time holds a lock.

use std::cell::Cell;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{FutureExt, LocalBoxFuture};
use js_sys::{Function, Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use crate::reactive::boxed::spawn;

/// A lock, held until it is dropped or the page is closed.
#[derive(Debug)]
pub struct Lock {
    /// `None` if the browser provides no locks: other pages may then hold the same lock.
    unlock: Option<Function>,
}

impl Lock {
    /// Returns whether no other page can have the lock.
    pub fn is_real(&self) -> bool {
        self.unlock.is_some()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(unlock) = self.unlock.take() {
            // This settles a promise, which can't fail.
            let _ = unlock.call0(&JsValue::UNDEFINED);
        }
    }
}

/// Requests a lock, and waits until it is granted. The request joins the queue before this function returns.
pub fn hold(name: &str) -> LocalBoxFuture<'static, Lock> {
    let (sender, receiver) = oneshot::channel();
    let sender = Rc::new(Cell::new(Some(sender)));
    let refused = sender.clone();
    // If the receiver was dropped, the lock is dropped as well, which releases it.
    let send = |sender: &Cell<Option<oneshot::Sender<Lock>>>, lock| {
        sender.take().map(|sender| sender.send(lock));
    };
    request(
        name,
        None,
        move |lock| send(&sender, lock),
        move || send(&refused, Lock { unlock: None }),
    );
    let none = |_| Lock { unlock: None };
    async move { receiver.await.unwrap_or_else(none) }.boxed_local()
}

/// Requests a lock. Returns `None` if another page holds it.
pub async fn try_hold(name: &str) -> Option<Lock> {
    let (sender, receiver) = oneshot::channel();
    let sender = Rc::new(Cell::new(Some(sender)));
    let refused = sender.clone();
    // If the receiver was dropped, the lock is dropped as well, which releases it.
    let send = |sender: &Cell<Option<oneshot::Sender<Option<Lock>>>>, lock| {
        sender.take().map(|sender| sender.send(lock));
    };
    let options = Object::new();
    // Setting a property of a plain object can't fail.
    let _ = Reflect::set(&options, &"ifAvailable".into(), &true.into());
    request_with(
        name,
        &options,
        move |lock| send(&sender, lock),
        move || send(&refused, Some(Lock { unlock: None })),
    );
    receiver.await.ok().flatten()
}

/// Requests a lock. Until it is granted, `controller` can abort the request. Pages that are neither on https nor on
/// localhost have no locks, and a browser may refuse one.
pub fn request(
    name: &str,
    controller: Option<&AbortController>,
    on_held: impl Fn(Lock) + 'static,
    on_refused: impl Fn() + 'static,
) {
    let options = Object::new();
    if let Some(controller) = controller {
        // Setting a property of a plain object can't fail.
        let _ = Reflect::set(&options, &"signal".into(), &controller.signal());
    }
    let on_held = move |lock: Option<Lock>| {
        if let Some(lock) = lock {
            on_held(lock);
        }
    };
    request_with(name, &options, on_held, on_refused);
}

/// Requests a lock with these options of `LockManager.request`. `on_held` receives `None` if the lock is not available.
fn request_with(
    name: &str,
    options: &Object,
    on_held: impl Fn(Option<Lock>) + 'static,
    on_refused: impl Fn() + 'static,
) {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let request = Reflect::get(&locks, &"request".into())
        .ok()
        .and_then(|request| request.dyn_into::<Function>().ok());
    // The lock is held until the promise settles.
    let held = Closure::<dyn FnMut(JsValue) -> Promise>::new(move |granted: JsValue| {
        if granted.is_null() {
            on_held(None);
            return Promise::resolve(&JsValue::UNDEFINED);
        }
        Promise::new(&mut |unlock, _| {
            on_held(Some(Lock {
                unlock: Some(unlock),
            }))
        })
    })
    .into_js_value();
    let promise = request.and_then(|request| {
        let request = request.call3(&locks, &name.into(), options, &held);
        request.ok()
    });
    match promise.and_then(|promise| promise.dyn_into::<Promise>().ok()) {
        Some(promise) => spawn(async move {
            if JsFuture::from(promise).await.is_err() {
                on_refused();
            }
        }),
        None => on_refused(),
    }
}
