//! The browser's locks: what one page at a time may have.

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

/// Held until it is dropped, or the page is gone.
#[derive(Debug)]
pub struct Lock {
    /// `None` where the browser gives no locks: others may have the same.
    unlock: Option<Function>,
}

impl Lock {
    /// No other page has it.
    pub fn is_real(&self) -> bool {
        self.unlock.is_some()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(unlock) = self.unlock.take() {
            // It settles a promise, which cannot fail.
            let _ = unlock.call0(&JsValue::UNDEFINED);
        }
    }
}

/// Waits for a lock, in a line that is joined at the call.
pub fn hold(name: &str) -> LocalBoxFuture<'static, Lock> {
    let (tell, held) = oneshot::channel();
    let tell = Rc::new(Cell::new(Some(tell)));
    let refused = tell.clone();
    // Nothing may wait for it any more: then it is dropped, and with that given back.
    let say = |tell: &Cell<Option<oneshot::Sender<Lock>>>, lock| {
        tell.take().map(|tell| tell.send(lock));
    };
    request(
        name,
        None,
        move |lock| say(&tell, lock),
        move || say(&refused, Lock { unlock: None }),
    );
    let none = |_| Lock { unlock: None };
    async move { held.await.unwrap_or_else(none) }.boxed_local()
}

/// Asks for a lock, which is then held until it is given back or the page is gone; until it is held,
/// `wish` takes the wish for it back.
/// Pages that are neither https nor localhost have no locks, and a browser may refuse one.
pub fn request(
    name: &str,
    wish: Option<&AbortController>,
    on_held: impl Fn(Lock) + 'static,
    on_refused: impl Fn() + 'static,
) {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let request = Reflect::get(&locks, &"request".into())
        .ok()
        .and_then(|request| request.dyn_into::<Function>().ok());
    // The lock is held until the promise settles.
    let held = Closure::<dyn FnMut(JsValue) -> Promise>::new(move |_| {
        Promise::new(&mut |unlock, _| {
            on_held(Lock {
                unlock: Some(unlock),
            })
        })
    })
    .into_js_value();
    let options = Object::new();
    if let Some(wish) = wish {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&options, &"signal".into(), &wish.signal());
    }
    let asked = request.and_then(|request| {
        let request = request.call3(&locks, &name.into(), &options, &held);
        request.ok()
    });
    match asked.and_then(|asked| asked.dyn_into::<Promise>().ok()) {
        Some(asked) => spawn(async move {
            if JsFuture::from(asked).await.is_err() {
                on_refused();
            }
        }),
        None => on_refused(),
    }
}
