use atelier_contract::function_schema::function_schema;
use atelier_contract::{ModelId, Schema};
use atelier_studio::share::highlight::Grammar;
use leptos::prelude::*;

use super::code::Code;
use crate::reactive::boxed::{dynamic, text};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;
use crate::view::parts::copy_button::CopyButton;

/// Shows the JSON schema of the function in the OpenAI function file.
#[component]
pub fn FunctionSchema(model: ModelId, is_near: RwSignal<bool>) -> impl IntoView {
    let catalog = contexts().catalog;
    dynamic(move || match catalog.schema(&model) {
        Load::Loaded(schema) if is_near.get() => {
            let listed = catalog.model(&model);
            let description = listed.map(|listed| listed.description);
            shown(&schema, &description.unwrap_or_default())
        }
        _ => ().into_any(),
    })
}

fn shown(schema: &Schema, description: &str) -> AnyView {
    let schema = format!("{:#}", function_schema(schema, description));
    let copied = schema.clone();
    view! {
        <div class="function-schema">
            <details>
                <summary>"JSON schema of the function"</summary>
                <Code
                    label="JSON schema of the function"
                    code=text(move || schema.clone())
                    grammar=Box::new(|| Grammar::Json)
                />
            </details>
            <CopyButton label="Copy JSON schema" text=move || copied.clone() />
        </div>
    }
    .into_any()
}
