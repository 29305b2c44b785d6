//! `/tasks` and `/tasks/:key`: what was submitted.

mod list;
mod row;

use atelier_engine::TaskKey;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

pub use list::TasksPage;

use super::task::TaskArticle;
use crate::runner::Runner;

/// `/tasks/:key`: one task at an address of its own.
#[component]
pub fn TaskPage() -> impl IntoView {
    let runner = expect_context::<Runner>();
    let params = use_params_map();
    let key = Memo::new(move |_| TaskKey(params.read().get("key").unwrap_or_default()));
    let known = Memo::new(move |_| runner.keys().iter().any(|known| *known == *key.read()));
    view! {
        <div class="page">
            <nav class="crumbs" aria-label="Breadcrumb">
                <a href="/tasks">"All tasks"</a>
            </nav>
            <h1 class="visually-hidden">"Task"</h1>
            <Show
                when=move || known.get()
                fallback=|| {
                    view! {
                        <div class="empty">
                            <p>"This browser knows no task at this address."</p>
                            <p class="muted">
                                "Tasks are kept in the browser that submitted them."
                            </p>
                        </div>
                    }
                }
            >
                {move || view! { <TaskArticle task_key=key.get() /> }}
            </Show>
        </div>
    }
}
