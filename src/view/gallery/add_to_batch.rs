//! Adds selected tasks to the batch tables of their models, each as a row with a new seed. Sends nothing.

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
use crate::state::tables::ModelTable;

/// The result of filling the table of one model.
#[derive(Debug, Clone)]
pub struct FilledTable {
    /// The path of the page with the table.
    pub path: String,
    /// A message with the model and the number of rows, or the reason why none were added.
    pub message: Result<String, String>,
}

/// Fills the tables of all models, one after the other.
pub async fn fill(all: Contexts, tasks: Vec<Task>) -> Vec<FilledTable> {
    let mut filled = Vec::new();
    for (model, tasks) in rerun::by_model(tasks) {
        let path = format!("{}?mode=batch", Route::Model(model.clone()).path());
        let name = tasks[0].model_name.clone();
        let message = match fill_table(all.catalog, model, &tasks).await {
            Ok(()) => Ok(format!("{name} · {}", counted(tasks.len(), "row"))),
            Err(why) => Err(format!("{name}: {why}")),
        };
        filled.push(FilledTable { path, message });
    }
    filled
}

/// Waits for the schema of a model.
///
/// # Errors
///
/// A message if the schema can't be loaded.
pub async fn schema_of(catalog: Catalog, model: ModelId) -> Result<Arc<Schema>, String> {
    let schema = until(move || match catalog.schema(&model) {
        Load::Loaded(schema) => Some(Ok(schema)),
        Load::Failed(error) => Some(Err(error.user_message())),
        Load::Loading => None,
    });
    schema.await
}

async fn fill_table(catalog: Catalog, model: ModelId, tasks: &[Task]) -> Result<(), String> {
    let schema = schema_of(catalog, model.clone()).await?;
    let kept = ModelTable::of(&model, &schema);
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

/// Fills the tables. If the rows are all in one table, opens it; otherwise lists the tables in `filled`.
pub async fn fill_tables(
    all: Contexts,
    tasks: Vec<Task>,
    is_filling: RwSignal<bool>,
    filled: RwSignal<Vec<FilledTable>>,
) {
    let made = fill(all, tasks).await;
    is_filling.try_set(false);
    // Does not navigate if the user has left the page meanwhile.
    if filled.is_disposed() {
        return;
    }
    match made.as_slice() {
        [
            FilledTable {
                path,
                message: Ok(message),
            },
        ] => {
            all.navigation.go(path);
            all.notices
                .say(format!("{message} added. Nothing is sent yet."));
        }
        _ => filled.set(made),
    }
}

/// Lists the tables that were filled, with the errors.
pub fn filled_tables(filled: Vec<FilledTable>) -> AnyView {
    if filled.is_empty() {
        return ().into_any();
    }
    let tables = filled.into_iter().map(|FilledTable { path, message }| {
        let table = match message {
            Ok(message) => view! { <a href=path>{message}</a> }.into_any(),
            Err(message) => view! { <span class="problem">{message}</span> }.into_any(),
        };
        view! { <li>{table}</li> }.into_any()
    });
    view! {
        <p>"Nothing is sent yet. The rows are in the batch tables of:"</p>
        <ul>{tables.collect_view()}</ul>
    }
    .into_any()
}
