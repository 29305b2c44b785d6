use crate::state::contexts::contexts;
use atelier_contract::{Integration, ModelId, path, python_file};
use icondata_lu::LuDownload;
use leptos::prelude::*;

use super::file::ServiceFile;
use super::preview::DownloadFile;
use crate::browser::{download, http};
use crate::reactive::boxed::{dynamic, handler, spawn};
use crate::view::parts::glyph::Glyph;

/// The maximum size of the archive.
const MAX_BYTES: u64 = 50_000_000;

/// Files that are not part of INTERFACE.md. Shown if the service's list of models announces them.
#[component]
pub fn Additional(model: ModelId) -> impl IntoView {
    let catalog = contexts().catalog;
    dynamic(move || {
        let models = catalog.models();
        let offered = models.loaded().map(|list| list.integrations.as_slice());
        shown(&model, offered.unwrap_or_default())
    })
}

fn shown(model: &ModelId, offered: &[String]) -> AnyView {
    let has = |what: &str| offered.iter().any(|word| word == what);
    let assistants = has(Integration::MCP).then(|| {
        let file = ServiceFile::new("The MCP server", python_file::mcp(model), &path::mcp(model));
        let name = file.name.clone();
        view! {
            <div class="panel integration">
                <div class="integration-head">
                    <h3>"MCP server"</h3>
                    <p class="muted">
                        "Lets an assistant that speaks the Model Context Protocol run this model as a tool."
                    </p>
                </div>
                <DownloadFile label="Download MCP server" file />
                <ol class="steps">
                    <li>"Run " <code>"pip install \"mcp>=2,<3\" requests"</code> "."</li>
                    <li>
                        "Add " <code>{name}</code>
                        " to your assistant's configuration, with User ID and Access token: see the start of the file."
                    </li>
                </ol>
            </div>
        }
        .into_any()
    });
    let functions = has(Integration::OPENAI_FUNCTIONS).then(|| {
        let file = ServiceFile::new(
            "The OpenAI functions file",
            python_file::FUNCTIONS.into(),
            path::OPENAI_FUNCTIONS,
        );
        view! { <DownloadFile label="Download all OpenAI functions" file /> }.into_any()
    });
    let nodes = has(Integration::COMFYUI_NODES).then(|| view! { <DownloadNodes /> }.into_any());
    let servers = has(Integration::MCP).then(|| {
        let file = ServiceFile::new("The MCP server", python_file::MCP.into(), path::MCP);
        view! { <DownloadFile label="Download MCP server of all models" file /> }.into_any()
    });
    let has_any = functions.is_some() || nodes.is_some() || servers.is_some();
    let all = has_any.then(|| {
        view! {
            <div class="panel integration">
                <div class="integration-head">
                    <h3>"All models"</h3>
                    <p class="muted">
                        "Files for all models of this service. The ComfyUI nodes come as one folder for "
                        <code>"ComfyUI/custom_nodes"</code> ", with a workflow for each."
                    </p>
                </div>
                {functions}
                {nodes}
                {servers}
            </div>
        }
        .into_any()
    });
    if all.is_none() {
        return ().into_any();
    }
    view! {
        <div class="two">
            {assistants}
            {all}
        </div>
    }
    .into_any()
}

/// Saves the archive of all ComfyUI nodes.
#[component]
fn DownloadNodes() -> AnyView {
    let (notices, session) = (contexts().notices, contexts().session);
    let busy = RwSignal::new(false);
    let save = move |_| {
        let url = session
            .settings_untracked()
            .address
            .url(path::COMFYUI_NODES);
        busy.set(true);
        spawn(async move {
            let name = python_file::NODES;
            match http::get_blob(&url, MAX_BYTES).await {
                Ok(file) if download::blob(name, &file) => notices.say(format!("{name} saved.")),
                Ok(_) => notices.problem(format!("{name} could not be saved.")),
                Err(error) => notices.problem(format!(
                    "{name} could not be fetched. {}",
                    error.user_message()
                )),
            }
            busy.try_set(false);
        });
    };
    view! {
        <button class="button" type="button" prop:disabled=busy on:click=handler(save)>
            <Glyph icon=LuDownload />
            "Download all ComfyUI nodes"
        </button>
    }
    .into_any()
}
