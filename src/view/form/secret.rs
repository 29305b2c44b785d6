use atelier_contract::{Draft, Problem, Schema};
use leptos::prelude::*;

use super::field::{Field, FieldFrame};
use crate::boxed::{effect, handler, text};

/// The fields of a model's secrets, which are in no draft. Their ids follow those of its parameters.
pub fn secrets(schema: &Schema, typed: RwSignal<Draft>, attempted: RwSignal<bool>) -> AnyView {
    let first = schema.parameters().count();
    let refused: Signal<Vec<Problem>> = RwSignal::new(Vec::new()).into();
    let fields: Vec<Field> = schema
        .secret_parameters()
        .enumerate()
        .map(|(at, (parameter, required))| {
            let at = first + at;
            Field::new(at, parameter.clone(), required, typed, attempted, refused)
        })
        .collect();
    let views = fields.iter().cloned().map(secret).collect_view();
    effect(move || {
        let typed = typed.read();
        fields.iter().for_each(|field| field.follow(&typed));
    });
    views.into_any()
}

fn secret(field: Field) -> AnyView {
    let (input, leave) = (field.clone(), field.clone());
    let is_shown = RwSignal::new(false);
    let name = field.parameter.name.clone();
    let word = move || if is_shown.get() { "Hide" } else { "Show" };
    let show = view! {
        <button
            class="button quiet small"
            type="button"
            aria-label=text(move || format!("{} {name}", word()))
            on:click=handler(move |_| is_shown.update(|is| *is = !*is))
            prop:textContent=text(move || word().to_owned())></button>
    };
    let remembered = text(move || {
        if is_shown.get() {
            "off"
        } else {
            "new-password"
        }
        .to_owned()
    });
    let kind = text(move || if is_shown.get() { "text" } else { "password" }.to_owned());
    view! {
        <FieldFrame field=field.clone() aside=show.into_any()>
            <input
                type=kind
                id=field.id.clone()
                // No form's: what a browser keeps of forms has none of it.
                form=""
                required=field.required
                // Of a password it offers to keep nothing; as a text it must not come back with the page, either.
                autocomplete=remembered
                spellcheck="false"
                aria-describedby=field.described_by()
                aria-invalid=field.invalid()
                prop:value=field.value()
                on:input=handler(move |event| input.set_text(event_target_value(&event)))
                on:blur=handler(move |_| leave.leave())
            />
            <p class="hint">"Kept in this tab only: in no link, file or history."</p>
        </FieldFrame>
    }
    .into_any()
}
