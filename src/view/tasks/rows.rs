use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::batch::naming::has_differences_besides_name;
use atelier_studio::history::HistoryRow;
use atelier_studio::list::window::Stack;
use leptos::html::Div;
use leptos::prelude::*;

use super::batch_row::BatchRow;
use super::row::TaskRow;
use crate::reactive::boxed::{handler, memo};
use crate::state::batches::Batches;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::list::Item;
use crate::view::parts::px::px;
use crate::view::parts::viewport::viewport;
use crate::view::parts::windowed_list::WindowedList;
use crate::view::task::words;

/// The heights of rows in `rem`; the stylesheet has the same.
const TASK_HEIGHT: f64 = 5.5;
/// It says why it failed as well.
const FAILED_HEIGHT: f64 = 6.75;
const BATCH_HEIGHT: f64 = 9.5;
/// It says why some failed, or what they differ in.
const EXPLAINED_BATCH_HEIGHT: f64 = 11.5;

/// What tells some tasks apart from others that have their prompt.
pub type Names = HashMap<TaskKey, String>;

/// The rows near the screen; the others are only room.
#[component]
pub fn Rows(
    rows: Memo<Vec<HistoryRow>>,
    /// Looked at when a row is made.
    #[prop(optional, into)]
    names: Option<Signal<Names>>,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let held = DoubleClickGuard::default();
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    let rem = memo(move || seen.read().rem.max(1.0));
    let stack = memo(move || {
        let rem = rem.get();
        runner.track_phases();
        let has_reason = |key: &TaskKey| {
            let task = runner.task(key);
            task.is_some_and(|task| task.with_untracked(|it| words::explain(it).is_some()))
        };
        Stack::new(rows.read().iter().map(|row| match row {
            HistoryRow::Task(key) if has_reason(key) => FAILED_HEIGHT * rem,
            HistoryRow::Task(_) => TASK_HEIGHT * rem,
            HistoryRow::Batch(key, tasks) if is_explained(all, key, tasks) => {
                EXPLAINED_BATCH_HEIGHT * rem
            }
            HistoryRow::Batch(..) => BATCH_HEIGHT * rem,
        }))
    });
    let list = WindowedList::new(seen, stack, 0);
    let item = move |at: usize| {
        let rows = rows.read();
        let (row, total) = (rows.get(at)?.clone(), rows.len());
        let top = px(stack.read().top(at));
        let mut hasher = DefaultHasher::new();
        // A row that shows the same tasks is left alone.
        row.hash(&mut hasher);
        let key = format!("{top} {total} {:x}", hasher.finish());
        Some(Item::new(key, move || {
            let row = match row.clone() {
                HistoryRow::Task(key) => {
                    let name = names.and_then(|names| names.read_untracked().get(&key).cloned());
                    view! { <TaskRow task_key=key name held /> }.into_any()
                }
                HistoryRow::Batch(key, tasks) => {
                    view! { <BatchRow batch_key=key tasks held /> }.into_any()
                }
            };
            view! {
                <li
                    style:top=top.clone()
                    aria-posinset=(at + 1).to_string()
                    aria-setsize=total.to_string()
                >
                    {row}
                </li>
            }
            .into_any()
        }))
    };
    view! {
        <div
            class="task-rows"
            on:click=handler(move |click| held.keep_from_links(&click))
            node_ref=element
            style:height=list.height()
        >
            <ul role="list" aria-label="Tasks">{list.rows(item)}</ul>
        </div>
    }
}

/// Whether the row of a batch has more than its name and its pictures.
fn is_explained(all: Contexts, batch: &BatchKey, tasks: &[TaskKey]) -> bool {
    let mut tasks = tasks.iter().filter_map(|key| all.runner.task(key));
    let Some(first) = tasks.next() else {
        return false;
    };
    let first = first.read_untracked();
    let name = Batches::new(all).name(batch);
    let name = name.unwrap_or_else(|| first.model_name.clone());
    first.can_retry()
        || tasks.any(|task| {
            let task = task.read_untracked();
            task.can_retry() || has_differences_besides_name(&name, &first, &task)
        })
}
