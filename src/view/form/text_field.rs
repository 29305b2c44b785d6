use leptos::prelude::*;

use super::field::{Field, FieldFrame};
use crate::boxed::{handler, text};

/// Several lines, growing with what is typed.
#[component]
pub fn LongText(field: Field) -> impl IntoView {
    let (input, leave) = (field.clone(), field.clone());
    let count = {
        let field = field.clone();
        text(move || match field.text().chars().count() {
            0 => String::new(),
            n => n.to_string(),
        })
    };
    view! {
        <FieldFrame
            field=field.clone()
            aside=view! { <span class="muted" title="Characters" aria-hidden="true">{count}</span> }.into_any()
        >
            <textarea
                id=field.id.clone()
                rows="3"
                required=field.required
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=field.value()
                on:input=handler(move |event| input.set_text(event_target_value(&event)))
                on:blur=handler(move |_| leave.leave())
            ></textarea>
        </FieldFrame>
    }
}

/// One line.
#[component]
pub fn Text(field: Field) -> impl IntoView {
    let (input, leave) = (field.clone(), field.clone());
    view! {
        <FieldFrame field=field.clone()>
            <input
                type="text"
                id=field.id.clone()
                required=field.required
                autocomplete="off"
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=field.value()
                on:input=handler(move |event| input.set_text(event_target_value(&event)))
                on:blur=handler(move |_| leave.leave())
            />
        </FieldFrame>
    }
}
