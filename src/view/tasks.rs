//! `/tasks` and `/tasks/:key`: the submitted tasks.

mod batch_row;
mod filters;
mod list;
mod retry;
mod row;
mod rows;

use crate::state::contexts::contexts;
use atelier_engine::TaskKey;
use icondata_lu::{LuChevronLeft, LuListChecks};
use leptos::prelude::*;

pub use list::TasksPage;
pub use rows::Rows;

use crate::reactive::boxed::{dynamic, memo, when};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::page_title::page_title;
use crate::view::task::TaskArticle;

/// `/tasks/:key`: the page of one task.
#[component]
pub fn TaskPage(task_key: TaskKey) -> impl IntoView {
    let runner = contexts().runner;
    // A link to a failed attempt opens the attempt that replaced it.
    let latest = memo(move || runner.latest(&task_key));
    let known = memo(move || runner.keys().contains(&latest.read()));
    // No task counts as missing before all tasks are read.
    let is_missing = when(move || !known.get() && runner.is_open() && runner.unread().is_none());
    view! {
        <div class="page task-page">
            <nav class="crumbs" aria-label="Breadcrumb">
                <Glyph icon=LuChevronLeft />
                <a href="/tasks">"All tasks"</a>
            </nav>
            {page_title("Task", is_missing)}
            {dynamic(move || {
                if known.get() {
                    view! { <TaskArticle task_key=latest.get() /> }.into_any()
                } else if let Some(unread) = runner.unread() {
                    view! {
                        <div class="empty">
                            <Glyph icon=LuListChecks />
                            <p>{unread}</p>
                        </div>
                    }
                        .into_any()
                } else if !is_missing.get() {
                    ().into_any()
                } else {
                    view! {
                        <div class="empty">
                            <Glyph icon=LuListChecks />
                            <p>"There is no task at this address in this browser."</p>
                            <p class="muted">
                                "Tasks are kept in the browser that submitted them."
                            </p>
                            <a class="button" href="/tasks">"Show all tasks"</a>
                        </div>
                    }
                        .into_any()
                }
            })}
        </div>
    }
}
