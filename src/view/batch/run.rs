//! A batch that was sent.

mod controls;
mod explore;
mod progress;
mod put_back;

use atelier_studio::text::plural::counted;
use std::sync::Arc;

use atelier_engine::{BatchKey, Task};
use atelier_studio::batch::combined::Combined;
use atelier_studio::batch::differences::{item_captions, item_names};
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::batch::{Batch, labelled_grid};
use atelier_studio::gallery::{GalleryEntry, GalleryFilter, Scope, neighbor};
use atelier_studio::navigation::route::Route;
use icondata_lu::LuPencil;
use leptos::html::{Article, Button, Textarea};
use leptos::prelude::*;

use super::composer::Composer;
use super::export;
use super::grid;
use super::item::ItemContext;
use super::thumb::Thumb;
use crate::browser::frame::after_frame;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{effect, follow_memo, handler, memo, text};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::gallery::long_press;
use crate::view::gallery::selection::{Selection, SelectionBar};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::item_order;
use crate::view::parts::viewport::{has_coarse_pointer, is_primary_pointer_coarse};

/// A batch that was sent: its progress, buttons and items. Without a composer there is no table to put its items into.
pub fn run(composer: Option<Composer>, batch: Batch) -> AnyView {
    let runner = contexts().runner;
    let batch = Arc::new(batch);
    // The stored batch may be changed by another tab.
    let record = memo({
        let batch = batch.clone();
        move || {
            let found = Batches::new(contexts()).find(&batch.key);
            found.unwrap_or_else(|| (*batch).clone())
        }
    });
    // Inputs never change, so names and shapes are computed again only when tasks are added or removed.
    let keys = memo({
        let key = batch.key.clone();
        move || runner.keys_of_batch(&key)
    });
    let names = memo({
        let batch = batch.clone();
        move || {
            follow_memo(keys);
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let captions = item_captions(items.latest());
                item_names(items.latest())
                    .into_iter()
                    .zip(captions)
                    .collect::<Vec<_>>()
            })
        }
    });
    let combined = memo({
        let batch = batch.clone();
        move || {
            follow_memo(keys);
            let combine = |tasks: &[&Task]| {
                let items = batch.items(tasks.iter().copied());
                let sent = items.latest().enumerate();
                let sent = sent.filter(|(at, task)| task.is_some() || !items.is_left_out(*at));
                let (places, sent): (Vec<usize>, Vec<_>) = sent.unzip();
                Some((Combined::of(&sent)?, places))
            };
            batch
                .grid
                .is_none()
                .then(|| runner.with_tasks(combine))
                .flatten()
        }
    });
    let cells = memo(move || {
        runner.track_labels();
        let (names, record) = (names.read(), record.read());
        runner.with_tasks(|tasks| {
            let items = record.items(tasks.iter().copied());
            let latest = items.latest().enumerate();
            let name = |index: usize| names.get(index).cloned().unwrap_or_default();
            latest
                .map(|(index, task)| {
                    let (title, caption) = name(index);
                    match task.is_none() && items.is_left_out(index) {
                        true => Thumb::left_out(index, title, caption),
                        false => Thumb::of(index, task, title, caption),
                    }
                })
                .collect::<Vec<_>>()
        })
    });
    let summary = memo(move || {
        runner.track_phases();
        let record = record.read();
        runner.with_tasks(|tasks| BatchSummary::of(&record.items(tasks.iter().copied())))
    });
    let catalog = contexts().catalog;
    let schema = untrack(|| catalog.schema(&batch.model));
    let shapes = memo({
        let batch = batch.clone();
        move || {
            follow_memo(keys);
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let schema = schema.loaded().map(|schema| &**schema);
                let shape = |task: &Task| labelled_grid::shape(task.input.values(), schema);
                items.latest().map(|task| task.and_then(shape)).collect()
            })
        }
    });
    let on_model_page = matches!(untrack(|| contexts().navigation.route()), Route::Model(_));
    let layout = grid::layout(batch.grid.clone(), combined, shapes, on_model_page);
    let order = memo(move || layout.read().as_ref().map(|blocks| blocks.order()));
    item_order::publish_order(batch.key.clone(), order);
    let found = memo({
        let scope = Scope::Batch(batch.key.clone());
        move || {
            runner.track_phases();
            let entries = runner.with_tasks_of(&keys.read(), |tasks| {
                let entries = tasks.iter().flat_map(|task| GalleryEntry::all_of(task));
                // A tile shows only the first output of its item, so only that one can be selected.
                let entries = entries.filter(|entry| entry.position == 0);
                entries.collect::<Vec<_>>()
            });
            let filter = GalleryFilter {
                scope: scope.clone(),
                ..GalleryFilter::default()
            };
            let mut found: Vec<GalleryEntry> = filter.find(&entries).cloned().collect();
            // Range selection follows the order on the screen.
            if let Some(order) = &*order.read() {
                neighbor::sort_in_visual_order(&mut found, order);
            }
            found
        }
    });
    let context = ItemContext {
        shapes,
        selection: Selection::new(found),
        is_touched: has_coarse_pointer(),
        is_mainly_touched: is_primary_pointer_coarse(),
    };
    let when_sent = dates::time(batch.created, clock::now());
    let article = NodeRef::<Article>::new();
    long_press::follow(move || article.get(), context.selection);
    if let Some(composer) = composer {
        scroll_to_new(composer, batch.key.clone(), article);
    }
    // A memo, so that the field is overwritten only if the name itself has changed, not while the user types.
    let name = memo(move || record.read().name.clone());
    let count = text(move || counted(record.read().count(), "item"));
    let items = match on_model_page {
        true => {
            let href = Route::Batch(batch.key.clone()).path();
            view! { <a href=href title="Show the batch on its own page" prop:textContent=count></a> }
                .into_any()
        }
        false => count.into_any(),
    };
    view! {
        <article class="panel run" node_ref=article aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="run-head">
                {title(batch.key.clone(), name.into())}
                <p class="muted">
                    {items} " · " {when_sent}
                </p>
            </div>
            {progress::progress(batch.clone(), summary)}
            {controls::controls(composer, batch.clone(), summary)}
            {grid::grid(cells, layout, context)}
            <SelectionBar selection=context.selection />
            {export::export(batch.clone(), summary, layout, shapes)}
        </article>
    }
    .into_any()
}

/// Scrolls to the top of a batch that was just sent, unless that is visible already.
fn scroll_to_new(composer: Composer, batch: BatchKey, article: NodeRef<Article>) {
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

/// The name of the batch, with a button that edits it.
fn title(key: BatchKey, name: Signal<String>) -> AnyView {
    let batches = Batches::new(contexts());
    let rename = move |event: web_sys::Event| {
        let entered = event_target_value(&event).replace('\n', " ");
        batches.rename(&key, entered.trim());
        // Shows the current name again if the new one was refused.
        let field = event_target::<web_sys::HtmlTextAreaElement>(&event);
        field.set_value(&name.get_untracked());
    };
    let pencil = NodeRef::<Button>::new();
    // A `textarea` wraps long names. Enter ends editing, because a name is a single line.
    let end = move |event: web_sys::KeyboardEvent| {
        let key = event.key();
        if event.is_composing() || !(key == "Enter" || key == "Escape") {
            return;
        }
        event.prevent_default();
        if key == "Escape" {
            let field = event_target::<web_sys::HtmlTextAreaElement>(&event);
            field.set_value(&name.get_untracked());
        }
        // Moving the focus fires `change`, which stores the name.
        if let Some(pencil) = pencil.get_untracked() {
            // Focusing fails only if the button was removed.
            let _ = pencil.focus();
        }
    };
    let field = NodeRef::<Textarea>::new();
    let edit = move |_: web_sys::MouseEvent| {
        if let Some(field) = field.get_untracked() {
            // Focusing fails only if the field was removed.
            let _ = field.focus();
            field.select();
        }
    };
    view! {
        <h2 class="visually-hidden" tabindex="-1" translate="no">{name}</h2>
        <div class="run-title">
            <textarea
                class="run-name"
                node_ref=field
                rows="1"
                aria-label="Batch name"
                title=name
                autocomplete="off"
                dir="auto"
                prop:value=name
                on:change=handler(rename)
                on:keydown=handler(end)
            ></textarea>
            <button
                class="icon-button"
                type="button"
                node_ref=pencil
                aria-label="Rename"
                title="Rename"
                on:click=handler(edit)
            >
                <Glyph icon=LuPencil />
            </button>
        </div>
    }
    .into_any()
}
