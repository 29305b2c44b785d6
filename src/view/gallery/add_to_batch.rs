//! A row in the batch table of its model for each of some tasks, to be sent with another seed. Nothing is
//! sent here.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema};
use atelier_engine::Task;
use atelier_studio::form::rerun;
use atelier_studio::navigation::route::Route;
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use crate::reactive::until::until;
use crate::state::catalog::{Catalog, Load};
use crate::state::contexts::Contexts;
use crate::state::tables::KeptTable;

/// What has become of the table of one model.
#[derive(Debug, Clone)]
pub struct Filled {
    pub path: String,
    /// For a person: the model, and how many rows, or why none.
    pub said: Result<String, String>,
}

/// Fills the tables, one after the other.
pub async fn fill(all: Contexts, tasks: Vec<Task>) -> Vec<Filled> {
    let mut filled = Vec::new();
    for (model, tasks) in rerun::by_model(tasks) {
        let path = format!("{}?mode=batch", Route::Model(model.clone()).path());
        let name = tasks[0].model_name.clone();
        let said = match fill_one(all.catalog, model, &tasks).await {
            Ok(()) => Ok(format!("{name} · {}", counted(tasks.len(), "row"))),
            Err(why) => Err(format!("{name}: {why}")),
        };
        filled.push(Filled { path, said });
    }
    filled
}

/// Waits for what a model takes.
pub async fn schema_of(catalog: Catalog, model: ModelId) -> Result<Arc<Schema>, String> {
    let schema = until(move || match catalog.schema(&model) {
        Load::Loaded(schema) => Some(Ok(schema)),
        Load::Failed(error) => Some(Err(error.user_message())),
        Load::Loading => None,
    });
    schema.await
}

async fn fill_one(catalog: Catalog, model: ModelId, tasks: &[Task]) -> Result<(), String> {
    let schema = schema_of(catalog, model.clone()).await?;
    let kept = KeptTable::of(&model, &schema);
    let is_read = kept.is_read();
    until(move || is_read.get().then_some(())).await;
    let rows = tasks.iter().map(|task| rerun::variation(task, &schema));
    let rows = rows.collect();
    let table = kept.table();
    let appended = table.try_update(|table| table.add(rows, &schema));
    appended.unwrap_or(Ok(()))?;
    kept.mark_changed();
    Ok(())
}

/// Makes rows of these tasks, and goes to their table where that is one.
pub async fn fill_tables(
    all: Contexts,
    tasks: Vec<Task>,
    is_filling: RwSignal<bool>,
    filled: RwSignal<Vec<Filled>>,
) {
    let made = fill(all, tasks).await;
    is_filling.try_set(false);
    // A person who has gone on meanwhile is not called back.
    if filled.is_disposed() {
        return;
    }
    match made.as_slice() {
        [
            Filled {
                path,
                said: Ok(said),
            },
        ] => {
            all.navigation.go(path);
            all.notices
                .say(format!("{said} added. Nothing is sent yet."));
        }
        _ => filled.set(made),
    }
}

/// Where the rows are, where that is more than one place or not as it was wanted.
pub fn filled_tables(filled: Vec<Filled>) -> AnyView {
    if filled.is_empty() {
        return ().into_any();
    }
    let tables = filled.into_iter().map(|Filled { path, said }| {
        let table = match said {
            Ok(said) => view! { <a href=path>{said}</a> }.into_any(),
            Err(said) => view! { <span class="problem">{said}</span> }.into_any(),
        };
        view! { <li>{table}</li> }.into_any()
    });
    view! {
        <p>"Nothing is sent yet. The rows are in the batch tables of:"</p>
        <ul>{tables.collect_view()}</ul>
    }
    .into_any()
}
