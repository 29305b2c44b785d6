//! Text fields: a single line, or several lines that grow with the text.

use atelier_studio::form::control;
use atelier_studio::form::vocabulary::Vocabulary;
use maud::html;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlTextAreaElement};

use super::field::Field;
use super::frame::Parts;
use super::{set_attribute, set_value, steering};

/// Fields with longer texts (in bytes) do not grow: measuring 200,000 characters takes seconds.
const MAX_GROWING: usize = 20_000;

pub fn html(field: &Field) -> Parts {
    let text = field.text();
    Parts::of(html! {
        input type="text" id=(field.id) dir="auto" required[field.required] autocomplete="off"
            aria-describedby=(field.described_by()) value=[(!text.is_empty()).then_some(text)];
    })
}

pub fn long_html(field: &Field) -> Parts {
    let text = field.text();
    let lines = control::text_lines(&field.parameter, field.required);
    // Outside the form: at each key press Chromium's autofill reads the whole form of a text field, which took 5 of 17 ms
    // with 200 parameters.
    let has_no_form = lines > 1;
    let has_vocabulary = Vocabulary::of(&field.parameter).is_some();
    let aside = html! {
        span.muted.row.tight aria-hidden="true" {
            @if has_vocabulary { (steering::note()) }
            // The count is drawn by the style sheet: if a key press removes any text node, Chromium's undo works letter by
            // letter.
            span.characters title="Characters" data-count=(count(&text)) {}
        }
        // The space is reserved, so that nothing moves when the button appears.
        span.reset-place.earlier-place {}
    };
    let control = html! {
        div.long-text {
            @if has_vocabulary { div.marks aria-hidden="true" dir="auto" {} }
            textarea.very-long[text.len() > MAX_GROWING] id=(field.id) rows=(lines)
                form=[has_no_form.then_some("")] dir="auto" placeholder=(field.parameter.description)
                required[field.required] aria-describedby=(field.described_by())
                aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown" {
                // The HTML parser drops the first line break of a `textarea`.
                "\n" (text)
            }
        }
        @if has_vocabulary { (steering::below()) }
    };
    Parts {
        is_group: false,
        aside: Some(aside),
        control,
    }
}

pub fn show_long(field: &Field, within: &Element, control: &Element) {
    let text = field.text();
    let is_very_long = text.len() > MAX_GROWING;
    // Fails only for an invalid class name.
    let _ = (control.class_list()).toggle_with_force("very-long", is_very_long);
    if let Ok(Some(count)) = within.query_selector(".characters") {
        set_attribute(&count, "data-count", &self::count(&text));
    }
    show(&text, control);
}

pub fn show(text: &str, control: &Element) {
    if let Some(area) = control.dyn_ref::<HtmlTextAreaElement>() {
        if area.value() != text {
            area.set_value(text);
        }
    } else {
        set_value(control, text);
    }
}

/// Returns the number of characters; empty if there are none.
fn count(text: &str) -> String {
    match text.chars().count() {
        0 => String::new(),
        n => n.to_string(),
    }
}
