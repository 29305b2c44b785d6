use crate::app::contexts;
use atelier_contract::ModelId;
use atelier_engine::{Task, TaskKey, duration, history};
use icondata_lu::LuImage;
use leptos::prelude::*;

use crate::erased::{memo, text, when};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::task::TaskArticle;

/// How many of a model's tasks stand beside its form; the rest is under Tasks.
const MOST: usize = 6;

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
                .take(MOST + 1)
                .cloned()
                .collect::<Vec<TaskKey>>()
        })
    };
    let shown = move || {
        let newest = tasks.get().into_iter().take(MOST);
        newest
            .map(|key| {
                Item::new(key.0.clone(), move || {
                    view! { <TaskArticle task_key=key.clone() on_model_page=true /> }.into_any()
                })
            })
            .collect()
    };
    let usual = text(move || {
        runner.track_phases();
        let usual = runner.with_tasks(|tasks| history::estimate(tasks.iter().copied(), &model));
        usual.map_or_else(String::new, |usual| {
            format!("Yours usually take {}.", duration::about(usual))
        })
    });
    view! {
        <section class="result" aria-label="Result">
            <div class="empty framed" hidden=when(move || !tasks.read().is_empty())>
                <Glyph icon=LuImage />
                <p>"Results appear here."</p>
                <p class="muted">{usual}" They go on when you leave this page."</p>
            </div>
            {list(shown)}
            <p hidden=when(move || tasks.read().len() <= MOST)>
                <a href="/tasks">"All tasks"</a>
            </p>
        </section>
    }
}
