//! Checkboxes for any number of permitted values, sent as a list. Each value keeps its JSON type.

use atelier_contract::choice_text;
use atelier_studio::form::control::several;
use leptos::prelude::*;
use maud::html;

use super::field::Field;
use super::frame::Parts;

/// Returns for each permitted value whether it is chosen.
pub fn chosen(field: &Field) -> Vec<bool> {
    several::chosen(&field.parameter, field.shown().as_ref())
}

pub fn html(field: &Field) -> Parts {
    let values = field.parameter.choices();
    let chosen = chosen(field);
    let control = html! {
        div.chips translate="no" role="group" aria-labelledby=(field.label_id())
            aria-describedby=(field.described_by()) {
            @for (at, value) in values.iter().enumerate() {
                label.chip {
                    // The first choice has the id, which the links of the problem summary point to.
                    input type="checkbox" id=[(at == 0).then_some(&field.id)] value=(at)
                        checked[chosen.get(at) == Some(&true)];
                    span { (choice_text(values, value)) }
                }
            }
        }
    };
    Parts {
        is_group: true,
        aside: None,
        control,
    }
}

/// Adds or removes the permitted value with this index.
pub fn toggle(field: &Field, at: usize) {
    let shown = untrack(|| field.shown());
    field.restore(several::toggled(&field.parameter, shown.as_ref(), at));
}
