use std::collections::HashMap;

use crate::contexts::contexts;
use atelier_engine::history::HistoryEntry;
use atelier_engine::window::Grid;
use atelier_engine::{Action, TaskKey};
use icondata_lu::LuListChecks;
use leptos::html::Div;
use leptos::prelude::*;

use super::filters::{Filters, filter};
use super::row::TaskRow;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::runner::Runner;
use crate::view::parts::confirm::ConfirmButton;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport::viewport;

/// The height of a row in `rem`; the stylesheet has the same.
const ROW_HEIGHT: f64 = 5.5;

/// `/tasks`: everything submitted, newest first.
#[component]
pub fn TasksPage() -> impl IntoView {
    let runner = contexts().runner;
    let navigation = contexts().navigation;
    let typed = RwSignal::new(untrack(|| navigation.query("q")).unwrap_or_default());
    let records = StoredValue::new(Vec::<HistoryEntry>::new());
    let found = memo(move || {
        let filter = filter(navigation, &typed.read());
        records.try_update_value(|records| refresh(records, runner));
        records.with_value(|records| filter.find(records))
    });
    let keys = memo(move || {
        let found = found.read();
        records.with_value(|records| {
            let key = |at: &usize| records.get(*at).map(|record| record.key.clone());
            found
                .positions
                .iter()
                .filter_map(key)
                .collect::<Vec<TaskKey>>()
        })
    });
    let finished = memo(move || {
        let tasks = runner.tasks();
        let finished = tasks.into_iter().filter(|task| task.state.is_terminal());
        finished.map(|task| task.key).collect::<Vec<TaskKey>>()
    });
    let question = text(move || {
        match finished.read().len() {
        1 => "Forget 1 finished task? Its outputs stay at the service for as long as that keeps them.".into(),
        n => format!("Forget {n} finished tasks? Their outputs stay at the service for as long as that keeps them."),
    }
    });
    let clear = move |()| {
        for key in finished.get_untracked() {
            runner.act(&key, Action::Remove);
        }
    };
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"Tasks"</h1>
                <div class="row">
                    <p class="muted" role="status">
                        {text(move || match keys.read().len() {
                            1 => "1 task".to_owned(),
                            n => format!("{n} tasks"),
                        })}
                    </p>
                    <div hidden=when(move || finished.read().is_empty())>
                        <ConfirmButton
                            label="Clear finished"
                            question
                            confirm="Forget them"
                            on_confirm=clear
                        />
                    </div>
                </div>
            </div>
            <Filters typed found />
            <Rows keys />
            <div class="empty framed" hidden=when(move || !keys.read().is_empty())>
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
                        view! {
                            <p>"No task matches."</p>
                            <a class="button" href="/tasks" on:click=handler(move |_| typed.set(String::new()))>
                                "Show all tasks"
                            </a>
                        }
                            .into_any()
                    }
                })}
            </div>
        </div>
    }
}

/// Brings the records up to date; only tasks that are new or have changed state are read anew.
fn refresh(records: &mut Vec<HistoryEntry>, runner: Runner) {
    runner.track_phases();
    let mut known: HashMap<TaskKey, HistoryEntry> = records
        .drain(..)
        .map(|record| (record.key.clone(), record))
        .collect();
    for key in runner.keys().iter() {
        let Some(task) = runner.task(key) else {
            continue;
        };
        let record = task.with_untracked(|task| match known.remove(key) {
            Some(record) if record.phase == task.state.phase() => record,
            _ => HistoryEntry::new(task),
        });
        records.push(record);
    }
}

/// The rows near the screen; the others are only room.
#[component]
fn Rows(keys: Memo<Vec<TaskKey>>) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let seen = viewport(element);
    let grid = move || Grid {
        items: keys.read().len(),
        columns: 1,
        row_height: ROW_HEIGHT * seen.read().rem.max(1.0),
    };
    let shown = move || {
        let seen = seen.get();
        let from = seen.from.max(0.0);
        grid().window(from, seen.to - from, 0)
    };
    let rows = move || {
        let window = shown();
        let keys = keys.read();
        let total = keys.len();
        let height = grid().row_height;
        window
            .items
            .filter_map(|at| {
                let key = keys.get(at)?.clone();
                let top = (at as f64 * height) as i64;
                Some(Item::new(format!("{top} {total} {}", key.0), move || {
                    let key = key.clone();
                    view! {
                        <li
                            style:top=format!("{top}px")
                            aria-posinset=(at + 1).to_string()
                            aria-setsize=total.to_string()
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
            <ul role="list" aria-label="Tasks">{list(rows)}</ul>
        </div>
    }
}
