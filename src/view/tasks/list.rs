use std::collections::HashMap;

use crate::state::contexts::contexts;
use atelier_engine::{Action, Task, TaskKey, UNDO_MS};
use atelier_studio::history::{self, HistoryEntry};
use atelier_studio::text::plural::counted_many;
use icondata_lu::{LuListChecks, LuTrash2};
use leptos::prelude::*;

use super::filters::{Filters, filter};
use super::rows::Rows;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::question::Question;

/// The number of tasks from which removal asks for confirmation, because undo is offered for seconds only.
const MIN_TO_CONFIRM: usize = 11;

/// `/tasks`: everything submitted, newest first.
#[component]
pub fn TasksPage() -> impl IntoView {
    let runner = contexts().runner;
    let batches = Batches::new(contexts());
    batches.follow();
    let navigation = contexts().navigation;
    let typed = RwSignal::new(untrack(|| navigation.query("q")).unwrap_or_default());
    // The Back button or a link may change the query.
    let query = memo(move || navigation.query("q").unwrap_or_default());
    effect(move || {
        let text = query.get();
        if text != typed.read_untracked().trim() {
            typed.set(text);
        }
    });
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
    let rows = memo(move || {
        let found = found.read();
        records.with_value(|records| history::rows(records, &found.positions))
    });
    // Only tasks that the filter shows, and no favorites.
    let finished = memo(move || {
        runner.track_phases();
        let is_finished = |key: &TaskKey| {
            let task = runner.task(key);
            let is_removable = |task: &Task| task.state.is_terminal() && task.favorites.is_empty();
            task.is_some_and(|task| task.with_untracked(is_removable))
        };
        let keys = keys.read();
        keys.iter()
            .filter(|key| is_finished(key))
            .cloned()
            .collect::<Vec<TaskKey>>()
    });
    let what = text(move || {
        let all = keys.read().len() == runner.keys().len();
        let which = if all { "" } else { " shown here" };
        let count = counted_many(finished.read().len(), "finished task");
        format!(
            "Clears {count}{which} and their outputs from this browser. Favorites stay. You can undo this for {} seconds.",
            UNDO_MS / 1_000,
        )
    });
    let no_match = text(move || match typed.read().trim() {
        "" => "No task matches.".to_owned(),
        typed => format!("No task matches “{typed}”."),
    });
    let remove = move || {
        runner.act_on_all(&finished.get_untracked(), Action::Remove);
    };
    let question = Question::default();
    let remove_or_ask = move |_| match finished.read_untracked().len() {
        0..MIN_TO_CONFIRM => remove(),
        _ => question.ask(),
    };
    // The count is hidden until the tasks are read, because its width depends on the numbers.
    let is_unread = when(move || !runner.is_open() || runner.unread().is_some());
    // Rows are hidden until the names of batches are read, because their height depends on the names.
    let placed = memo(move || match batches.is_read() {
        true => rows.get(),
        false => Vec::new(),
    });
    // Filters are hidden until a task was submitted.
    let has_no_filters = when(move || is_unread.get() || runner.keys().is_empty());
    let has_note =
        move || runner.unread().is_some() || (runner.is_open() && keys.read().is_empty());
    view! {
        <div class="page tasks-page">
            <div class="page-head">
                <h1>"Tasks"</h1>
                <div class="row" hidden=is_unread>
                    <p class="muted" role="status" prop:textContent=text(move || {
                            history::count_label(keys.read().len(), runner.keys().len(), &rows.read())
                        })></p>
                </div>
            </div>
            {question.view("Clear finished tasks", what, "Keep", "Clear them", "danger", Callback::new(move |()| remove()))}
            <div hidden=has_no_filters>
                <Filters typed found />
            </div>
            <Rows rows=placed />
            <div class="empty" hidden=when(move || !has_note())>
                <Glyph icon=LuListChecks />
                {dynamic(move || {
                    if let Some(unread) = runner.unread() {
                        view! { <p>{unread}</p> }.into_any()
                    } else if runner.keys().is_empty() {
                        view! {
                            <p>"Nothing submitted yet."</p>
                            <a class="button" href="/">
                                "Choose a model"
                            </a>
                        }
                            .into_any()
                    } else {
                        view! {
                            <p prop:textContent=no_match></p>
                            <a class="button" href="/tasks" on:click=handler(move |_| typed.set(String::new()))>
                                "Show all tasks"
                            </a>
                        }
                            .into_any()
                    }
                })}
            </div>
            // Shown at the top, but last in the tab order, because it removes tasks.
            <button
                class="button quiet small removes remove-finished"
                type="button"
                title=what
                hidden=when(move || is_unread.get() || finished.read().is_empty())
                on:click=handler(remove_or_ask)
            >
                <Glyph icon=LuTrash2 />
                <span prop:textContent=text(move || {
                    let count = finished.read().len();
                    let more = if count < MIN_TO_CONFIRM { "" } else { "…" };
                    format!("Clear {}{more}", counted_many(count, "finished task"))
                })></span>
            </button>
        </div>
    }
}

/// Updates the entries. Reads only tasks that are new or have changed.
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
            Some(record)
                if record.phase == task.state.phase()
                    && record.has_favorites != task.favorites.is_empty() =>
            {
                record
            }
            _ => HistoryEntry::new(task),
        });
        records.push(record);
    }
}
