//! Keys of the lists: `/` leads to the search, arrows from card to card.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, KeyboardEvent};

const COVER: &str = ".model-card .cover";
const ROW: &str = ".group-row";

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

/// The page's search, for somebody who is not writing already.
fn search() -> Option<HtmlElement> {
    let focused = document().active_element();
    let writes = |element: &Element| {
        element.matches("input, textarea, select, dialog *, [contenteditable]") == Ok(true)
    };
    if focused.as_ref().is_some_and(writes) {
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
            .or_else(|| row_from(&row, true)?.first_element_child()),
        "ArrowLeft" => card
            .previous_element_sibling()
            .or_else(|| row_from(&row, false)?.last_element_child()),
        "ArrowDown" => beneath(&row_from(&row, true)?, &card),
        "ArrowUp" => beneath(&row_from(&row, false)?, &card),
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

/// The card of the row that stands in the same column, or the last one.
fn beneath(row: &Element, card: &Element) -> Option<Element> {
    let mut goal = row.first_element_child()?;
    let mut before = card.previous_element_sibling();
    while let (Some(earlier), Some(next)) = (before, goal.next_element_sibling()) {
        before = earlier.previous_element_sibling();
        goal = next;
    }
    Some(goal)
}

fn find(selector: &str) -> Option<HtmlElement> {
    let found: Result<_, JsValue> = document().query_selector(selector);
    found.ok().flatten()?.dyn_into().ok()
}
