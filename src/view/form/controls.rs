//! Dispatches to the file of each kind of control.

use atelier_contract::Entry;
use atelier_studio::form::control::Control;
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

use super::field::{Field, Kind};
use super::frame::Parts;
use super::{
    choice, json, media, media_list, number, secret, segmented, several, switch, text_field,
};

/// Whether the value is set after the field is mounted, and not written into its HTML. A secret would end up in a saved page,
/// the data of an image would be stored twice, and the HTML parser replaces NUL.
pub fn is_set(field: &Field) -> bool {
    match field.kind {
        Kind::Secret | Kind::Parameter(Control::Media(_)) => true,
        _ => is_typed(field) && field.text().contains('\0'),
    }
}

/// The control as HTML.
pub fn html(field: &Field) -> Parts {
    match field.kind {
        Kind::Secret => secret::html(field),
        Kind::Parameter(control) => match control {
            Control::LongText => text_field::long_html(field),
            Control::Text => text_field::html(field),
            Control::Media(_) => media::html(field),
            Control::MediaList(_) => media_list::html(field),
            Control::Segmented => segmented::html(field),
            Control::Select => choice::html(field),
            Control::Several => several::html(field),
            Control::Number { slider } => number::html(field, slider, false),
            Control::Seed => number::html(field, false, true),
            Control::Switch => switch::html(field),
            Control::Json => json::html(field),
        },
    }
}

/// Updates the control to the value of the field. `within`: the element of the field.
pub fn show(field: &Field, within: &Element) {
    let Some(control) = described(field, within) else {
        return;
    };
    match field.kind {
        Kind::Secret => text_field::show(&field.text(), &control),
        Kind::Parameter(kind) => match kind {
            Control::LongText => text_field::show_long(field, within, &control),
            Control::Text | Control::Media(_) | Control::Json => {
                text_field::show(&field.text(), &control);
            }
            Control::Select => choice::show(field, &control),
            Control::Number { .. } | Control::Seed => number::show(field, within),
            Control::Segmented => {
                let chosen = choice::chosen(field);
                check(&control, |at| chosen == Some(at));
            }
            Control::Several => {
                let chosen = several::chosen(field);
                check(&control, |at| chosen.get(at) == Some(&true));
            }
            Control::Switch => check_one(&control, switch::is_on(field)),
            // Its view follows the field.
            Control::MediaList(_) => {}
        },
    }
}

/// Returns the element that `aria-describedby` and `aria-invalid` are set on: the control, or the group of controls.
pub fn described(field: &Field, within: &Element) -> Option<Element> {
    let selector = format!("[aria-describedby~={}]", field.problem_id());
    within.query_selector(&selector).ok().flatten()
}

fn check(group: &Element, is_checked: impl Fn(usize) -> bool) {
    let inputs = group.get_elements_by_tag_name("input");
    for at in 0..inputs.length() {
        if let Some(input) = inputs.item(at) {
            check_one(&input, is_checked(at as usize));
        }
    }
}

fn check_one(input: &Element, is_checked: bool) {
    if let Some(input) = input.dyn_ref::<HtmlInputElement>() {
        input.set_checked(is_checked);
    }
}

/// Handles an `input` event of a text field or a slider.
pub fn input(field: &Field, control: &Element, text: String) {
    let is_slider = control.get_attribute("type").as_deref() == Some("range");
    match field.kind {
        Kind::Parameter(Control::Number { .. }) if is_slider => number::slide(field, &text),
        _ if is_typed(field) && control.id() == field.id => field.set_text(text),
        _ => {}
    }
}

/// Handles a `change` event of a choice.
pub fn change(field: &Field, control: &Element, text: &str) {
    let is_checked = || {
        let input = control.dyn_ref::<HtmlInputElement>();
        input.is_some_and(HtmlInputElement::checked)
    };
    match field.kind {
        Kind::Parameter(Control::Select | Control::Segmented) => choice::choose(field, text),
        Kind::Parameter(Control::Several) => {
            if let Ok(at) = text.parse() {
                several::toggle(field, at);
            }
        }
        Kind::Parameter(Control::Switch) => field.set(Entry::Value(Value::Bool(is_checked()))),
        _ => {}
    }
}

/// Whether the control is a text field.
pub fn is_typed(field: &Field) -> bool {
    match field.kind {
        Kind::Secret => true,
        Kind::Parameter(control) => match control {
            Control::LongText | Control::Text | Control::Media(_) | Control::Json => true,
            Control::Number { .. } | Control::Seed => true,
            Control::Segmented | Control::Select | Control::Several | Control::Switch => false,
            // Its text field contains an address that is not added yet.
            Control::MediaList(_) => false,
        },
    }
}
