use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_studio::form::seed;
use atelier_studio::navigation::route::Route;
use atelier_studio::task::removal::siblings_note;
use atelier_studio::text::excerpt::excerpt;
use futures::channel::oneshot;
use icondata_lu::{
    LuColumns2, LuCopy, LuEllipsis, LuExternalLink, LuListChecks, LuPencil, LuRepeat2, LuTrash2,
};
use leptos::prelude::*;

use super::measures::Measures;
use super::sweep::explore_button::explore_button;
use super::{actions, credentials};
use crate::browser::{clipboard, clock, dates};
use crate::reactive::boxed::{handler, memo, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::outage;
use crate::view::parts::clamped::clamped;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::status_note::StatusNote;
use crate::view::task::again::Again;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{edit, inputs, lineage, more, output_recovery, unreadable};

/// Id of the menu with the less frequent actions.
const MORE: &str = "large-more";

/// Maximum number of characters shown of a task id. The interface does not limit its length.
const MAX_ID_CHARS: usize = 200;

/// Returns the panel next to the output: its input, its measures and its actions.
pub fn panel(
    shown: &ShownOutput,
    measures: Measures,
    answer: StatusNote,
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
    // The line for the measures is reserved until they are known, unless the output can't be shown.
    let is_shown = safe.is_some();
    let copy_image = is_image.then(|| copy_image(shown.clone()));
    let open = safe.filter(SafeUrl::is_link).map(|url| open_link(&url));
    let mut again = Again::of(&task);
    again.answer = answer;
    let title = match task.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let copy_url = more::copy_url(shown);
    let values = task.input.values().clone();
    let id = task.state.id().map(|id| {
        view! {
            <p class="muted" translate="no">
                "Task id " <code>{excerpt(&id.0, MAX_ID_CHARS)}</code>
            </p>
        }
        .into_any()
    });
    let path = Route::Model(task.model.clone()).path();
    // The page's own message about an outage is behind the dialog.
    let outage = memo(move || outage::message(all));
    let siblings = siblings_note(&task);
    let edit = edit::button(
        &task,
        "button quiet",
        view! { <Glyph icon=LuPencil /> "Edit" }.into_any(),
    );
    view! {
        <aside class="lightbox-panel" aria-label="About this output" tabindex="-1">
            <div>{clamped(title, "task-prompt")}</div>
            <p class="muted" translate="no">
                <a href=path>{task.model_name.clone()}</a>
                {format!(" · {}", facts(shown))}
            </p>
            <p class="muted measured" translate="no" hidden=when(move || !is_shown && measures.text().is_empty()) prop:textContent=text(move || measures.text())></p>
            {unreadable::note(shown)}
            {credentials::note(shown, measures)}
            <p class="muted" role="status" hidden=when(move || outage.read().is_none()) prop:textContent=text(move || outage.get().unwrap_or_default())></p>
            {actions::actions(shown, again, compare.into_any())}
            {again.answer.view()}
            <div class="row">
                {again_button(again)}
                {edit}
                {explore_button(&task)}
                {inputs::copy_link(task.model.clone(), move || values.clone())}
                <button class="button quiet" type="button" popovertarget=MORE>
                    <Glyph icon=LuEllipsis />
                    "More"
                </button>
                <div class="menu" id=MORE popover="auto">
                    {copy_image}
                    {copy_url}
                    {open}
                    <a class="button quiet" href=Route::Task(task.key.clone()).path()>
                        <Glyph icon=LuListChecks />
                        "Show task"
                    </a>
                </div>
            </div>
            {lineage::lineage((*task).clone(), Some(shown.position))}
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
                {siblings.map(|note| view! { <p class="muted" aria-hidden="true">{note}</p> }.into_any())}
            </div>
        </aside>
    }
    .into_any()
}

/// Returns the button "Run again", as on the task's page.
fn again_button(again: Again) -> AnyView {
    view! {
        <button class="button quiet" type="button" on:click=handler(move |_| again.press("Run again", 1))>
            <Glyph icon=LuRepeat2 />
            "Run again"
        </button>
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
            let (refused, refusal) = oneshot::channel();
            let image = async move {
                let fetched = output_recovery::fetch(all, &shown).await;
                let reason = fetched.as_ref().err().cloned();
                // The receiver is dropped if the browser has already refused.
                let _ = refused.send(reason);
                fetched.ok()
            };
            if clipboard::copy_image(image).await {
                return all.notices.say("Image copied.");
            }
            let reason = match refusal.await {
                Ok(Some(reason)) => reason.user_message(),
                _ => "The browser did not allow copying.".to_owned(),
            };
            all.notices
                .problem(format!("The image was not copied. {reason}"));
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

/// Returns a line with the time of creation, how long the task ran, and its variation.
fn facts(shown: &ShownOutput) -> String {
    let task = &shown.task;
    let mut facts = vec![dates::time(task.created, clock::now())];
    if let Some(took) = task.duration_text() {
        // A duration alone would look like the length of a video or a sound.
        facts.push(format!("made in {took}"));
    }
    facts.extend(seed::variation_label(task));
    facts.join(" · ")
}
