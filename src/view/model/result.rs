use crate::contexts::contexts;
use atelier_contract::ModelId;
use atelier_engine::{Task, TaskKey};
use icondata_lu::LuImage;
use leptos::prelude::*;

use crate::boxed::{memo, when};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::task::TaskArticle;

/// How many of a model's tasks stand beside its form; the rest is under Tasks.
const MAX: usize = 6;

/// This model's latest tasks, newest first.
#[component]
pub fn ResultRegion(model: ModelId) -> impl IntoView {
    let runner = contexts().runner;
    let tasks = {
        let model = model.clone();
        memo(move || {
            runner
                .keys()
                .iter()
                .filter(|key| {
                    // A batch has a place of its own.
                    let is_single = |task: &Task| task.model == model && task.batch.is_none();
                    runner
                        .task(key)
                        .is_some_and(|task| task.with_untracked(is_single))
                })
                .take(MAX + 1)
                .cloned()
                .collect::<Vec<TaskKey>>()
        })
    };
    let shown = move || {
        let newest = tasks.get().into_iter().take(MAX);
        newest
            .map(|key| {
                Item::new(key.0.clone(), move || {
                    view! { <TaskArticle task_key=key.clone() on_model_page=true /> }.into_any()
                })
            })
            .collect()
    };
    view! {
        <section class="result" aria-label="Result">
            <div class="empty framed" hidden=when(move || !tasks.read().is_empty())>
                <Glyph icon=LuImage />
                <p>"Results appear here."</p>
                <p class="muted">
                    "Most generations take half a minute to a minute. They go on when you leave this page."
                </p>
            </div>
            {list(shown)}
            <p hidden=when(move || tasks.read().len() <= MAX)>
                <a href="/tasks">"All tasks"</a>
            </p>
        </section>
    }
}
