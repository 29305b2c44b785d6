use crate::state::contexts::contexts;
use atelier_studio::share::highlight::Grammar;
use icondata_lu::LuDownload;
use leptos::prelude::*;

use super::code::Code;
use super::file::ServiceFile;
use crate::browser::download;
use crate::reactive::boxed::{dynamic, effect, handler, spawn, text};
use crate::state::catalog::Load;
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::failure::Failure;
use crate::view::parts::glyph::Glyph;

/// Shows a Python file of the service. Fetches it when it is near the screen.
#[component]
pub fn Preview(file: ServiceFile, is_near: RwSignal<bool>) -> impl IntoView {
    let fetched = file.clone();
    effect(move || {
        if is_near.get() {
            fetched.fetch();
        }
    });
    let (measured, copied) = (file.clone(), file.clone());
    let (what, name) = (file.what, file.name.clone());
    let size = move || match measured.load() {
        Load::Loaded(text) => format!(
            "{} lines · {} kB",
            text.lines().count(),
            text.len().div_ceil(1000)
        ),
        _ => String::new(),
    };
    view! {
        <div class="preview" role="group" aria-label=what.trim_start_matches("The ")>
            <div class="preview-head">
                <code>{name}</code>
                <span class="muted" prop:textContent=text(size)></span>
                {dynamic(move || match copied.load() {
                    Load::Loaded(text) => {
                        view! { <CopyButton label="Copy" text=move || text.to_string() /> }.into_any()
                    }
                    _ => ().into_any(),
                })}
            </div>
            {dynamic(move || shown(&file, is_near.get()))}
        </div>
    }
}

fn shown(file: &ServiceFile, is_near: bool) -> AnyView {
    match file.load() {
        Load::Loading if !is_near => view! { <div class="preview-space"></div> }.into_any(),
        Load::Loading => {
            let label = format!("Loading {}", file.name);
            view! { <div class="skeleton" role="status" aria-label=label></div> }.into_any()
        }
        Load::Failed(error) => {
            let (what, retried) = (file.what, file.clone());
            view! { <Failure what error retry=Box::new(move || retried.fetch()) /> }.into_any()
        }
        Load::Loaded(code) => {
            let label = file.name.clone();
            let code = text(move || code.to_string());
            view! { <Code label code grammar=Box::new(|| Grammar::Python) /> }.into_any()
        }
    }
}

/// A button that saves a file under its name.
#[component]
pub fn DownloadFile(label: &'static str, file: ServiceFile) -> impl IntoView {
    let notices = contexts().notices;
    let busy = RwSignal::new(false);
    let save = move |_| {
        let file = file.clone();
        busy.set(true);
        spawn(async move {
            let name = &file.name;
            match file.text().await {
                Ok(text) => {
                    download::text(name, "text/x-python", &text);
                    notices.say(format!("{name} saved."));
                }
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
            {label}
        </button>
    }
}
