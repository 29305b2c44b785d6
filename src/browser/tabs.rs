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

/// Calls back with `true` when this tab becomes the one that leads. Web Locks decide where the
/// browser has them, and then it leads until it is closed.
///
/// It lacks them on pages that are neither https nor localhost; there a lease in `localStorage`
/// decides. A tab that stalls loses it, is told so with `false`, and may get it again.
pub fn lead(on_change: impl Fn(bool) + 'static) -> Option<Rc<Lease>> {
    let on_change: Rc<dyn Fn(bool)> = Rc::new(on_change);
    let on_held = on_change.clone();
    if request_lock(move || on_held(true)) {
        return None;
    }
    let lease = Rc::new(Lease {
        me: random::key(),
        is_leading: Cell::new(false),
        on_change,
    });
    lease.renew();
    let renewed = lease.clone();
    Interval::new(RENEW_MS, move || renewed.renew()).forget();
    Some(lease)
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

/// The right to lead for a while, in storage that all tabs share: `{holder} {until}`.
pub struct Lease {
    me: String,
    is_leading: Cell<bool>,
    on_change: Rc<dyn Fn(bool)>,
}

impl Lease {
    /// Whether it may still lead; to be asked before each call. After a stall another tab may have
    /// taken over: two tabs that lead would both send what is queued, and it would be paid twice.
    pub fn check(&self) {
        let (holder, until) = self.read();
        let is_held = holder == self.me && until >= clock::now();
        if self.is_kept() && !is_held && self.is_leading.replace(false) {
            (self.on_change)(false);
        }
    }

    fn renew(&self) {
        self.check();
        let now = clock::now();
        let (holder, until) = self.read();
        if holder != self.me && until >= now {
            return;
        }
        let kept = self.write(now);
        // The second look, a renewal later, settles who wrote last; without storage each tab is
        // alone.
        let is_settled = holder == self.me && until >= now;
        if (is_settled || !kept) && !self.is_leading.replace(true) {
            (self.on_change)(true);
        }
    }

    fn read(&self) -> (String, u64) {
        let lease = Place::Browser.read(&Self::key()).unwrap_or_default();
        let (holder, until) = lease.split_once(' ').unwrap_or_default();
        (holder.to_owned(), until.parse().unwrap_or(0))
    }

    fn write(&self, now: u64) -> bool {
        Place::Browser.write(&Self::key(), &format!("{} {}", self.me, now + LEASE_MS))
    }

    /// Storage that keeps nothing says nothing about other tabs.
    fn is_kept(&self) -> bool {
        Place::Browser.read(&Self::key()).is_some()
    }

    fn key() -> String {
        format!("{NAME}.leader")
    }
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
