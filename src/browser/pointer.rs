//! Where and when the pointer comes down. What moves while it is down is missed by the press; and what has come to lie
//! under it because of a press is not what its second half is meant for, where that was a double click.

use std::cell::{Cell, OnceCell, RefCell};

use atelier_studio::form::double_click::DEBOUNCE_MS;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use super::press;
use crate::reactive::boxed::after;

/// A hand is not quite still, in px.
const SAME_PLACE: u32 = 8;
const PRESSED: &str = "button, a, summary, label, input, select, textarea";

struct Press {
    on: Element,
    place: (i32, i32),
    at: f64,
    /// The system takes it for a further half of the one before.
    is_repeated: bool,
}

thread_local! {
    static IS_DOWN: Cell<bool> = const { Cell::new(false) };
    static WAITING: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
    static LAST: RefCell<Option<Press>> = const { RefCell::new(None) };
    static IS_ASTRAY: Cell<bool> = const { Cell::new(false) };
    static LISTENING: OnceCell<()> = const { OnceCell::new() };
}

/// Follows it from now on, for as long as the page lives.
pub fn follow() {
    LISTENING.with(|listening| {
        listening.get_or_init(|| {
            // A finger, too, presses with these; what it presses gets the focus between them.
            listen("mousedown", |event| {
                // Another button opens a menu, which may take the end of the press.
                if number(event, "button") == Some(0.0) {
                    IS_DOWN.set(true);
                    come_down(event);
                }
            });
            for up in [
                "mouseup",
                "dragend",
                "pointercancel",
                "contextmenu",
                "keydown",
            ] {
                listen(up, |_| lift());
            }
        });
    });
}

fn listen(kind: &'static str, act: fn(&web_sys::Event)) {
    let first = EventListenerOptions::run_in_capture_phase();
    EventListener::new_with_options(&document(), kind, first, act).forget();
}

fn number(event: &web_sys::Event, name: &str) -> Option<f64> {
    press::get(event, name)?.as_f64()
}

fn come_down(event: &web_sys::Event) {
    let Some(press) = Press::of(event) else {
        return;
    };
    let is_astray =
        LAST.with_borrow(|last| last.as_ref().is_some_and(|last| last.strays_to(&press)));
    IS_ASTRAY.set(is_astray);
    if !is_astray {
        LAST.replace(Some(press));
    }
}

impl Press {
    fn of(event: &web_sys::Event) -> Option<Self> {
        // As all that is listened to here.
        let event: &MouseEvent = event.unchecked_ref();
        let target: Element = event.target()?.dyn_into().ok()?;
        let on = target.closest(PRESSED).ok()?;
        Some(Self {
            on: on.unwrap_or(target),
            place: (event.client_x(), event.client_y()),
            at: number(event, "timeStamp")?,
            is_repeated: number(event, "detail")? >= 2.0,
        })
    }

    /// The next one is its second half, and meets something else.
    fn strays_to(&self, next: &Self) -> bool {
        let is_near = |one: i32, other: i32| one.abs_diff(other) <= SAME_PLACE;
        let is_same_place =
            is_near(self.place.0, next.place.0) && is_near(self.place.1, next.place.1);
        let is_same_press = next.at - self.at < DEBOUNCE_MS as f64;
        next.is_repeated
            && is_same_place
            && is_same_press
            && !self.on.contains(Some(&next.on))
            && !next.on.contains(Some(&self.on))
    }
}

fn lift() {
    IS_DOWN.set(false);
    // The click comes right after this.
    let waiting = WAITING.take();
    after(0, move || waiting.into_iter().for_each(|act| act())).forget();
}

/// Acts now, or once the pointer is up and what it pressed has heard of it.
pub fn once_up(act: impl FnOnce() + 'static) {
    match IS_DOWN.get() {
        true => WAITING.with_borrow_mut(|waiting| waiting.push(Box::new(act))),
        false => act(),
    }
}

/// A click is the second half of a double click, whose first half met something else in the same place.
pub fn is_astray(click: &MouseEvent) -> bool {
    // One of the keyboard has no count.
    click.detail() > 0 && IS_ASTRAY.get()
}
