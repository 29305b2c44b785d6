//! A number field. It is a text field in HTML, because `input type=number` hides text that it can't parse and rounds long
//! numbers. Arrow keys step exactly.

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

/// The field as HTML. `slider`: whether to add a slider. `dice`: whether to add a button that draws a random value.
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

/// The slider, for mouse and touch. Hidden from keyboards and screen readers, which use the text field.
fn range(field: &Field) -> Markup {
    let Some((min, max)) = control::slider(&field.parameter) else {
        return html! {};
    };
    let shown = |number: f64| Number::from_f64(number);
    html! {
        // `any`, so that it shows every value exactly. Values that the user slides to are rounded to the step later.
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

/// Returns `aria-valuenow`: the number, or the text if it is not a number.
fn number_now(field: &Field) -> String {
    number_in(field).unwrap_or_else(|| field.text())
}

/// Returns the position of the slider.
fn range_value(field: &Field) -> Option<String> {
    number_in(field).or_else(|| {
        let (min, _) = control::slider(&field.parameter)?;
        Some(Number::from_f64(min)?.to_string())
    })
}

/// Returns the number in JSON notation; `None` if the text is not a number. Tracked.
fn number_in(field: &Field) -> Option<String> {
    let is_whole = field.parameter.kind() == Kind::Integer;
    let number = read_typed(&field.text(), is_whole).ok()?;
    Some(number.to_string())
}

/// Sets the field after its slider was moved to `value`.
pub fn slide(field: &Field, value: &str) {
    if let Some(text) = control::slider_value(&field.parameter, value) {
        field.set_text(text);
    }
}

/// Steps the number on arrow keys.
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
    // On touch screens, typing would focus the field and open the keyboard.
    if !viewport::is_primary_pointer_coarse() {
        field.type_text(drawn.to_string());
        if let Some(dice) = dice.dyn_ref::<HtmlElement>() {
            focus::in_place(dice);
        }
    }
    field.set(Entry::Value(Value::Number(drawn)));
    // A message that appears below the form may cover the field.
    let id = field.id.clone();
    after_frame(move || field::scroll_into_view(&id));
}
