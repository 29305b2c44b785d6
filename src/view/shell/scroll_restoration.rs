//! Scroll restoration: when the user follows a link in a list of models, tasks or outputs and then goes back, the list has
//! the same scroll position and focus. Clicks before the deferred part of the program is loaded are not recorded.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use atelier_studio::navigation::route::Route;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::browser::frame::after_frame;
use crate::browser::location;
use crate::view::parts::focus;

/// The maximum number of frames to wait until the page has read and rendered the list.
const MAX_FRAMES: u32 = 90;

/// The items of a batch, which have their own scroll container.
const ITEMS: &str = ".thumbs-scroll";

struct ListPosition {
    /// The address of the list.
    list: (String, String),
    /// The link's `href` as written in the list.
    href: String,
    /// The scroll positions of the page and of the items in it, in pixels.
    page: f64,
    items: i32,
}

/// Installs the event listeners, which are never removed.
pub fn listen() {
    let positions = Rc::new(RefCell::new(HashMap::new()));
    let recorded = positions.clone();
    // In the capture phase, because following the link scrolls to the top.
    let options = EventListenerOptions::run_in_capture_phase();
    let clicks = EventListener::new_with_options(&document(), "click", options, move |event| {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest("a[href]").ok().flatten());
        match link.map(|link| (ListPosition::of(&link), location::current())) {
            Some((Some(position), list)) => {
                recorded.borrow_mut().insert(list, Rc::new(position));
            }
            // The link is not in a list.
            Some((None, list)) => {
                recorded.borrow_mut().remove(&list);
            }
            None => {}
        }
    });
    clicks.forget();
    let returns = location::on_pop(move || {
        if let Some(position) = positions.borrow().get(&location::current()) {
            restore(position.clone(), interruption(), false, MAX_FRAMES);
        }
    });
    returns.forget();
}

impl ListPosition {
    fn of(link: &Element) -> Option<Self> {
        link.closest("#main").ok().flatten()?;
        let list = location::current();
        let is_list = matches!(
            Route::parse(&list.0),
            Route::Models | Route::Tasks | Route::Gallery | Route::Batch(_)
        );
        let href = link.get_attribute("href").filter(|_| is_list)?;
        Some(Self {
            list,
            href,
            page: window().scroll_y().unwrap_or_default(),
            items: items().map_or(0, |items| items.scroll_top()),
        })
    }

    /// Scrolls to the position, and returns whether the page was long enough.
    fn scroll(&self) -> bool {
        window().scroll_to_with_x_and_y(0.0, self.page);
        if let Some(items) = items() {
            items.set_scroll_top(self.items);
        }
        // Browsers round scroll positions.
        let page = window().scroll_y().unwrap_or_default();
        let items = items().map_or(0, |items| items.scroll_top());
        (page - self.page).abs() < 2.0 && (items - self.items).abs() < 2
    }
}

fn items() -> Option<Element> {
    document().query_selector(ITEMS).ok().flatten()
}

/// Returns a flag that is set once the user scrolls or presses a key.
fn interruption() -> Rc<Cell<bool>> {
    let is_interrupted = Rc::new(Cell::new(false));
    for event_name in ["wheel", "touchmove", "keydown"] {
        let flag = is_interrupted.clone();
        EventListener::once(&document(), event_name, move |_| flag.set(true)).forget();
    }
    is_interrupted
}

fn restore(
    position: Rc<ListPosition>,
    is_interrupted: Rc<Cell<bool>>,
    is_scrolled: bool,
    frames: u32,
) {
    after_frame(move || {
        // The user may have left the page or started something else.
        let is_on_list = location::current() == position.list;
        if !is_on_list || is_interrupted.get() || !focus::is_free() {
            return;
        }
        let is_scrolled = is_scrolled || position.scroll();
        let link = format!("#main a[href={}]", focus::quoted(&position.href));
        // A list that has become shorter can't be scrolled that far: after half of the frames, only the focus is restored.
        let is_focused = (is_scrolled || frames < MAX_FRAMES / 2) && focus::to(&link);
        if !is_focused && frames > 0 {
            restore(position, is_interrupted, is_scrolled, frames - 1);
        }
    });
}
