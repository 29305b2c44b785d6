//! Where the focus goes when a dialog closes, or what was pressed is gone. A dialog gives it back to what had it; but
//! after a reload nothing had, and what another dialog has given way to is gone.

use std::cell::{Cell, OnceCell, RefCell};

use gloo_events::EventListener;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::focus;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, memo};

thread_local! {
    /// What had it last on the page, outside of all dialogs.
    static LAST: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
    static LISTENING: OnceCell<EventListener> = const { OnceCell::new() };
    /// How often [`once_built`] was called.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// So many frames are left to others that give it to something, and to what is still to be built.
const FRAMES: u32 = 3;

/// Sees to it for a dialog that is as open as a signal says.
pub fn follow(is_open: Signal<bool>) {
    LISTENING.with(|listening| {
        listening.get_or_init(|| EventListener::new(&document(), "focusin", note));
    });
    let is_open = memo(move || is_open.get());
    let was_open = StoredValue::new(false);
    effect(move || {
        if was_open.try_update_value(|was| std::mem::replace(was, is_open.get())) == Some(true) {
            give_back(FRAMES);
        }
    });
}

fn note(event: &web_sys::Event) {
    let focused = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    let is_on_page = |it: &HtmlElement| it.closest("dialog").is_ok_and(|dialog| dialog.is_none());
    if let Some(focused) = focused.filter(is_on_page) {
        LAST.replace(Some(focused));
    }
}

fn give_back(frames: u32) {
    after_frame(move || {
        let other = document().query_selector("dialog[open]");
        if other.is_ok_and(|other| other.is_some()) {
            return;
        }
        if frames > 0 {
            return give_back(frames - 1);
        }
        if !focus::is_lost() {
            return;
        }
        if let Some(last) = LAST.with_borrow(Clone::clone) {
            focus::in_place(&last);
        }
        if focus::is_lost() {
            focus::in_place_to("main");
        }
    });
}

/// Gives it to the first of these that is there within some frames, by their selectors; else to the page as a whole.
/// A later call replaces this one.
pub fn once_built(wanted: Vec<String>) {
    const MAX_FRAMES: u32 = 10;
    let call = CALLS.get() + 1;
    CALLS.set(call);
    try_to_give(wanted, call, MAX_FRAMES);
}

fn try_to_give(wanted: Vec<String>, call: u32, frames: u32) {
    after_frame(move || {
        let is_replaced = CALLS.get() != call;
        if is_replaced || !focus::is_lost() || wanted.iter().any(|it| focus::in_place_to(it)) {
            return;
        }
        match frames {
            0 => drop(focus::in_place_to("main")),
            _ => try_to_give(wanted, call, frames - 1),
        }
    });
}
