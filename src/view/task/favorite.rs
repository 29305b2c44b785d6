use atelier_engine::TaskKey;
use leptos::prelude::*;

use crate::reactive::boxed::memo;
use crate::state::contexts::contexts;
use crate::view::parts::heart::heart;

/// A button that marks or unmarks an output as a favorite. This browser keeps a copy of each favorite.
pub fn output_heart(task: &TaskKey, position: usize) -> AnyView {
    named_heart("Favorite".to_owned(), task, position)
}

/// Like [`output_heart`], with an accessible name of its own for views with several such buttons.
pub fn named_heart(name: String, task: &TaskKey, position: usize) -> AnyView {
    let runner = contexts().runner;
    let output = task.output(position);
    let task = runner.task(task);
    let is_favorite = memo(move || {
        let task = task.as_ref();
        task.is_some_and(|task| task.read().favorites.contains(&position))
    });
    heart(
        name,
        "Favorite: a copy stays in this browser",
        move || is_favorite.get(),
        move || runner.set_favorite(&output, !is_favorite.get_untracked()),
    )
}
