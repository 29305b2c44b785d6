//! A text: of one line, or of several, growing with what is typed.

use atelier_studio::form::control;
use atelier_studio::form::vocabulary::Vocabulary;
use maud::html;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlTextAreaElement};

use super::field::Field;
use super::frame::Parts;
use super::{set_attribute, set_value, steering};

/// A text of more characters than this does not make its field grow: to measure 200,000 takes seconds.
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
    // At each key Chromium's autofill reads the whole form that a text is of: 5 of 17 ms in one of 200 parameters.
    let has_no_form = lines > 1;
    let has_vocabulary = Vocabulary::of(&field.parameter).is_some();
    let aside = html! {
        span.muted.row.tight aria-hidden="true" {
            @if has_vocabulary { (steering::understood()) }
            // Drawn by the style sheet: where a node is removed at a key, wherever that is, Chromium takes back what is
            // typed letter by letter.
            span.characters title="Characters" data-count=(count(&text)) {}
        }
        // As at the way back to a default: nothing moves when it comes.
        span.reset-place.earlier-place {}
    };
    let control = html! {
        div.long-text {
            @if has_vocabulary { div.marks aria-hidden="true" dir="auto" {} }
            textarea.very-long[text.len() > MAX_GROWING] id=(field.id) rows=(lines)
                form=[has_no_form.then_some("")] dir="auto" placeholder=(field.parameter.description)
                required[field.required] aria-describedby=(field.described_by())
                aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown" {
                // The parser leaves out the first line break.
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
    // It fails only where the name is none.
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

/// The number of characters; nothing where there are none.
fn count(text: &str) -> String {
    match text.chars().count() {
        0 => String::new(),
        n => n.to_string(),
    }
}
