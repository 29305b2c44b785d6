//! Where and when the pointer is pressed. An element that moves while the pointer is down misses the click. An element that
//! moves under the pointer because of a press must not receive the second click of a double click.

use std::cell::{Cell, OnceCell, RefCell};

use atelier_studio::form::double_click::DEBOUNCE_MS;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use super::press;
use crate::reactive::boxed::after;

/// The maximum distance of two presses that count as being at the same place, in pixels. The pointer may move slightly between
/// the clicks of a double click.
const MAX_DISTANCE: u32 = 8;
const PRESSED: &str = "button, a, summary, label, input, select, textarea";

struct Press {
    on: Element,
    place: (i32, i32),
    at: f64,
    /// Whether the system counts this press as part of a double click with the previous press.
    is_repeated: bool,
}

thread_local! {
    static IS_DOWN: Cell<bool> = const { Cell::new(false) };
    static WAITING: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
    static LAST: RefCell<Option<Press>> = const { RefCell::new(None) };
    static IS_ASTRAY: Cell<bool> = const { Cell::new(false) };
    static LISTENING: OnceCell<()> = const { OnceCell::new() };
}

/// Installs the event listeners on the first call. They are never removed.
pub fn follow() {
    LISTENING.with(|listening| {
        listening.get_or_init(|| {
            // Touches also fire mouse events. The pressed element gets the focus between `mousedown` and `mouseup`.
            listen("mousedown", |event| {
                // Other buttons open a menu, and the page may not receive the release.
                if number(event, "button") == Some(0.0) {
                    IS_DOWN.set(true);
                    record_press(event);
                }
            });
            for up in [
                "mouseup",
                "dragend",
                "pointercancel",
                "contextmenu",
                "keydown",
            ] {
                listen(up, |_| release());
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

fn record_press(event: &web_sys::Event) {
    let Some(press) = Press::of(event) else {
        return;
    };
    let is_stray_click = LAST.with_borrow(|last| {
        last.as_ref()
            .is_some_and(|last| last.is_followed_astray_by(&press))
    });
    IS_ASTRAY.set(is_stray_click);
    if !is_stray_click {
        LAST.replace(Some(press));
    }
}

impl Press {
    fn of(event: &web_sys::Event) -> Option<Self> {
        // Called only for `mousedown`.
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

    /// Returns whether `next` is the second click of a double click and hits another element.
    fn is_followed_astray_by(&self, next: &Self) -> bool {
        let is_near = |one: i32, other: i32| one.abs_diff(other) <= MAX_DISTANCE;
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

fn release() {
    IS_DOWN.set(false);
    // The click event follows immediately.
    let waiting = WAITING.take();
    after(0, move || waiting.into_iter().for_each(|act| act())).forget();
}

/// Calls `act` now, or once the pointer is released and the pressed element has handled its click.
pub fn when_released(act: impl FnOnce() + 'static) {
    match IS_DOWN.get() {
        true => WAITING.with_borrow_mut(|waiting| waiting.push(Box::new(act))),
        false => act(),
    }
}

/// Returns whether the pointer is down on an element inside this one.
pub fn is_pressed_within(element: &Element) -> bool {
    let is_within = |last: &Press| element.contains(Some(&last.on));
    IS_DOWN.get() && LAST.with_borrow(|last| last.as_ref().is_some_and(is_within))
}

/// Returns whether a click is the second click of a double click whose first click hit another element at the same place.
pub fn is_stray_click(click: &MouseEvent) -> bool {
    // Clicks by keyboard have the count 0.
    click.detail() > 0 && IS_ASTRAY.get()
}
