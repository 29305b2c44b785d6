//! A secret, which is in no draft of a form.

use maud::{Markup, html};
use web_sys::Element;

use super::field::Field;
use super::frame::Parts;
use super::set_attribute;

pub fn html(field: &Field) -> Parts {
    let control = html! {
        // Of no form: what a browser keeps of forms has none of it. Of a password it offers to keep nothing.
        input type="password" id=(field.id) form="" required[field.required] autocomplete="new-password"
            spellcheck="false" aria-describedby=(field.described_by());
        p.hint { "Kept in this tab only: in no link, file or history." }
    };
    Parts {
        is_group: false,
        aside: Some(show_button(field)),
        control,
    }
}

fn show_button(field: &Field) -> Markup {
    html! {
        button.button.quiet.small type="button" data-action="show" aria-label={ "Show " (field.parameter.name) } {
            "Show"
        }
    }
}

/// Shows the secret, or hides it again.
pub fn show_or_hide(field: &Field, input: &Element, button: &Element) {
    let is_shown = input.get_attribute("type").as_deref() == Some("text");
    // As a text it must not come back with the page, either.
    let (kind, remembered, word) = match is_shown {
        true => ("password", "new-password", "Show"),
        false => ("text", "off", "Hide"),
    };
    let label = format!("{word} {}", field.parameter.name);
    let attributes = [
        (input, "type", kind),
        (input, "autocomplete", remembered),
        (button, "aria-label", &label),
    ];
    for (element, name, value) in attributes {
        set_attribute(element, name, value);
    }
    button.set_text_content(Some(word));
}
