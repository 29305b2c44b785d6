//! A text field for any JSON: for arrays, objects and types that have no other control.

use maud::html;

use super::field::Field;
use super::frame::Parts;

pub fn html(field: &Field) -> Parts {
    let kind = match field.parameter.type_name.as_str() {
        "" => "JSON".to_owned(),
        name => format!("JSON ({name})"),
    };
    Parts {
        is_group: false,
        aside: Some(html! { span.muted { (kind) } }),
        control: html! {
            textarea.mono id=(field.id) rows="3" required[field.required] spellcheck="false"
                aria-describedby=(field.described_by()) {
                // The HTML parser drops the first line break of a `textarea`.
                "\n" (field.text())
            }
        },
    }
}
