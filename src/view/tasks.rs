//! `/tasks` and `/tasks/:key`: what was submitted.

mod filters;
mod list;
mod row;

use crate::contexts::contexts;
use atelier_engine::TaskKey;
use leptos::prelude::*;

pub use list::TasksPage;

use super::task::TaskArticle;
use crate::boxed::{dynamic, memo};

/// `/tasks/:key`: one task at an address of its own.
#[component]
pub fn TaskPage(task_key: TaskKey) -> impl IntoView {
    let runner = contexts().runner;
    let known = {
        let key = task_key.clone();
        memo(move || runner.keys().contains(&key))
    };
    view! {
        <div class="page">
            <nav class="crumbs" aria-label="Breadcrumb">
                <a href="/tasks">"All tasks"</a>
            </nav>
            <h1 class="visually-hidden">"Task"</h1>
            {dynamic(move || {
                if known.get() {
                    view! { <TaskArticle task_key=task_key.clone() /> }.into_any()
                } else {
                    view! {
                        <div class="empty">
                            <p>"This browser knows no task at this address."</p>
                            <p class="muted">
                                "Tasks are kept in the browser that submitted them."
                            </p>
                        </div>
                    }
                        .into_any()
                }
            })}
        </div>
    }
}
