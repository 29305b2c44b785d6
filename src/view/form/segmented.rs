use atelier_contract::{Entry, choice_text};
use atelier_engine::output;
use leptos::prelude::*;

use super::choice::chosen;
use super::field::{Field, FieldFrame};
use crate::boxed::{handler, memo, when};

/// A few short values side by side; each keeps its JSON type.
#[component]
pub fn Segmented(field: Field) -> impl IntoView {
    let state = field.clone();
    let selected = memo(move || chosen(&state));
    let values = field.parameter.choices().to_vec();
    let name = field.id.clone();
    let options = values
        .into_iter()
        .enumerate()
        .map(|(at, value)| {
            let text = choice_text(field.parameter.choices(), &value);
            let shape = output::shape(&text)
                .map(|ratio| view! { <i class="shape" style:aspect-ratio=ratio></i> }.into_any());
            let change = field.clone();
            // The summary's links lead to the first choice.
            let id = (at == 0).then(|| field.id.clone());
            view! {
                <label>
                    <input
                        type="radio"
                        id=id
                        name=name.clone()
                        prop:checked=when(move || selected.get() == Some(at))
                        on:change=handler(move |_| change.set(Entry::Value(value.clone())))
                    />
                    <span>{shape} {text}</span>
                </label>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <FieldFrame field=field.clone() group=true>
            <div
                class="segments"
                translate="no"
                role="radiogroup"
                aria-labelledby=field.label_id()
                aria-required=field.required.then_some("true")
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
            >
                {options}
            </div>
        </FieldFrame>
    }
}
