use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::batch::naming::has_unnamed_differences;
use atelier_studio::gallery::anchor::{self, ItemPosition};
use atelier_studio::history::HistoryRow;
use atelier_studio::list::window::Stack;
use leptos::html::Div;
use leptos::prelude::*;

use super::batch_row::BatchRow;
use super::row::TaskRow;
use crate::reactive::boxed::{effect, handler, memo, spawn, text};
use crate::state::batches::Batches;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::list::Item;
use crate::view::parts::px::px;
use crate::view::parts::viewport::{Viewport, viewport};
use crate::view::parts::windowed_list::WindowedList;
use crate::view::task::words;

// The heights of rows, in `rem`; must match the style sheets in `style/tasks/`.

const TASK_HEIGHT: f64 = 5.5;
/// The height of a task that shows why it failed.
const FAILED_HEIGHT: f64 = 6.75;
const BATCH_HEIGHT: f64 = 9.5;
/// The height of a batch that shows why tasks failed, or how its tasks differ.
const EXPLAINED_BATCH_HEIGHT: f64 = 11.5;

/// The height of the bar at the top of the page in `rem`; it covers the rows below it.
const BAR: f64 = 3.75;

/// Names of tasks that distinguish them from others with the same prompt.
pub type Names = HashMap<TaskKey, String>;

/// A list of tasks and batches. Only the rows near the screen are in the page.
#[component]
pub fn Rows(
    rows: Memo<Vec<HistoryRow>>,
    /// Names that distinguish the tasks, read when a row is created.
    #[prop(optional, into)]
    names: Option<Signal<Names>>,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let held = DoubleClickGuard::default();
    let element = NodeRef::<Div>::new();
    let viewport = viewport(element);
    let rem = memo(move || viewport.read().rem.max(1.0));
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
    keep_place(rows, stack, viewport);
    let list = WindowedList::new(viewport, stack, 0);
    let total = memo(move || rows.read().len());
    let item = move |at: usize| {
        let row = rows.read().get(at)?.clone();
        // A row stays in the page as long as it shows the same tasks, wherever in the list it is: it may have the focus.
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        let key = format!("{:x}", hasher.finish());
        Some(Item::new(key, move || {
            let at = {
                let key = row_key(&row).to_owned();
                memo(move || position(&rows.read(), &key).unwrap_or(at))
            };
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
                    style:top=text(move || px(stack.read().top(at.get())))
                    aria-posinset=text(move || (at.get() + 1).to_string())
                    aria-setsize=text(move || total.get().to_string())
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
            on:click=handler(move |click| held.prevent_link_click(&click))
            node_ref=element
            style:height=list.height()
        >
            <ul role="list" aria-label="Tasks">{list.rows(item)}</ul>
        </div>
    }
}

/// Returns the key of the row's task or batch.
fn row_key(row: &HistoryRow) -> &str {
    match row {
        HistoryRow::Task(key) => &key.0,
        HistoryRow::Batch(key, _) => &key.0,
    }
}

/// Returns the index of the row with this key.
fn position(rows: &[HistoryRow], key: &str) -> Option<usize> {
    rows.iter().position(|row| row_key(row) == key)
}

/// The rows on the screen before a change.
struct Measured {
    /// The rows, each identified by the key of its task or batch.
    rows: Vec<ItemPosition<String>>,
    viewport: Viewport,
    /// The distance by which the page was scrolled since `viewport` was measured.
    shift: f64,
}

/// Scrolls when changes above the screen would move the rows on it. The browser's scroll anchoring ignores rows that are
/// positioned by `top`.
fn keep_place(rows: Memo<Vec<HistoryRow>>, stack: Memo<Stack>, viewport: RwSignal<Viewport>) {
    let measured = StoredValue::new(None::<Measured>);
    effect(move || {
        let (rows, stack, viewport) = (rows.read(), stack.read(), viewport.get());
        let before = measured.try_update_value(Option::take).flatten();
        let before = before.filter(|before| before.viewport == viewport);
        let mut shift = before.as_ref().map_or(0.0, |before| before.shift);
        let (from, to) = viewport.on_screen();
        let mut down = 0.0;
        if let Some(before) = before.filter(|_| from + shift > 0.0) {
            let now = |key: &String| {
                let at = position(&rows, key)?;
                Some((at, stack.top(at)))
            };
            down = anchor::shift(before.rows, from + shift + BAR * viewport.rem, now).down;
            shift += down;
        }
        let on_screen = stack.window(from + shift, to + shift);
        let on_screen = on_screen.filter_map(|at| {
            Some(ItemPosition {
                item: row_key(rows.get(at)?).to_owned(),
                at,
                top: stack.top(at),
                bottom: stack.top(at + 1),
            })
        });
        measured.set_value(Some(Measured {
            rows: on_screen.collect(),
            viewport,
            shift,
        }));
        if down != 0.0 {
            // Runs in the same frame, after the list has its new height.
            spawn(async move { window().scroll_by_with_x_and_y(0.0, down) });
        }
    });
}

/// Whether the row of a batch also shows why tasks failed, or how its tasks differ.
fn is_explained(all: Contexts, batch: &BatchKey, tasks: &[TaskKey]) -> bool {
    let mut tasks = tasks.iter().filter_map(|key| all.runner.task(key));
    let Some(first) = tasks.next() else {
        return false;
    };
    let first = first.read_untracked();
    let name = Batches::new(all).name(batch);
    let name = name.unwrap_or_else(|| first.model_name.clone());
    first.has_failed()
        || tasks.any(|task| {
            let task = task.read_untracked();
            task.has_failed() || has_unnamed_differences(&name, &first, &task)
        })
}
