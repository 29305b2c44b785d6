use crate::app::contexts;
use crate::erased::{handler, spawn};
use atelier_contract::{ModelId, path};
use atelier_engine::file_name;
use icondata_lu::LuDownload;
use leptos::prelude::*;

use super::parts::glyph::Glyph;
use crate::browser::{download, http};

/// The Python files that the service makes for a model, and how to install them.
pub fn integrations(model: ModelId) -> AnyView {
    let function = file_name::python_function(&model);
    let node = file_name::python_node(&model);
    view! {
        <section class="integrations" aria-labelledby="integrations-title">
            <h2 id="integrations-title">"Integrations"</h2>
            <div class="two">
                <div class="panel">
                    <h3>"OpenAI function"</h3>
                    <p class="muted">
                        "Lets a chat model with function calling run this model from Python."
                    </p>
                    <DownloadFile
                        label="Download OpenAI function"
                        path=path::openai_function(&model)
                        name=function.clone()
                    />
                    <ol class="steps">
                        <li>
                            "Put " <code>{function}</code> " beside your program and run "
                            <code>"pip install requests openai"</code> "."
                        </li>
                        <li>
                            "Set " <code>"SERVICE_UID"</code> " and " <code>"SERVICE_TOKEN"</code>
                            " in the environment."
                        </li>
                        <li>"Import it; the example at its end shows one whole conversation."</li>
                    </ol>
                </div>
                <div class="panel">
                    <h3>"ComfyUI node"</h3>
                    <p class="muted">"Adds this model as a node whose output is the result URL."</p>
                    <DownloadFile
                        label="Download ComfyUI node"
                        path=path::comfyui_node(&model)
                        name=node.clone()
                    />
                    <ol class="steps">
                        <li>"Put " <code>{node}</code> " into " <code>"ComfyUI/custom_nodes/"</code> "."</li>
                        <li>
                            "Set " <code>"SERVICE_UID"</code> " and " <code>"SERVICE_TOKEN"</code>
                            " in the environment and restart ComfyUI."
                        </li>
                        <li>"Add it from the node menu, group " <em>{model.category.clone()}</em> "."</li>
                    </ol>
                </div>
            </div>
        </section>
    }
    .into_any()
}

/// Fetches a text file of the service and saves it under a good name.
#[component]
fn DownloadFile(label: &'static str, path: String, name: String) -> impl IntoView {
    let session = contexts().session;
    let notices = contexts().notices;
    let busy = RwSignal::new(false);
    let save = move |_| {
        let url = session.settings_untracked().address.url(&path);
        let name = name.clone();
        busy.set(true);
        spawn(async move {
            match http::get_text(&url).await {
                Ok(text) => {
                    download::text(&name, "text/x-python", &text);
                    notices.say(format!("{name} saved."));
                }
                Err(error) => {
                    notices.problem(format!("{name} could not be fetched. {}", error.sentence()))
                }
            }
            busy.try_set(false);
        });
    };
    view! {
        <button class="button" type="button" prop:disabled=busy on:click=handler(save)>
            <Glyph icon=LuDownload />
            {label}
        </button>
    }
}
