//! The part of the program that no first view needs. A release build puts it into a file of its own
//! (`.dev/split.mjs`), which is fetched once the first view is there; other builds have all in one.
//!
//! What lives in there may only be called once [`Later::is_here`].

use js_sys::{Function, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::erased::spawn;

/// How the page's script calls the function that fetches it.
const LOADER: &str = "loadLater";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Coming,
    Here,
    /// It could not be fetched: no network, or a newer Atelier has taken its place.
    Missing,
}

#[derive(Debug, Clone, Copy)]
pub struct Later(RwSignal<State>);

impl Later {
    /// Fetches it as soon as the browser has shown the first view.
    pub fn start() -> Self {
        let this = Self(RwSignal::new(State::Coming));
        request_animation_frame(move || {
            set_timeout(move || this.load(), std::time::Duration::ZERO)
        });
        this
    }

    /// Fetches it, once more if it has failed before.
    pub fn load(self) {
        let loader = Reflect::get(&js_sys::global(), &JsValue::from_str(LOADER));
        let Some(loader) = loader
            .ok()
            .and_then(|loader| loader.dyn_into::<Function>().ok())
        else {
            self.0.set(State::Here);
            return;
        };
        self.0.set(State::Coming);
        spawn(async move {
            let promise = loader
                .call0(&JsValue::UNDEFINED)
                .and_then(|promise| promise.dyn_into::<Promise>());
            let is_here = match promise {
                Ok(promise) => JsFuture::from(promise).await.is_ok(),
                Err(_) => false,
            };
            self.0
                .set(if is_here { State::Here } else { State::Missing });
        });
    }

    /// Tracked.
    pub fn state(self) -> State {
        self.0.get()
    }
}
