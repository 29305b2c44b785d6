//! `/batches/:key`: the page of a batch.

use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Schema};
use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::batch::Batch;
use atelier_studio::batch::differences::distinguishing_names;
use atelier_studio::history::HistoryRow;
use atelier_studio::navigation::route::Route;
use icondata_lu::{LuChevronRight, LuLayoutGrid};
use leptos::prelude::*;

use super::composer::Composer;
use super::run;
use crate::reactive::boxed::{after, dynamic, handler, memo, when};
use crate::state::batches::Batches;
use crate::state::catalog::Load;
use crate::state::contexts::contexts;
use crate::state::tables::ModelTable;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::page_title::page_title;
use crate::view::tasks::Rows;

#[component]
pub fn BatchPage(batch_key: BatchKey) -> impl IntoView {
    let all = contexts();
    let (batches, runner) = (Batches::new(all), all.runner);
    batches.follow();
    let exists = memo({
        let key = batch_key.clone();
        move || batches.find(&key).is_some()
    });
    let model = memo({
        let key = batch_key.clone();
        move || {
            batches
                .find(&key)
                .map(|batch| (batch.model, batch.model_name))
        }
    });
    let is_read = memo(move || batches.is_read());
    let is_missing = when(move || is_read.get() && !exists.get() && runner.unread().is_none());
    let content = move || {
        if exists.get() {
            let batch = untrack(|| batches.find(&batch_key));
            return batch.map(batch_view).into_any();
        }
        if !is_read.get() {
            return skeleton();
        }
        if let Some(unread) = runner.unread() {
            return view! {
                <div class="empty">
                    <Glyph icon=LuLayoutGrid />
                    <p>{unread}</p>
                </div>
            }
            .into_any();
        }
        view! {
            <div class="empty">
                <Glyph icon=LuLayoutGrid />
                <p>"There is no batch at this address in this browser."</p>
                <p class="muted">"Batches are kept in the browser that sent them."</p>
                <a class="button" href="/tasks">"Show all tasks"</a>
            </div>
        }
        .into_any()
    };
    let model = move || {
        model.get().map(|(id, name)| {
            view! {
                <Glyph icon=LuChevronRight />
                <a href=Route::Model(id).path()>{name}</a>
            }
            .into_any()
        })
    };
    view! {
        <div class="page batch-page">
            <nav class="crumbs" aria-label="Breadcrumb">
                <a href="/tasks">"All tasks"</a>
                {dynamic(move || model().into_any())}
            </nav>
            {page_title("Batch", is_missing)}
            {dynamic(content)}
        </div>
    }
}

/// How long the page waits for the schema and the table before it shows the batch without them.
const MAX_WAIT_MS: u32 = 1_000;

fn batch_view(batch: Batch) -> AnyView {
    let all = contexts();
    let (runner, catalog) = (all.runner, all.catalog);
    let model = batch.model.clone();
    let tasks = memo({
        let key = batch.key.clone();
        move || runner.keys_of_batch(&key)
    });
    // Items can be put into a table only with the schema, which the service may no longer have.
    let is_waiting = RwSignal::new(true);
    let end = after(MAX_WAIT_MS, move || {
        is_waiting.try_set(false);
    });
    end.forget();
    dynamic(move || match catalog.schema(&model) {
        Load::Loading if is_waiting.get() => skeleton(),
        Load::Loaded(schema) => {
            with_composer(model.clone(), schema, batch.clone(), tasks, is_waiting)
        }
        _ => with_tasks(run::run(None, batch.clone()), tasks),
    })
}

fn with_composer(
    model: ModelId,
    schema: Arc<Schema>,
    batch: Batch,
    tasks: Memo<Vec<TaskKey>>,
    is_waiting: RwSignal<bool>,
) -> AnyView {
    let is_read = ModelTable::of(&model, &schema).is_read();
    let is_read = memo(move || is_read.get());
    dynamic(move || {
        if !is_read.get() {
            return match is_waiting.get() {
                true => skeleton(),
                false => with_tasks(run::run(None, batch.clone()), tasks),
            };
        }
        let single_form = RwSignal::new(Draft::default());
        let composer = Composer::restore(&model, schema.clone(), single_form);
        with_tasks(run::run(Some(composer), batch.clone()), tasks)
    })
}

/// The batch, followed by its tasks as a list that can be opened.
fn with_tasks(run: AnyView, tasks: Memo<Vec<TaskKey>>) -> AnyView {
    let runner = contexts().runner;
    let rows = memo(move || tasks.read().iter().cloned().map(HistoryRow::Task).collect());
    let names = memo(move || {
        runner.with_tasks_of(&tasks.read(), |tasks| {
            distinguishing_names(tasks.iter().copied())
        })
    });
    // Built when opened, because hidden rows can't be measured.
    let is_listed = RwSignal::new(false);
    let toggle = move |event: web_sys::Event| {
        let details = event_target::<web_sys::Element>(&event);
        is_listed.set(details.has_attribute("open"));
    };
    view! {
        {run}
        <details class="batch-tasks" on:toggle=handler(toggle)>
            <summary>"Show as list"</summary>
            {dynamic(move || {
                is_listed.get().then(|| view! { <Rows rows names /> }.into_any()).into_any()
            })}
        </details>
    }
    .into_any()
}

fn skeleton() -> AnyView {
    view! { <div class="skeleton tall" role="status" aria-label="Loading the batch"></div> }
        .into_any()
}
