//! A number. It is a text field to the browser, because a browser's own number field hides what it
//! cannot read and rounds what is long; arrow keys step exactly.

use atelier_contract::{Entry, Kind, read_typed};
use atelier_studio::form::{control, seed};
use icondata_lu::LuDices;
use leptos::prelude::*;
use maud::{Markup, html};
use serde_json::{Number, Value};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement, KeyboardEvent};

use super::field::{self, Field};
use super::frame::{Parts, glyph};
use super::{set_attribute, set_value};
use crate::browser::frame::after_frame;
use crate::browser::random;
use crate::view::parts::{focus, viewport};

/// `slider`: with a slider next to it, for the mouse. `dice`: with a button that draws a random value.
pub fn html(field: &Field, slider: bool, dice: bool) -> Parts {
    let parameter = &field.parameter;
    let inputmode = match parameter.kind() {
        Kind::Integer => "numeric",
        _ => "decimal",
    };
    let text = field.text();
    let placeholder = seed::is_drawn(parameter, field.required).then_some("random");
    Parts::of(html! {
        div.number {
            input type="text" role="spinbutton" inputmode=(inputmode) id=(field.id) required[field.required]
                autocomplete="off" placeholder=[placeholder]
                aria-valuemin=[&parameter.minimum] aria-valuemax=[&parameter.maximum]
                aria-valuenow=(number_now(field)) aria-describedby=(field.described_by())
                value=[(!text.is_empty()).then_some(text)];
            @if dice {
                button.button type="button" data-action="dice" aria-label="Roll the dice" title="Roll the dice"
                    aria-describedby=(field.label_id()) { (glyph(LuDices)) }
            }
            @if slider { (range(field)) }
        }
    })
}

/// The same number by mouse or finger. The text field is what keyboards and screen readers use, so
/// this one stays out of their way.
fn range(field: &Field) -> Markup {
    let Some((min, max)) = control::slider(&field.parameter) else {
        return html! {};
    };
    let shown = |number: f64| Number::from_f64(number);
    html! {
        // It shows each value at its place; what it is moved to is on the grid.
        input type="range" tabindex="-1" aria-hidden="true" min=[shown(min)] max=[shown(max)] step="any"
            value=[range_value(field)];
    }
}

pub fn show(field: &Field, within: &Element) {
    for input in inputs(within) {
        match input.type_().as_str() {
            "range" => set_value(&input, &range_value(field).unwrap_or_default()),
            _ => {
                set_value(&input, &field.text());
                set_attribute(&input, "aria-valuenow", &number_now(field));
            }
        }
    }
}

fn inputs(within: &Element) -> impl Iterator<Item = HtmlInputElement> {
    let found = within.get_elements_by_tag_name("input");
    (0..found.length()).filter_map(move |at| found.item(at)?.dyn_into().ok())
}

/// What the field holds as assistive technology hears it: the number, or the text that is none.
fn number_now(field: &Field) -> String {
    number_in(field).unwrap_or_else(|| field.text())
}

/// Where the slider stands.
fn range_value(field: &Field) -> Option<String> {
    number_in(field).or_else(|| {
        let (min, _) = control::slider(&field.parameter)?;
        Some(Number::from_f64(min)?.to_string())
    })
}

/// What stands in the field as JSON writes it; none where that is no number. Tracked.
fn number_in(field: &Field) -> Option<String> {
    let is_whole = field.parameter.kind() == Kind::Integer;
    let number = read_typed(&field.text(), is_whole).ok()?;
    Some(number.to_string())
}

/// The slider was moved to `value`.
pub fn slide(field: &Field, value: &str) {
    if let Some(text) = control::slider_value(&field.parameter, value) {
        field.set_text(text);
    }
}

/// Arrow keys step.
pub fn step(field: &Field, event: &KeyboardEvent) {
    let up = match event.key().as_str() {
        "ArrowUp" => true,
        "ArrowDown" => false,
        _ => return,
    };
    let text = untrack(|| field.text());
    if let Some(next) = control::stepped(&field.parameter, &text, up) {
        event.prevent_default();
        field.type_text(next);
    }
}

/// Draws a random value. `dice` is the button that was pressed.
pub fn roll(field: &Field, dice: &Element) {
    let drawn = seed::seed(&field.parameter, random::bits());
    // A finger would open the keyboard by it.
    if !viewport::is_mainly_coarse() {
        field.type_text(drawn.to_string());
        if let Some(dice) = dice.dyn_ref::<HtmlElement>() {
            focus::in_place(dice);
        }
    }
    field.set(Entry::Value(Value::Number(drawn)));
    // A message below the form may then take up some of its room.
    let id = field.id.clone();
    after_frame(move || field::bring_into_sight(&id));
}
