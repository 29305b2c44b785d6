//! A choice among a few short values, next to each other. Each value keeps its JSON type.

use atelier_contract::choice_text;
use atelier_studio::output::expected_output;
use maud::{Markup, html};

use super::choice::chosen;
use super::field::Field;
use super::frame::Parts;

pub fn html(field: &Field) -> Parts {
    let values = field.parameter.choices();
    let selected = chosen(field);
    let control = html! {
        div.segments translate="no" role="radiogroup" aria-labelledby=(field.label_id())
            aria-required=[field.required.then_some("true")] aria-describedby=(field.described_by()) {
            @for (at, value) in values.iter().enumerate() {
                @let text = choice_text(values, value);
                label {
                    // The first choice has the id, which the links of the problem summary point to.
                    input type="radio" id=[(at == 0).then_some(&field.id)] name=(field.id) value=(at)
                        checked[selected == Some(at)];
                    span {
                        @if let Some(ratio) = expected_output::shape(&text) { (ratio_icon(&ratio)) }
                        (text)
                    }
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

/// An icon with the aspect ratio `ratio`, such as `16 / 9`: an empty SVG whose view box has that ratio.
fn ratio_icon(ratio: &str) -> Markup {
    html! { svg.shape viewBox={ "0 0 " (ratio.replace('/', "")) } aria-hidden="true" {} }
}
