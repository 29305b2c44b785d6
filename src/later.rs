//! The part of the program that no first view needs. A release build puts it into a file of its own
//! (`.dev/split.mjs`), which is fetched once the first view is there; other builds have all in one.
//!
//! What lives in there may only be called once the state is [`State::Here`].

use atelier_engine::release::{self, Lack, Remedy};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::browser::local::Place;
use crate::browser::{http, location};
use crate::erased::spawn;
use crate::runner::Runner;

/// How the page's script calls the function that fetches it.
const LOADER: &str = "loadLater";

/// The releases that this tab was loaded anew for.
const TRIED: &str = "atelier.releases-tried";

/// How long the page says that it is about to load itself anew: to be read, and longer than
/// anything that keeps what is typed may wait.
const READ_MS: u32 = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Coming,
    Here,
    /// It could not be fetched; if somebody has asked for it, it is known why.
    Missing(Option<Lack>),
    /// A newer Atelier has taken its place: the page is about to load itself anew.
    Leaving,
}

#[derive(Clone, Copy)]
pub struct Later {
    state: RwSignal<State>,
    /// Set once somebody needs it: what drives tasks, so that none is cut off by a reload.
    needed: StoredValue<Option<Runner>, LocalStorage>,
}

impl Later {
    /// Fetches it as soon as the browser has shown the first view.
    pub fn start() -> Self {
        let this = Self {
            state: RwSignal::new(State::Coming),
            needed: StoredValue::new_local(None),
        };
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
            self.state.set(State::Here);
            return;
        };
        self.state.set(State::Coming);
        spawn(async move {
            let promise = loader
                .call0(&JsValue::UNDEFINED)
                .and_then(|promise| promise.dyn_into::<Promise>());
            let is_here = match promise {
                Ok(promise) => JsFuture::from(promise).await.is_ok(),
                Err(_) => false,
            };
            if is_here {
                self.state.set(State::Here);
            } else if let Some(runner) = self.needed.get_value() {
                self.remedy(runner).await;
            } else {
                self.state.set(State::Missing(None));
            }
        });
    }

    /// A person wants to see what lives in there. Until then nobody is disturbed for its sake.
    pub fn need(self, runner: Runner) {
        self.needed.set_value(Some(runner));
        if self.state.get_untracked() == State::Missing(None) {
            self.load();
        }
    }

    /// Tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// It could not be fetched: goes on to the newer release that is there, or says why not.
    async fn remedy(self, runner: Runner) {
        let page = http::get_fresh_text("/").await.unwrap_or_default();
        let tried = Place::Tab.read(TRIED).unwrap_or_default();
        let remedy = release::remedy(own().as_deref(), release::of_page(&page), &tried);
        let newest = match remedy {
            Remedy::Reload(newest) => newest,
            Remedy::Stay(lack) => return self.state.set(State::Missing(Some(lack))),
        };
        // What can't be remembered would be tried again and again.
        if !Place::Tab.write(TRIED, &release::with_tried(&tried, &newest)) {
            return self.state.set(State::Missing(Some(Lack::Newer)));
        }
        self.state.set(State::Leaving);
        TimeoutFuture::new(READ_MS).await;
        // A request that is cut off may have been received, and would be paid for unseen.
        while runner.is_sending() {
            TimeoutFuture::new(READ_MS).await;
        }
        location::reload();
    }
}

/// The release that this page is of; other builds than those for release have none.
fn own() -> Option<String> {
    let mark = document().query_selector("meta[name=release]").ok()??;
    mark.get_attribute("content")
}
