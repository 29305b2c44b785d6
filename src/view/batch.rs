//! Batch mode of the model page: composes many inputs and shows the batch that they were sent as.

mod add_rows;
mod arrows;
mod aside_rows;
pub mod cancel_rest;
mod cell;
mod composer;
mod dropped_files;
mod export;
mod file_cell;
mod file_wait;
mod grid;
mod item;
mod keeping;
mod late_files;
mod lost_files;
mod made;
mod manifest_viewer;
pub mod page;
mod place;
mod question_pause;
mod removed_rows;
mod row_state;
mod run;
mod save_grid;
mod send;
mod table_editor;
mod thumb;
mod undo_offer;

use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema};
use atelier_studio::batch::Batch;
use atelier_studio::batch::listed::{ListedBatch, labels};
use atelier_studio::text::plural::counted;
use icondata_lu::LuLayoutGrid;
use leptos::html::Button;
use leptos::prelude::*;

use crate::browser::{clock, dates};
use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::state::tables::ModelTable;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::root_mark::RootMark;
use composer::Composer;

/// Batch mode. `single_form`: the draft of the single form; new rows start as a copy of it.
pub fn batch(model: ModelId, schema: Arc<Schema>, single_form: RwSignal<Draft>) -> AnyView {
    let is_read = ModelTable::of(&model, &schema).is_read();
    let (batches, runner) = (Batches::new(contexts()), contexts().runner);
    batches.follow();
    // The layout of the form depends on whether there is a batch. Drawn before this is known, the page would shift.
    let is_known = move || batches.is_read() || runner.unread().is_some();
    let is_read = memo(move || is_read.get() && is_known());
    dynamic(move || {
        if is_read.get() {
            return form_and_result(model.clone(), schema.clone(), single_form);
        }
        view! {
            <div class="panel">
                <div class="skeleton tall" role="status" aria-label="Loading the table"></div>
            </div>
        }
        .into_any()
    })
}

fn form_and_result(model: ModelId, schema: Arc<Schema>, single_form: RwSignal<Draft>) -> AnyView {
    let composer = Composer::restore(&model, schema, single_form);
    late_files::follow(composer);
    let batches = Batches::new(contexts());
    let of_model = memo({
        let model = model.clone();
        move || batches.of(&model)
    });
    let is_below = place::is_below(composer, memo(move || !of_model.read().is_empty()));
    let generate = NodeRef::<Button>::new();
    let all = contexts();
    RootMark::Composer.hold();
    view! {
        <div
            class="batch"
            class:dragged-over=composer.files.is_dragged_over
            on:dragover=handler(move |event| dropped_files::drag_over(composer, &event))
            on:dragleave=handler(move |event| dropped_files::drag_leave(composer, &event))
            on:drop=handler(move |event| dropped_files::drop_files(composer, all, &event))
            class:sent=is_below
            on:click=handler(move |click| composer.just_pressed.prevent_link_click(&click))
        >
            {place::new_batch_bar(composer, is_below)}
            <form
                class="panel composer"
                aria-label="Input"
                novalidate
                on:submit=handler(|event: leptos::ev::SubmitEvent| event.prevent_default())
                on:keydown=handler(move |event| send::press_by_key(&event, composer, generate))
            >
                <div class="composer-body">
                    {add_rows::add_rows(composer)}
                    {table_editor::table_editor(composer)}
                </div>
                {send::send(composer, model, is_below, generate)}
            </form>
            {result(composer, of_model)}
        </div>
    }
    .into_any()
}

/// The batch that the user chose, or else the one that was sent last.
fn result(composer: Composer, of_model: Memo<Vec<Batch>>) -> AnyView {
    let navigation = contexts().navigation;
    let batches = Batches::new(contexts());
    let chosen = memo(move || {
        let wanted = navigation.query("batch");
        let known = of_model.read();
        let found = known
            .iter()
            .find(|batch| wanted.as_ref().is_some_and(|key| batch.key.0 == *key));
        found.or(known.first()).map(|batch| batch.key.clone())
    });
    let run = move || {
        let batch = chosen.get().and_then(|key| untrack(|| batches.find(&key)));
        batch
            .map(|batch| run::run(Some(composer), batch))
            .into_any()
    };
    let empty = when(move || chosen.read().is_none() && composer.looked_at.read().is_none());
    view! {
        <section class="result" aria-label="Result">
            <div class="empty" hidden=when(move || !empty.get())>
                <Glyph icon=LuLayoutGrid />
                <p>"The batch appears here, item by item."</p>
                <p class="muted" hidden=when(move || contexts().runner.unstored_message().is_some())>
                    "It keeps running if you leave or reload this page."
                </p>
            </div>
            {dynamic(move || composer.looked_at.get().map(|manifest| manifest_viewer::manifest_viewer(composer, manifest)).into_any())}
            {batch_selector(of_model, derived(move || chosen.read().as_ref().map(|key| key.0.clone())))}
            {dynamic(run)}
        </section>
    }
    .into_any()
}

/// A selector for the batch to show, if there are several.
fn batch_selector(batches: Memo<Vec<Batch>>, chosen: Signal<Option<String>>) -> AnyView {
    let navigation = contexts().navigation;
    let runner = contexts().runner;
    let first = move |batch: &Batch| {
        let keys = runner.keys_of_batch(&batch.key);
        runner.with_tasks_of(&keys, |tasks| {
            let first = tasks
                .iter()
                .min_by_key(|it| it.batch.as_ref().map(|at| at.index));
            first.map(|task| task.input.clone())
        })
    };
    let options = move || {
        let now = clock::now();
        let batches = batches.read();
        let listed = batches.iter().map(|batch| ListedBatch {
            about: format!(
                "{} · {}",
                dates::time(batch.created, now),
                counted(batch.count(), "item")
            ),
            name: &batch.name,
            first: untrack(|| first(batch)),
        });
        let labels = labels(&listed.collect::<Vec<_>>());
        batches
            .iter()
            .zip(labels)
            .map(|(batch, label)| {
                let key = batch.key.0.clone();
                let is_chosen = {
                    let key = key.clone();
                    when(move || chosen.read().as_ref() == Some(&key))
                };
                view! {
                    <option value=key prop:selected=is_chosen>
                        {label}
                    </option>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    };
    view! {
        <label class="earlier" hidden=when(move || batches.read().len() < 2)>
            <span prop:textContent=text(move || format!("{} batches", batches.read().len()))></span>
            <select
                aria-label="Shown batch"
                on:change=handler(move |event| {
                    navigation.set_query("batch", Some(&event_target_value(&event)));
                })
            >
                {dynamic(options)}
            </select>
        </label>
    }
    .into_any()
}
