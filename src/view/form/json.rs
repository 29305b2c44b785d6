use crate::boxed::handler;
use leptos::prelude::*;

use super::field::{Field, FieldFrame};

/// Any JSON: for arrays, objects and types without a control of their own.
#[component]
pub fn Json(field: Field) -> impl IntoView {
    let (input, leave) = (field.clone(), field.clone());
    let kind = match field.parameter.type_name.as_str() {
        "" => "JSON".to_owned(),
        name => format!("JSON ({name})"),
    };
    view! {
        <FieldFrame field=field.clone() aside=view! { <span class="muted">{kind}</span> }.into_any()>
            <textarea
                class="mono"
                id=field.id.clone()
                rows="3"
                required=field.required
                spellcheck="false"
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=field.value()
                on:input=handler(move |event| input.set_text(event_target_value(&event)))
                on:blur=handler(move |_| leave.leave())
            ></textarea>
        </FieldFrame>
    }
}
