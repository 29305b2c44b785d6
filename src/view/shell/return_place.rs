//! Where a person left a list of models, tasks or outputs by a link: Back leads there again, with the focus and what is
//! in sight. A press before the deferred part of the program has arrived is not noticed.

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

/// So many frames at most until a page has read and built what was left.
const FRAMES: u32 = 90;

/// The items of a batch, which scroll by themselves.
const ITEMS: &str = ".thumbs-scroll";

struct LeftPlace {
    /// The address of the list.
    list: (String, String),
    /// The link, as it stands there.
    href: String,
    /// How far the page and the items in it were scrolled, in pixels.
    page: f64,
    items: i32,
}

/// For as long as the page lives.
pub fn listen() {
    let left = Rc::new(RefCell::new(HashMap::new()));
    let followed = left.clone();
    // Heard before the link is followed, which leads to the top.
    let options = EventListenerOptions::run_in_capture_phase();
    let clicks = EventListener::new_with_options(&document(), "click", options, move |event| {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest("a[href]").ok().flatten());
        match link.map(|link| (LeftPlace::of(&link), location::current())) {
            Some((Some(place), list)) => {
                followed.borrow_mut().insert(list, Rc::new(place));
            }
            // It is left from nowhere in particular.
            Some((None, list)) => {
                followed.borrow_mut().remove(&list);
            }
            None => {}
        }
    });
    clicks.forget();
    let returns = location::on_pop(move || {
        if let Some(place) = left.borrow().get(&location::current()) {
            come_back(place.clone(), interruption(), false, FRAMES);
        }
    });
    returns.forget();
}

impl LeftPlace {
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

    /// Whether all that is to be scrolled was there.
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

/// Whether a person scrolls or presses keys from now on.
fn interruption() -> Rc<Cell<bool>> {
    let is_interrupted = Rc::new(Cell::new(false));
    for sign in ["wheel", "touchmove", "keydown"] {
        let heard = is_interrupted.clone();
        EventListener::once(&document(), sign, move |_| heard.set(true)).forget();
    }
    is_interrupted
}

fn come_back(place: Rc<LeftPlace>, is_interrupted: Rc<Cell<bool>>, is_scrolled: bool, frames: u32) {
    after_frame(move || {
        // The person may have gone on, or do something else by now.
        let is_here = location::current() == place.list;
        if !is_here || is_interrupted.get() || !focus::is_free() {
            return;
        }
        let is_scrolled = is_scrolled || place.scroll();
        let link = format!("#main a[href={}]", focus::quoted(&place.href));
        // A page that has become shorter can't be scrolled that far.
        let is_there = (is_scrolled || frames < FRAMES / 2) && focus::to(&link);
        if !is_there && frames > 0 {
            come_back(place, is_interrupted, is_scrolled, frames - 1);
        }
    });
}
