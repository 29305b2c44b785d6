//! Ways to use a model in other programs: the Python files that the service generates, the JSON schema of the function, and
//! the form as code.

mod additional;
mod code;
mod copy_as;
mod environment;
mod file;
mod near;
mod preview;
mod schema;

use crate::state::contexts::contexts;
use atelier_contract::{Draft, ModelId, path, python_file};
use leptos::html::Div;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, when};
use crate::state::catalog::Load;
use additional::Additional;
use copy_as::CopyAs;
use environment::set_environment;
use file::ServiceFile;
use near::observe_near;
use preview::{DownloadFile, Preview};
use schema::FunctionSchema;

/// Buttons that download both Python files.
pub fn downloads(model: &ModelId) -> AnyView {
    let (function, node) = files(model);
    view! {
        <div class="row tight downloads">
            <DownloadFile label="Download OpenAI function" file=function />
            <DownloadFile label="Download ComfyUI node" file=node />
        </div>
    }
    .into_any()
}

/// Returns the OpenAI function file and the ComfyUI node file.
fn files(model: &ModelId) -> (ServiceFile, ServiceFile) {
    let function = ServiceFile::new(
        "The OpenAI function file",
        python_file::function(model),
        &path::openai_function(model),
    );
    let node = ServiceFile::new(
        "The ComfyUI node file",
        python_file::node(model),
        &path::comfyui_node(model),
    );
    (function, node)
}

/// The section of a model's page. Fetches nothing until it is near the screen. `draft`: the single form, which is shown as code.
pub fn integrations(model: ModelId, draft: RwSignal<Draft>) -> AnyView {
    let catalog = contexts().catalog;
    let place = NodeRef::<Div>::new();
    let own_model = model.clone();
    // Until the form is loaded, the section is higher up than later.
    let is_settled = when(move || !matches!(catalog.schema(&own_model), Load::Loading));
    let is_near = observe_near(place, is_settled);
    let (function, node) = files(&model);
    let module = python_file::module(&model);
    view! {
        <section class="integrations" aria-labelledby="integrations-title">
            <h2 id="integrations-title">"Integrations"</h2>
            <div class="two" node_ref=place>
                <div class="panel integration">
                    <div class="integration-head">
                        <h3>"OpenAI function"</h3>
                        <p class="muted">
                            "Lets a chat model with function calling run this model from Python."
                        </p>
                    </div>
                    <DownloadFile label="Download OpenAI function" file=function.clone() />
                    <ol class="steps">
                        <li>
                            "Put " <code>{function.name.clone()}</code> " next to your program and run "
                            <code>"pip install requests openai"</code> "."
                        </li>
                        <li>{dynamic(|| set_environment(""))}</li>
                        <li>
                            <code>{format!("import {module}")}</code>
                            "; the example at the end of the file shows a complete conversation."
                        </li>
                    </ol>
                    <Preview file=function.clone() is_near />
                    <FunctionSchema model=model.clone() is_near />
                </div>
                <div class="panel integration">
                    <div class="integration-head">
                        <h3>"ComfyUI node"</h3>
                        <p class="muted">
                            "Adds this model as a node that passes its results and their addresses to other nodes."
                        </p>
                    </div>
                    <DownloadFile label="Download ComfyUI node" file=node.clone() />
                    <ol class="steps">
                        <li>
                            "Save it as "
                            <code>{format!("ComfyUI/custom_nodes/{}", node.name)}</code> "."
                        </li>
                        <li>{dynamic(|| set_environment("; restart ComfyUI"))}</li>
                        <li>
                            "Find " <em>{model.category.clone()}</em>
                            " in the node menu, and link its result to a node that saves or shows it. \
                             Unconnected nodes don't run and cost nothing."
                        </li>
                    </ol>
                    <Preview file=node.clone() is_near />
                </div>
            </div>
            <Additional model=model.clone() />
            <CopyAs model draft is_near />
        </section>
    }
    .into_any()
}
