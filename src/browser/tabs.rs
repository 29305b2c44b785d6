//! Several tabs of one person: exactly one leads, all hear each other.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Interval;
use js_sys::{Function, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BroadcastChannel, MessageEvent};

use super::{clock, local::Place, random};

const NAME: &str = "atelier";

/// A lease is renewed well before it ends, so that a short stall does not lose it.
const LEASE_MS: u64 = 6_000;
const RENEW_MS: u32 = 2_000;

/// Calls back once, when this tab becomes the one that leads; it then leads until it is closed.
///
/// Web Locks decide where the browser has them. It lacks them on pages that are neither https nor
/// localhost; there a lease in `localStorage` decides.
pub fn lead(on_lead: impl FnOnce() + 'static) {
    let on_lead = Rc::new(Cell::new(Some(on_lead)));
    let take = {
        let on_lead = on_lead.clone();
        move || {
            if let Some(on_lead) = on_lead.take() {
                on_lead();
            }
        }
    };
    if !request_lock(take.clone()) {
        request_lease(take);
    }
}

fn request_lock(on_held: impl Fn() + 'static) -> bool {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let request = Reflect::get(&locks, &"request".into())
        .ok()
        .and_then(|request| request.dyn_into::<Function>().ok());
    let Some(request) = request else {
        return false;
    };
    // The lock is held until the promise settles: never.
    let held = Closure::<dyn FnMut(JsValue) -> Promise>::new(move |_| {
        on_held();
        Promise::new(&mut |_, _| {})
    })
    .into_js_value();
    request
        .call2(&locks, &format!("{NAME}.leader").into(), &held)
        .is_ok()
}

fn request_lease(on_held: impl Fn() + 'static) {
    let me = random::key();
    let key = format!("{NAME}.leader");
    let leading = Cell::new(false);
    let renew = move || {
        let now = clock::now();
        let lease = Place::Browser.read(&key).unwrap_or_default();
        let (holder, until) = lease.split_once(' ').unwrap_or_default();
        let is_free = until.parse::<u64>().map_or(true, |until| until < now);
        if holder != me && !is_free {
            return;
        }
        let kept = Place::Browser.write(&key, &format!("{me} {}", now + LEASE_MS));
        // The second look, a renewal later, settles who wrote last; without storage each tab is alone.
        if (holder == me || !kept) && !leading.replace(true) {
            on_held();
        }
    };
    renew();
    Interval::new(RENEW_MS, renew).forget();
}

/// What the tabs tell each other. Messages reach the other tabs, never the sender.
pub struct Channel {
    channel: Option<BroadcastChannel>,
    _listener: Option<EventListener>,
}

impl Channel {
    /// Without BroadcastChannel each tab is on its own.
    pub fn open(on_message: impl Fn(String) + 'static) -> Self {
        let channel = BroadcastChannel::new(NAME).ok();
        let listener = channel.as_ref().map(|channel| {
            EventListener::new(channel, "message", move |event| {
                let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data);
                if let Some(text) = data.and_then(|data| data.as_string()) {
                    on_message(text);
                }
            })
        });
        Self {
            channel,
            _listener: listener,
        }
    }

    pub fn post(&self, text: &str) {
        if let Some(channel) = &self.channel {
            // It only fails on a closed channel, and this one is never closed.
            let _ = channel.post_message(&JsValue::from_str(text));
        }
    }
}
