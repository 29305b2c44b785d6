//! A batch that was sent.

mod controls;
mod progress;
mod put_back;

use atelier_engine::plural::{counted, listed};
use std::sync::Arc;

use atelier_engine::BatchKey;
use atelier_engine::batch::Batch;
use atelier_engine::batch::space::Space;
use atelier_engine::batch::summary::BatchSummary;
use atelier_engine::labelled_grid;
use icondata_lu::LuMove;
use leptos::prelude::*;

use super::composer::Composer;
use super::export;
use super::grid::{Cell, grid};
use crate::batches::Batches;
use crate::boxed::{handler, memo, text, when};
use crate::browser::{clock, dates};
use crate::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;

/// A batch that was sent: how it stands, what can be done about it, its items. Without a composer there is no
/// table that anything of it could be put into.
pub fn run(composer: Option<Composer>, batch: Batch) -> AnyView {
    let runner = contexts().runner;
    let batch = Arc::new(batch);
    let cells = memo({
        let batch = batch.clone();
        move || {
            runner.track_phases();
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let latest = items.latest().enumerate();
                latest
                    .map(|(index, task)| Cell::of(index, task))
                    .collect::<Vec<_>>()
            })
        }
    });
    let summary = memo({
        let batch = batch.clone();
        move || {
            runner.track_phases();
            runner.with_tasks(|tasks| BatchSummary::of(&batch.items(tasks.iter().copied())))
        }
    });
    let catalog = contexts().catalog;
    let schema = untrack(|| catalog.schema(&batch.model));
    let ratio = memo({
        let batch = batch.clone();
        move || {
            runner.track_phases();
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let inputs = items.latest().flatten().map(|task| task.input.values());
                labelled_grid::ratio(inputs, schema.loaded().map(|schema| &**schema))
            })
        }
    });
    let when_sent = dates::time(batch.created, clock::now());
    let batches = Batches::new(contexts());
    // Compared, because a field is written anew whenever it changes, whatever is being typed there.
    let name = {
        let batch = batch.clone();
        memo(move || {
            batches
                .find(&batch.key)
                .map_or_else(|| batch.name.clone(), |batch| batch.name)
        })
    };
    view! {
        <article class="panel run" aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="run-head">
                {title(batch.key.clone(), name.into())}
                <p class="muted">{counted(batch.size, "item")} " · " {when_sent}</p>
            </div>
            {progress::bar(summary)}
            {progress::times(batch.clone(), summary)}
            {controls::controls(composer, batch.clone(), summary)}
            {explore(batch.clone())}
            {grid(cells, batch.size, batch.grid.clone(), ratio)}
            {export::export(batch.clone(), summary)}
        </article>
    }
    .into_any()
}

/// Leads to its items one at a time, along what differs in them.
fn explore(batch: Arc<Batch>) -> AnyView {
    let all = contexts();
    let key = StoredValue::new(batch.key.clone());
    // Which tasks there are, and not how they stand.
    let tasks = memo(move || all.runner.keys_of_batch(&key.get_value()));
    let axes = memo(move || {
        tasks.track();
        let space = all.runner.with_tasks(|tasks| Space::of(&batch, tasks));
        let axes = space.map(|space| space.exploration.axes.into_iter());
        axes.map(|axes| axes.map(|axis| axis.parameter).collect::<Vec<_>>())
    });
    view! {
        <p class="row run-explore" hidden=when(move || axes.read().is_none())>
            <button
                class="button"
                type="button"
                on:click=handler(move |_| shown::explore(all.navigation, &key.get_value()))
            >
                <Glyph icon=LuMove />
                "Explore"
            </button>
            <span class="hint">
                {text(move || {
                    let axes = axes.get().unwrap_or_default();
                    format!("Step through the results by {}.", listed(&axes))
                })}
            </span>
        </p>
    }
    .into_any()
}

/// Its name, which a press makes another.
fn title(key: BatchKey, name: Signal<String>) -> AnyView {
    let batches = Batches::new(contexts());
    let rename = move |event: web_sys::Event| {
        batches.rename(&key, &event_target_value(&event));
        // What was refused is not left standing.
        let field = event_target::<web_sys::HtmlInputElement>(&event);
        field.set_value(&name.get_untracked());
    };
    view! {
        <h2 class="visually-hidden">{name}</h2>
        <input
            class="run-name"
            type="text"
            aria-label="Batch name"
            title=name
            autocomplete="off"
            dir="auto"
            prop:value=name
            on:change=handler(rename)
        />
    }
    .into_any()
}
