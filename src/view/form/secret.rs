//! The field of a secret, whose value is not in the draft.

use maud::{Markup, html};
use web_sys::Element;

use super::field::Field;
use super::frame::Parts;
use super::set_attribute;

pub fn html(field: &Field) -> Parts {
    let control = html! {
        // Outside the form, so that the browser does not store it with form data; `new-password`, so that it does not
        // offer to save a password.
        input type="password" id=(field.id) form="" required[field.required] autocomplete="new-password"
            spellcheck="false" aria-describedby=(field.described_by());
        p.hint { "Kept in this tab only, not in links, files or history." }
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

/// Shows or hides the secret.
pub fn show_or_hide(field: &Field, input: &Element, button: &Element) {
    let is_shown = input.get_attribute("type").as_deref() == Some("text");
    // `off`, so that the browser does not restore the visible text with the page.
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
