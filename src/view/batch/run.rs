//! A batch that was sent.

mod controls;
mod explore;
mod progress;
mod put_back;

use atelier_engine::plural::counted;
use std::sync::Arc;

use atelier_engine::BatchKey;
use atelier_engine::batch::Batch;
use atelier_engine::batch::differences::item_names;
use atelier_engine::batch::summary::BatchSummary;
use atelier_engine::labelled_grid;
use leptos::html::Article;
use leptos::prelude::*;

use super::composer::Composer;
use super::export;
use super::grid::{Cell, grid};
use crate::batches::Batches;
use crate::boxed::{effect, handler, memo, text};
use crate::browser::frame::after_frame;
use crate::browser::{clock, dates};
use crate::contexts::contexts;

/// A batch that was sent: how it stands, what can be done about it, its items. Without a composer there is no
/// table that anything of it could be put into.
pub fn run(composer: Option<Composer>, batch: Batch) -> AnyView {
    let runner = contexts().runner;
    let batch = Arc::new(batch);
    // Inputs do not change: they are looked through again only where tasks come or go.
    let keys = memo({
        let key = batch.key.clone();
        move || runner.keys_of_batch(&key)
    });
    let names = memo({
        let batch = batch.clone();
        move || {
            keys.track();
            runner.with_tasks(|tasks| item_names(batch.items(tasks.iter().copied()).latest()))
        }
    });
    let cells = memo({
        let batch = batch.clone();
        move || {
            runner.track_labels();
            let names = names.read();
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let latest = items.latest().enumerate();
                let name = |index: usize| names.get(index).cloned().unwrap_or_default();
                latest
                    .map(|(index, task)| Cell::of(index, task, name(index)))
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
            keys.track();
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let inputs = items.latest().flatten().map(|task| task.input.values());
                labelled_grid::ratio(inputs, schema.loaded().map(|schema| &**schema))
            })
        }
    });
    let when_sent = dates::time(batch.created, clock::now());
    let batches = Batches::new(contexts());
    let article = NodeRef::<Article>::new();
    if let Some(composer) = composer {
        show_once(composer, batch.key.clone(), article);
    }
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
        <article class="panel run" node_ref=article aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="run-head">
                {title(batch.key.clone(), name.into())}
                <p class="muted">{counted(batch.size, "item")} " · " {when_sent}</p>
            </div>
            {progress::progress(batch.clone(), summary)}
            {controls::controls(composer, batch.clone(), summary)}
            {grid(cells, batch.size, batch.grid.clone(), ratio)}
            {export::export(batch.clone(), summary)}
        </article>
    }
    .into_any()
}

/// What was sent just now comes into view, from its top, unless that is there: the table that it was sent from has
/// made way.
fn show_once(composer: Composer, batch: BatchKey, article: NodeRef<Article>) {
    effect(move || {
        let Some(article) = article.get() else { return };
        let unseen = composer.unseen.get_untracked();
        if unseen.as_ref() == Some(&batch) {
            composer.unseen.set(None);
            after_frame(move || {
                let top = article.get_bounding_client_rect().top();
                let window = document().document_element();
                let height = window.map_or(0, |window| window.client_height());
                if !(0.0..f64::from(height) / 2.0).contains(&top) {
                    article.scroll_into_view();
                }
            });
        }
    });
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
