use atelier_engine::function_schema;
use atelier_engine::highlight::Grammar;
use leptos::prelude::*;

use super::code::Code;
use super::file::ServiceFile;
use crate::boxed::{dynamic, text};
use crate::catalog::Load;
use crate::view::parts::copy_button::CopyButton;

/// The JSON schema of the function in an OpenAI function file, on its own.
#[component]
pub fn FunctionSchema(file: ServiceFile) -> impl IntoView {
    dynamic(move || shown(&file))
}

fn shown(file: &ServiceFile) -> AnyView {
    let Load::Loaded(file) = file.load() else {
        return ().into_any();
    };
    let Some(schema) = function_schema::of_file(&file) else {
        return view! {
                <p class="muted">
                    "The function's JSON schema is in the file, but not in a form that can be shown on its own."
                </p>
            }
            .into_any();
    };
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
