use atelier_contract::choice_text;
use atelier_engine::control::several;
use leptos::prelude::*;

use super::field::{Field, FieldFrame};
use crate::boxed::{handler, memo, when};

/// Any number of permitted values, sent as a list; each keeps its JSON type.
#[component]
pub fn Several(field: Field) -> impl IntoView {
    let state = field.clone();
    let chosen = memo(move || several::chosen(&state.parameter, state.shown().as_ref()));
    let options = field.parameter.choices().iter().enumerate();
    let options = options
        .map(|(at, value)| {
            let change = field.clone();
            let toggle = move |_| {
                let shown = untrack(|| change.shown());
                change.put_back(several::toggled(&change.parameter, shown.as_ref(), at));
            };
            // The summary's links lead to the first choice.
            let id = (at == 0).then(|| field.id.clone());
            view! {
                <label class="chip">
                    <input
                        type="checkbox"
                        id=id
                        prop:checked=when(move || chosen.read().get(at) == Some(&true))
                        on:change=handler(toggle)
                    />
                    <span>{choice_text(field.parameter.choices(), value)}</span>
                </label>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <FieldFrame field=field.clone() group=true>
            <div
                class="chips"
                translate="no"
                role="group"
                aria-labelledby=field.label_id()
                aria-describedby=field.described_by()
            >
                {options}
            </div>
        </FieldFrame>
    }
}
