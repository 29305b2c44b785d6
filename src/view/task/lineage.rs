//! The lineage of an output: what it was made from and what was made from it.

use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::{Task, UploadedFile};
use atelier_studio::history::lineage::{self, Family, Relative};
use atelier_studio::navigation::route::{Route, with_query_value};
use atelier_studio::output::{output_cache, upload_copy};
use icondata_lu::LuRefreshCw;
use leptos::prelude::*;

use super::again::Again;
use super::small_output;
use crate::browser::location;
use crate::reactive::boxed::{dynamic, handler, memo};
use crate::state::contexts::contexts;
use crate::view::lightbox::shown::SHOWN;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::status_note::StatusNote;

/// The relatives of a task's output at `position`, or of all its outputs if that is `None`. Empty if there are no relatives.
pub fn lineage(task: Task, position: Option<usize>) -> AnyView {
    let runner = contexts().runner;
    let uploads = task.uploads.clone();
    // One note for all rows, outside of them: a submission adds a relative, which rebuilds the rows.
    let answer = StatusNote::default();
    let family = memo(move || {
        runner.track_phases();
        runner.with_tasks(|tasks| lineage::family(&task, position, tasks))
    });
    let tree = dynamic(move || {
        let Family {
            ancestors,
            descendants,
        } = family.get();
        let files = uploads.iter().map(upload_row);
        let from = files.chain(ancestors.into_iter().map(|it| row(it, answer)));
        let into = descendants.into_iter().map(|it| row(it, answer));
        let branches = [
            branch("Made from", from.collect()),
            branch("Used in", into.collect()),
        ];
        match branches.iter().all(Option::is_none) {
            true => ().into_any(),
            false => view! {
                <section class="lineage" aria-label="Lineage">
                    {branches.into_iter().flatten().collect_view()}
                </section>
            }
            .into_any(),
        }
    });
    view! { <div class="lineage-room">{tree} {answer.view()}</div> }.into_any()
}

fn branch(heading: &'static str, rows: Vec<AnyView>) -> Option<AnyView> {
    if rows.is_empty() {
        return None;
    }
    let branch = view! {
        <h3>{heading}</h3>
        <ul role="list" aria-label=heading>
            {rows}
        </ul>
    };
    Some(branch.into_any())
}

/// A file of the user's own, as a link to the file.
fn upload_row(file: &UploadedFile) -> AnyView {
    let address = contexts().session.settings_untracked().address;
    let content = view! {
        <span class="relative-picture">{upload_picture(file)}</span>
        <span class="relative-words">
            <span class="relative-title" dir="auto" translate="no">
                {file.name.clone()}
            </span>
            <span class="muted">{format!("Your file · {}", file.parameter)}</span>
        </span>
    };
    let node = match SafeUrl::link(&file.url, address.as_str()) {
        Some(url) => view! {
            <a href=url.as_str().to_owned() target="_blank" rel="noopener noreferrer">
                {content}
            </a>
        }
        .into_any(),
        None => content.into_any(),
    };
    view! {
        <li>
            <div class="relative">{node}</div>
        </li>
    }
    .into_any()
}

/// A small view of a file of the user's own: from its address, or else from its copy in this browser.
pub fn upload_picture(file: &UploadedFile) -> Option<AnyView> {
    let kind = OutputKind::of(&file.url, "");
    let runner = contexts().runner;
    let name = runner.with_tasks(|tasks| upload_copy::name_of(&file.url, tasks));
    let is_shown = kind != OutputKind::Other;
    let name = name.filter(|_| is_shown)?;
    Some(small_output(name, file.url.clone(), kind))
}

fn row(relative: Relative, answer: StatusNote) -> AnyView {
    let task = contexts().runner.task(&relative.task);
    let task = task.filter(|_| relative.is_known);
    let node = match task {
        Some(task) => node(&relative, &task.get_untracked(), answer),
        None => {
            view! { <p class="muted">"An output that is no longer in this browser"</p> }.into_any()
        }
    };
    view! { <li style:--distance=(relative.distance - 1).to_string()>{node}</li> }.into_any()
}

fn node(relative: &Relative, task: &Task, answer: StatusNote) -> AnyView {
    let title = match task.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let picture = relative.output.as_ref().and_then(|name| {
        let (_, position) = output_cache::parse_name(name)?;
        let url = task.outputs().get(position)?.clone();
        let kind = task.output_kind(&url);
        Some(small_output(name.clone(), url, kind))
    });
    let href = match &relative.output {
        Some(name) => {
            let (path, query) = location::current();
            format!("{path}{}", with_query_value(&query, SHOWN, Some(name)))
        }
        None => Route::Task(task.key.clone()).path(),
    };
    let facts = format!("{} · {}", task.model_name, relative.parameter);
    let mut again = Again::of(task);
    again.answer = answer;
    let label = format!("Run again: {title}");
    view! {
        <div class="relative">
            <a href=href>
                <span class="relative-picture">{picture}</span>
                <span class="relative-words">
                    <span class="relative-title" dir="auto">
                        {title}
                    </span>
                    <span class="muted">{facts}</span>
                </span>
            </a>
            <button
                class="icon-button"
                type="button"
                aria-label=label.clone()
                title=label
                on:click=handler(move |_| again.press("Run again", 1))
            >
                <Glyph icon=LuRefreshCw />
            </button>
        </div>
    }
    .into_any()
}
