//! The title of the browser's tab.

use atelier_contract::ModelId;
use atelier_studio::navigation::route::Route;
use atelier_studio::navigation::tab_title::tab_title;

use crate::browser::notify;
use crate::reactive::boxed::{effect, memo};
use crate::state::batches::Batches;
use crate::state::contexts::Contexts;
use leptos::prelude::*;

/// Keeps the title up to date, as long as the current owner lives.
pub fn follow(all: Contexts) {
    let title = memo(move || {
        let parts = parts(all);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        tab_title(&parts, all.runner.active_count())
    });
    effect(move || notify::set_title(&title.read()));
}

/// Returns the parts of the title, from the most specific to the most general; tracked.
fn parts(all: Contexts) -> Vec<String> {
    let page = |name: &str| vec![name.to_owned()];
    match all.navigation.route() {
        Route::Models => Vec::new(),
        Route::Model(model) => vec![model_name(all, &model)],
        Route::Tasks => page("Tasks"),
        Route::Task(key) => {
            // Tracks the tasks, because a task is known only after it has been read.
            let _ = all.runner.keys();
            let task = all.runner.task(&all.runner.latest(&key));
            task.map_or_else(
                || page("Task"),
                |task| {
                    let task = task.read_untracked();
                    vec![task.input.title().to_owned(), task.model_name.clone()]
                },
            )
        }
        Route::Batch(key) => match Batches::new(all).find(&key) {
            Some(batch) => vec![batch.name, batch.model_name],
            None => page("Batch"),
        },
        Route::Gallery => page("Gallery"),
        Route::Settings => page("Settings"),
        Route::Missing => page("Not found"),
    }
}

fn model_name(all: Contexts, id: &ModelId) -> String {
    let known = all.catalog.model(id);
    known.map_or_else(
        || id.subcategory.clone(),
        |model| model.display_name().to_owned(),
    )
}
