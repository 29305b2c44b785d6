use crate::contexts::contexts;
use atelier_engine::batch::differences::Difference;
use atelier_engine::batch::naming::said_beside;
use atelier_engine::batch::{Counts, Part};
use atelier_engine::route::Route;
use atelier_engine::{BatchKey, TaskKey};
use leptos::prelude::*;

use crate::batches::Batches;
use crate::boxed::{dynamic, memo, text};
use crate::browser::{clock, dates};
use crate::runner::Runner;
use crate::view::task::thumbnail;

/// As many pictures as fit beside each other on most screens; all are on the batch's page.
const PICTURES: usize = 16;

/// What was found of a batch: its latest pictures, how it stands, and what tells its items apart.
#[component]
pub fn BatchRow(batch_key: BatchKey, tasks: Vec<TaskKey>) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let batch = memo({
        let key = batch_key.clone();
        move || Batches::new(all).find(&key)
    });
    let first = tasks.first().and_then(|key| runner.task(key));
    let Some(first) = first.map(|task| task.get_untracked()) else {
        return ().into_any();
    };
    let name = {
        let fallback = first.model_name.clone();
        text(move || {
            let batch = batch.read();
            batch
                .as_ref()
                .map_or_else(|| fallback.clone(), |batch| batch.name.clone())
        })
    };
    let about = {
        let time = dates::time(first.created, clock::now());
        let (found, model) = (tasks.len(), first.model_name.clone());
        text(move || {
            let size = batch.read().as_ref().map_or(found, |batch| batch.size);
            let items = match size == found {
                true => format!("{size} tasks"),
                false => format!("{found} of {size} tasks"),
            };
            format!("{model} · {items} · {time}")
        })
    };
    let chips = {
        let tasks = tasks.clone();
        move || {
            let name = name.get();
            let found = runner.with_tasks_of(&tasks, |tasks| said_beside(&name, tasks));
            found.iter().map(chip).collect_view().into_any()
        }
    };
    let counts = memo({
        let tasks = tasks.clone();
        move || {
            runner.track_phases();
            runner.with_tasks_of(&tasks, |tasks| Counts::of_tasks(tasks.iter().copied()))
        }
    });
    let more = tasks.len().saturating_sub(PICTURES);
    let pictures = tasks.iter().take(PICTURES);
    let mut pictures = pictures.filter_map(|key| picture(runner, key));
    let first_picture = pictures.next();
    let pictures: Vec<AnyView> = pictures.collect();
    view! {
        <article class="batch-row" aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="batch-first">{first_picture}</div>
            <div class="batch-row-head">
                <div class="task-row-text">
                    <p>
                        <a class="cover" href=Route::Batch(batch_key).path()>
                            {name}
                        </a>
                    </p>
                    <span class="muted">{about}</span>
                </div>
                <p class="batch-row-counts" role="status">
                    {dynamic(move || pills(&counts.read()))}
                </p>
            </div>
            <div class="batch-strip">
                {pictures} {(more > 0).then(|| view! { <span class="batch-strip-more">"+" {more}</span> }.into_any())}
            </div>
            <ul class="batch-row-chips" aria-label="Differs in">
                {dynamic(chips)}
            </ul>
        </article>
    }
    .into_any()
}

/// How many of it stand how, each in its colour; read out they are one sentence.
fn pills(counts: &Counts) -> AnyView {
    let pill = |(at, (part, phrase)): (usize, (Part, String))| {
        let comma =
            (at > 0).then(|| view! { <span class="visually-hidden">", "</span> }.into_any());
        view! {
            {comma}
            <span class="pill" data-phase=part.phase_word()>
                {phrase}
            </span>
        }
        .into_any()
    };
    let pills = counts.phrases().enumerate().map(pill);
    pills.collect_view().into_any()
}

fn chip(difference: &Difference) -> AnyView {
    view! { <li>{difference.user_message()}</li> }.into_any()
}

/// One item: a way to its task.
fn picture(runner: Runner, key: &TaskKey) -> Option<AnyView> {
    let task = runner.task(key)?;
    let shown = thumbnail(&task);
    let label = {
        let task = task.clone();
        text(move || {
            let task = task.read();
            let number = task.batch.as_ref().map_or(0, |place| place.index + 1);
            format!("Item {number}: {}, {}", task.input.title(), task.label())
        })
    };
    let picture = view! {
        <a class="task-row-picture" href=Route::Task(key.clone()).path() aria-label=label title=label>
            {shown}
        </a>
    };
    Some(picture.into_any())
}
