//! Returns the focus to the page when a dialog closes, or when the pressed element disappears.
//!
//! The browser returns the focus from a dialog to the element that had it before. That fails after a reload, where no
//! element had it, and if the element was in another dialog that has closed since.

use std::cell::{Cell, OnceCell, RefCell};

use gloo_events::EventListener;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::focus;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, memo};

thread_local! {
    /// The element outside of dialogs that had the focus last.
    static LAST: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
    static LISTENING: OnceCell<EventListener> = const { OnceCell::new() };
    /// Number of calls of [`when_rendered`].
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Number of frames to wait, because other code may move the focus, or elements may still be rendered.
const FRAMES: u32 = 3;

/// Restores the focus each time a dialog closes, unless another dialog is open or an element already has the focus.
pub fn follow(is_open: Signal<bool>) {
    LISTENING.with(|listening| {
        listening.get_or_init(|| EventListener::new(&document(), "focusin", remember));
    });
    let is_open = memo(move || is_open.get());
    let was_open = StoredValue::new(false);
    effect(move || {
        if was_open.try_update_value(|was| std::mem::replace(was, is_open.get())) == Some(true) {
            restore(FRAMES);
        }
    });
}

fn remember(event: &web_sys::Event) {
    let focused = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    let is_on_page = |it: &HtmlElement| it.closest("dialog").is_ok_and(|dialog| dialog.is_none());
    if let Some(focused) = focused.filter(is_on_page) {
        LAST.replace(Some(focused));
    }
}

fn restore(frames: u32) {
    after_frame(move || {
        let other = document().query_selector("dialog[open]");
        if other.is_ok_and(|other| other.is_some()) {
            return;
        }
        if frames > 0 {
            return restore(frames - 1);
        }
        if !focus::is_lost() {
            return;
        }
        if let Some(last) = LAST.with_borrow(Clone::clone) {
            focus::in_place(&last);
        }
        if focus::is_lost() {
            focus::to_without_scrolling("main");
        }
    });
}

/// Focuses the first element that matches one of these selectors within some frames, or else the page as a whole.
///
/// Does nothing if another element has the focus. A later call replaces this one.
pub fn when_rendered(selectors: Vec<String>) {
    const MAX_FRAMES: u32 = 10;
    let call = CALLS.get() + 1;
    CALLS.set(call);
    try_focus(selectors, call, MAX_FRAMES);
}

fn try_focus(selectors: Vec<String>, call: u32, frames: u32) {
    after_frame(move || {
        let is_replaced = CALLS.get() != call;
        if is_replaced
            || !focus::is_lost()
            || selectors.iter().any(|it| focus::to_without_scrolling(it))
        {
            return;
        }
        match frames {
            0 => drop(focus::to_without_scrolling("main")),
            _ => try_focus(selectors, call, frames - 1),
        }
    });
}
