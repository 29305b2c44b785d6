use crate::app::contexts;
use crate::erased::{handler, spawn};
use atelier_engine::output::{self, OutputKind, SafeUrl};
use atelier_engine::{Task, file_name};
use icondata_lu::{LuDownload, LuExternalLink};
use leptos::prelude::*;

use crate::browser::{download, http};
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::media::MediaView;

/// The outputs of a task: they are what all this is for.
#[component]
pub fn Outputs(task: Task, outputs: Vec<String>) -> impl IntoView {
    if outputs.is_empty() {
        return view! { <p class="muted">"Completed, without any output."</p> }.into_any();
    }
    let total = outputs.len();
    let list = outputs
        .into_iter()
        .enumerate()
        .map(|(at, url)| view! { <Output task=task.clone() url n=at + 1 total /> }.into_any())
        .collect_view();
    view! {
        <ul class="outputs" data-count=total.min(4).to_string()>
            {list}
        </ul>
    }
    .into_any()
}

#[component]
fn Output(task: Task, url: String, n: usize, total: usize) -> impl IntoView {
    let address = contexts().session.settings_untracked().address;
    let notices = contexts().notices;
    let kind = OutputKind::of(&url, &task.model.category);
    let what = match kind {
        OutputKind::Image => "Image",
        OutputKind::Video => "Video",
        OutputKind::Audio => "Audio",
        OutputKind::Other => "Output",
    };
    let which = if total > 1 {
        format!("{what} {n} of {total}")
    } else {
        what.to_owned()
    };
    let label = match task.input.title() {
        "" => which.clone(),
        title => format!("{which}: {title}"),
    };
    let safe = SafeUrl::media(&url, address.as_str());
    let open = safe.clone().filter(SafeUrl::is_link).map(|url| {
        view! {
            <a
                class="button quiet"
                href=url.as_str().to_owned()
                target="_blank"
                rel="noopener noreferrer"
            >
                <Glyph icon=LuExternalLink />
                "Open"
            </a>
        }
        .into_any()
    });
    let save = safe.map(|safe| {
        let (title, model) = (task.input.title().to_owned(), task.model.clone());
        let busy = RwSignal::new(false);
        let save = move |_| {
            let (safe, title, model) = (safe.clone(), title.clone(), model.clone());
            busy.set(true);
            spawn(async move {
                match http::get_blob(safe.as_str()).await {
                    Ok(blob) => {
                        let extension = output::extension(&blob.type_(), safe.as_str(), kind);
                        download::blob(&file_name::output(&model, &title, n, extension), &blob);
                    }
                    Err(error) => notices.problem(format!(
                        "The output could not be fetched for saving. {} Open it and save it from there.",
                        error.sentence()
                    )),
                }
                busy.try_set(false);
            });
        };
        view! {
            <button class="button quiet" type="button" prop:disabled=busy on:click=handler(save)>
                <Glyph icon=LuDownload />
                "Download"
            </button>
        }
    });
    let copied = url.clone();
    view! {
        <li class="output" data-kind=format!("{kind:?}").to_ascii_lowercase()>
            <figure>
                <MediaView url kind label />
                <figcaption>
                    <span class="muted">{which}</span>
                    <span class="row tight">
                        {open} <CopyButton label="Copy URL" text=move || copied.clone() /> {save}
                    </span>
                </figcaption>
            </figure>
        </li>
    }
}
