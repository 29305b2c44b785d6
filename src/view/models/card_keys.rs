//! Keyboard navigation in lists: `/` focuses the search, the arrow keys move between cards.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::view::parts::focus;

const COVER: &str = ".model-card .cover";
const ROW: &str = ".group-row:has(> ul)";

/// Adds the key listener for the lifetime of the page.
pub fn listen() {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&document(), "keydown", may_prevent, |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        if event.ctrl_key() || event.alt_key() || event.meta_key() || event.default_prevented() {
            return;
        }
        let target = match event.key().as_str() {
            "/" => search(),
            key if key.starts_with("Arrow") => card(key),
            _ => None,
        };
        if let Some(target) = target {
            event.prevent_default();
            // It never fails for an element of the document.
            let _ = target.focus();
        }
    })
    .forget();
}

/// Returns the search field of the page, unless the user is typing or in a dialog.
fn search() -> Option<HtmlElement> {
    let is_in_dialog = |element: Element| element.matches("dialog *") == Ok(true);
    if focus::is_writing() || document().active_element().is_some_and(is_in_dialog) {
        return None;
    }
    find("#main input[type=search]")
}

/// Returns the card to focus for an arrow key. From the search field, the down arrow leads to the first card.
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
    let target = match key {
        "ArrowRight" => card
            .next_element_sibling()
            .or_else(|| in_row(&row_from(&row, true)?, "li")),
        "ArrowLeft" => card
            .previous_element_sibling()
            .or_else(|| in_row(&row_from(&row, false)?, "li:last-child")),
        "ArrowDown" => nearest_card(&card, 1.0),
        "ArrowUp" => nearest_card(&card, -1.0),
        _ => None,
    };
    let cover = target?.query_selector(COVER).ok().flatten()?;
    cover.dyn_into().ok()
}

/// Returns the next or previous row of cards, skipping headings.
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

/// Returns the nearest card in the next row, or in the previous row if `direction` is -1. A visual row can contain several
/// groups.
fn nearest_card(card: &Element, direction: f64) -> Option<Element> {
    // Use the top of the row: the style sheet moves a hovered card up a little.
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
        let down = (top(&card) - from_top) * direction;
        (card, down, (to.left() - from.left()).abs())
    });
    let target = distances.filter(|(_, down, _)| *down > 1.0).min_by(|a, b| {
        let order = a.1.total_cmp(&b.1);
        order.then(a.2.total_cmp(&b.2))
    });
    target.map(|(card, ..)| card)
}

fn find(selector: &str) -> Option<HtmlElement> {
    let found: Result<_, JsValue> = document().query_selector(selector);
    found.ok().flatten()?.dyn_into().ok()
}
