use atelier_engine::TaskKey;
use atelier_engine::window::Grid;
use icondata_lu::{LuListChecks, LuSearch};
use leptos::html::Div;
use leptos::prelude::*;

use super::row::TaskRow;
use crate::runner::Runner;
use crate::view::parts::dynamic::{dynamic, text, when};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::viewport;

/// The height of a row in `rem`; the stylesheet has the same.
const ROW_HEIGHT: f64 = 5.5;

/// `/tasks`: everything submitted, newest first.
#[component]
pub fn TasksPage() -> impl IntoView {
    let runner = expect_context::<Runner>();
    let typed = RwSignal::new(String::new());
    let found = Memo::new(move |_| {
        let query = atelier_engine::search::Query::new(&typed.read());
        if query.is_empty() {
            return runner.keys().as_ref().clone();
        }
        runner
            .tasks()
            .into_iter()
            .filter(|task| {
                query
                    .score(&atelier_engine::search::Searchable::new([
                        task.input.title(),
                        &task.model_name,
                    ]))
                    .is_some()
            })
            .map(|task| task.key)
            .collect()
    });
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"Tasks"</h1>
                <p class="muted" role="status">
                    {text(move || match found.read().len() {
                        1 => "1 task".to_owned(),
                        n => format!("{n} tasks"),
                    })}
                </p>
            </div>
            <div class="note" role="status" hidden=when(move || runner.unkept().is_none())>
                {text(move || runner.unkept().unwrap_or_default())}
            </div>
            <div class="filters">
                <div class="search">
                    <Glyph icon=LuSearch />
                    <input
                        type="search"
                        aria-label="Search tasks"
                        placeholder="Search tasks"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=typed
                        on:input=move |event| typed.set(event_target_value(&event))
                    />
                </div>
            </div>
            <Rows found />
            <div class="empty framed" hidden=when(move || !found.read().is_empty())>
                <Glyph icon=LuListChecks />
                {dynamic(move || {
                    if runner.keys().is_empty() {
                        view! {
                            <p>"Nothing submitted yet."</p>
                            <a class="button" href="/">
                                "Choose a model"
                            </a>
                        }
                            .into_any()
                    } else {
                        view! { <p>"No task matches."</p> }.into_any()
                    }
                })}
            </div>
        </div>
    }
}

/// The rows near the screen; the others are only room.
#[component]
fn Rows(found: Memo<Vec<TaskKey>>) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    let grid = move || Grid {
        items: found.read().len(),
        columns: 1,
        row_height: ROW_HEIGHT * seen.read().rem.max(1.0),
    };
    let shown = Memo::new(move |_| {
        let seen = seen.get();
        grid().window(seen.from.max(0.0), seen.to - seen.from.max(0.0), 0)
    });
    let rows = move || {
        let window = shown.get();
        let keys = found.read();
        let height = grid().row_height;
        window
            .items
            .filter_map(|at| {
                let key = keys.get(at)?.clone();
                let top = at as i64 * height as i64;
                Some(Item::new(format!("{top} {}", key.0), move || {
                    let key = key.clone();
                    view! {
                        <li
                            style:top=format!("{top}px")
                            aria-posinset=(at + 1).to_string()
                            aria-setsize=text(move || found.read().len().to_string())
                        >
                            <TaskRow task_key=key />
                        </li>
                    }
                    .into_any()
                }))
            })
            .collect()
    };
    view! {
        <div
            class="task-rows"
            node_ref=element
            style:height=text(move || format!("{}px", grid().height() as i64))
        >
            <ul aria-label="Tasks">
                {list(rows)}
            </ul>
        </div>
    }
}
