use atelier_contract::Entry;
use leptos::prelude::*;
use serde_json::Value;

use super::field::{Field, FieldFrame};
use crate::boxed::{handler, when};

/// On or off. Untouched without a default it is off and left out of the request.
#[component]
pub fn Switch(field: Field) -> impl IntoView {
    let (state, change) = (field.clone(), field.clone());
    let is_on = when(move || match state.shown() {
        Some(Entry::Value(Value::Bool(on))) => on,
        Some(Entry::Text(text)) => matches!(text.trim(), "true" | "yes" | "on" | "1"),
        _ => false,
    });
    view! {
        <FieldFrame field=field.clone()>
            <input
                type="checkbox"
                role="switch"
                class="switch"
                id=field.id.clone()
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:checked=is_on
                on:change=handler(move |event| {
                    change.set(Entry::Value(Value::Bool(event_target_checked(&event))));
                })
            />
        </FieldFrame>
    }
}
