//! A row in the batch table of its model for each of some tasks, to be sent with another seed. Nothing is
//! sent here.

use atelier_contract::ModelId;
use atelier_engine::plural::counted;
use atelier_engine::route::Route;
use atelier_engine::{Task, rerun};
use leptos::prelude::*;

use crate::awaited::awaited;
use crate::catalog::{Catalog, Load};
use crate::contexts::Contexts;
use crate::tables::KeptTable;

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

async fn fill_one(catalog: Catalog, model: ModelId, tasks: &[Task]) -> Result<(), String> {
    let wanted = model.clone();
    let schema = awaited(move || match catalog.schema(&wanted) {
        Load::Loaded(schema) => Some(Ok(schema)),
        Load::Failed(error) => Some(Err(error.user_message())),
        Load::Loading => None,
    });
    let schema = schema.await?;
    let kept = KeptTable::of(&model, &schema);
    let is_read = kept.is_read();
    awaited(move || is_read.get().then_some(())).await;
    let rows = tasks.iter().map(|task| rerun::variation(task, &schema));
    let rows = rows.collect();
    let table = kept.table();
    let appended = table.try_update(|table| table.add(rows, &schema));
    appended.unwrap_or(Ok(()))?;
    kept.mark_changed();
    Ok(())
}
