//! Keys of the lists: `/` leads to the search, arrows from card to card.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::view::parts::focus;

const COVER: &str = ".model-card .cover";
const ROW: &str = ".group-row:has(> ul)";

/// For as long as the page lives.
pub fn listen() {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&document(), "keydown", may_prevent, |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        if event.ctrl_key() || event.alt_key() || event.meta_key() || event.default_prevented() {
            return;
        }
        let goal = match event.key().as_str() {
            "/" => search(),
            key if key.starts_with("Arrow") => card(key),
            _ => None,
        };
        if let Some(goal) = goal {
            event.prevent_default();
            // An element that is there can take the focus.
            let _ = goal.focus();
        }
    })
    .forget();
}

/// The page's search, for a person who is not writing already.
fn search() -> Option<HtmlElement> {
    let is_in_dialog = |element: Element| element.matches("dialog *") == Ok(true);
    if focus::is_writing() || document().active_element().is_some_and(is_in_dialog) {
        return None;
    }
    find("#main input[type=search]")
}

/// The card that an arrow leads to; from the search, downwards, the first one.
fn card(key: &str) -> Option<HtmlElement> {
    let focused = document().active_element()?;
    if focused.matches("input[type=search]") == Ok(true) {
        return find(COVER).filter(|_| key == "ArrowDown");
    }
    if focused.matches(COVER) != Ok(true) {
        return None;
    }
    let card = focused.closest("li").ok().flatten()?;
    let row = card.closest(ROW).ok().flatten()?;
    let goal = match key {
        "ArrowRight" => card
            .next_element_sibling()
            .or_else(|| in_row(&row_from(&row, true)?, "li")),
        "ArrowLeft" => card
            .previous_element_sibling()
            .or_else(|| in_row(&row_from(&row, false)?, "li:last-child")),
        "ArrowDown" => beyond(&card, 1.0),
        "ArrowUp" => beyond(&card, -1.0),
        _ => None,
    };
    let cover = goal?.query_selector(COVER).ok().flatten()?;
    cover.dyn_into().ok()
}

/// The row of cards after this one, or before: headings stand between some.
fn row_from(row: &Element, is_next: bool) -> Option<Element> {
    let step = |element: &Element| match is_next {
        true => element.next_element_sibling(),
        false => element.previous_element_sibling(),
    };
    let mut at = step(row)?;
    while at.matches(ROW) != Ok(true) {
        at = step(&at)?;
    }
    Some(at)
}

fn in_row(row: &Element, card: &str) -> Option<Element> {
    row.query_selector(card).ok().flatten()
}

/// The nearest card of the next row below, or above with a `way` of -1. Several groups may stand in one row.
fn beyond(card: &Element, way: f64) -> Option<Element> {
    // The row's top: a card under the pointer is lifted a little.
    let top = |card: &Element| {
        let row = card.closest(".group-row").ok().flatten();
        row.as_ref()
            .unwrap_or(card)
            .get_bounding_client_rect()
            .top()
    };
    let from = card.get_bounding_client_rect();
    let from_top = top(card);
    let cards = document().get_elements_by_class_name("model-card");
    let cards = (0..cards.length()).filter_map(|at| cards.item(at));
    let distances = cards.map(|card| {
        let to = card.get_bounding_client_rect();
        let down = (top(&card) - from_top) * way;
        (card, down, (to.left() - from.left()).abs())
    });
    let goal = distances.filter(|(_, down, _)| *down > 1.0).min_by(|a, b| {
        let order = a.1.total_cmp(&b.1);
        order.then(a.2.total_cmp(&b.2))
    });
    goal.map(|(card, ..)| card)
}

fn find(selector: &str) -> Option<HtmlElement> {
    let found: Result<_, JsValue> = document().query_selector(selector);
    found.ok().flatten()?.dyn_into().ok()
}
