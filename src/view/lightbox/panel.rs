use atelier_engine::output::{OutputKind, SafeUrl};
use atelier_engine::route::Route;
use atelier_engine::{duration, said_of_siblings};
use icondata_lu::{
    LuColumns2, LuCopy, LuEllipsis, LuExternalLink, LuListChecks, LuPencil, LuTrash2,
};
use leptos::prelude::*;

use super::measures::Measures;
use super::sweep::entry::entry;
use super::{actions, lineage};
use crate::boxed::{handler, spawn, text, when};
use crate::browser::{clipboard, clock, dates};
use crate::contexts::contexts;
use crate::view::parts::copy_button::CopyButton;
use crate::view::parts::glyph::Glyph;
use crate::view::task::again::Again;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{edit, inputs, output_recovery};

/// The id of the menu with what is done seldom.
const MORE: &str = "large-more";

/// How the output was made, and what can be done with it.
pub fn panel(
    shown: &ShownOutput,
    measures: Measures,
    compare: impl Fn() + 'static,
    remove: impl Fn() + 'static,
) -> AnyView {
    let all = contexts();
    let task = shown.task.clone();
    let address = all.session.settings_untracked().address;
    let safe = SafeUrl::media(&shown.url, address.as_str());
    let is_image = safe.is_some() && shown.kind == OutputKind::Image;
    let compare = view! {
        <button class="button" type="button" on:click=handler(move |_| compare())>
            <Glyph icon=LuColumns2 />
            <span class="word">"Compare"</span>
        </button>
    };
    let copy_image = is_image.then(|| copy_image(shown.clone()));
    let open = safe.filter(SafeUrl::is_link).map(|url| open_link(&url));
    let again = Again::of(&task);
    let title = match task.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let url = shown.url.clone();
    let id = task.state.id().map(|id| {
        view! {
            <p class="muted">
                "Task id " <code>{id.0.clone()}</code>
            </p>
        }
        .into_any()
    });
    let path = Route::Model(task.model.clone()).path();
    let siblings = said_of_siblings(&task);
    let edit = edit::button(
        &task,
        "button quiet",
        view! { <Glyph icon=LuPencil /> "Edit" }.into_any(),
    );
    view! {
        <aside class="lightbox-panel" aria-label="About this output" tabindex="-1">
            <p class="task-prompt whole" dir="auto">
                {title}
            </p>
            <p class="muted">
                <a href=path>{task.model_name.clone()}</a>
                {format!(" · {}", facts(shown))}
            </p>
            <p class="muted" hidden=when(move || measures.text().is_empty())>
                {text(move || measures.text())}
            </p>
            {actions::actions(shown, again, compare.into_any())}
            {again.answer.view()}
            <div class="row">
                {edit}
                {entry(&task)}
                <button class="button quiet" type="button" popovertarget=MORE>
                    <Glyph icon=LuEllipsis />
                    "More"
                </button>
                <div class="menu" id=MORE popover="auto">
                    {copy_image}
                    <CopyButton label="Copy output URL" text=move || url.clone() />
                    {open}
                    <a class="button quiet" href=Route::Task(task.key.clone()).path()>
                        <Glyph icon=LuListChecks />
                        "Show task"
                    </a>
                </div>
            </div>
            {lineage::lineage(shown)}
            {inputs::inputs(&task, true)}
            <div class="lightbox-end">
                {id}
                <button
                    class="button quiet removes"
                    type="button"
                    title=siblings.clone()
                    on:click=handler(move |_| remove())
                >
                    <Glyph icon=LuTrash2 />
                    "Remove task"
                </button>
                {siblings.map(|said| view! { <p class="muted" aria-hidden="true">{said}</p> }.into_any())}
            </div>
        </aside>
    }
    .into_any()
}

fn open_link(url: &SafeUrl) -> AnyView {
    view! {
        <a class="button quiet" href=url.as_str().to_owned() target="_blank" rel="noopener noreferrer">
            <Glyph icon=LuExternalLink />
            "Open in new tab"
        </a>
    }
    .into_any()
}

fn copy_image(shown: ShownOutput) -> AnyView {
    let all = contexts();
    let copy = move |_| {
        let shown = shown.clone();
        spawn(async move {
            let image = async move { output_recovery::fetch(all, &shown).await.ok() };
            match clipboard::copy_image(image).await {
                true => all.notices.say("Image copied."),
                false => all
                    .notices
                    .problem("The browser did not let the image be copied."),
            }
        });
    };
    view! {
        <button class="button quiet" type="button" on:click=handler(copy)>
            <Glyph icon=LuCopy />
            "Copy image"
        </button>
    }
    .into_any()
}

/// When it was made and how long that took.
fn facts(shown: &ShownOutput) -> String {
    let task = &shown.task;
    let mut facts = vec![dates::time(task.created, clock::now())];
    if let Some(finished) = task.finished {
        let begun = task.submitted.unwrap_or(task.created);
        facts.push(duration::text(finished.saturating_sub(begun)));
    }
    facts.join(" · ")
}
