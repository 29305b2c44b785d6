//! The commands of the palette, and the search in them.

use std::collections::HashMap;

use atelier_contract::ModelId;
use atelier_engine::{Action, BatchKey, Task, TaskKey};
use atelier_studio::batch::Batch;
use atelier_studio::batch::differences::distinguishing_names;
use atelier_studio::batch::naming::found_label;
use atelier_studio::navigation::commands::{CommandRow, MODELS, grouped, models};
use atelier_studio::navigation::model_order::recent;
use atelier_studio::navigation::route::{Route, with_query_value};
use atelier_studio::navigation::search::{Query, Searchable};
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::batches::Batches;
use crate::state::cancel;
use crate::state::catalog::Load;
use crate::state::contexts::Contexts;
use crate::state::theme::Theme;
use crate::view::batch::cancel_rest::{CANCEL_THE_REST, to_cancel};
use crate::view::model::mode::Mode;
use crate::view::task::edit;

/// The maximum number of search results.
const MAX_RESULTS: usize = 12;

/// The number of commands in a group before anything is typed.
const MAX_PER_GROUP: usize = 5;

/// The number of latest tasks that are searched.
const MAX_TASKS: usize = 500;

/// The heading above the commands that search all outputs or tasks.
pub const NO_MATCH: &str = "Nothing here matches";

#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Go(String),
    ShowShortcuts,
    OpenFile,
    UseTheme(Theme),
    /// An action that a task offers on its page.
    Task(TaskKey, Action),
    /// Cancels the items of the batch on this page that have not ended.
    CancelTheRest,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub group: &'static str,
    pub label: String,
    /// The kind of the target, shown if the command is not in a group of its kind.
    kind: &'static str,
    /// The category of a model, or the model of a task.
    about: String,
    pub act: Act,
    /// The task whose thumbnail is shown.
    pub task: Option<TaskKey>,
    /// The batch of `task`.
    batch: Option<BatchKey>,
}

impl Command {
    fn new(group: &'static str, kind: &'static str, label: &str, act: Act) -> Self {
        Self {
            group,
            label: label.to_owned(),
            kind,
            about: String::new(),
            act,
            task: None,
            batch: None,
        }
    }

    /// Returns the text next to the label: `Model · image`, or `image` within a group.
    pub fn about(&self, is_grouped: bool) -> String {
        match (is_grouped, self.about.as_str()) {
            (true, about) => about.to_owned(),
            (false, "") => self.kind.to_owned(),
            (false, about) => format!("{} · {about}", self.kind),
        }
    }
}

/// Returns all commands, sorted by group; tracked.
fn all_commands(contexts: Contexts) -> Vec<Command> {
    let mut commands = on_this_page(contexts);
    let runner = contexts.runner;
    let latest = runner.keys();
    let latest = &latest[..latest.len().min(MAX_TASKS)];
    if let Load::Loaded(list) = contexts.catalog.models() {
        let recent = runner.with_tasks_of(latest, |tasks| recent(tasks.iter().copied()));
        let known: Vec<&ModelId> = list.models.iter().map(|model| &model.id).collect();
        commands.extend(models(&known, &recent).into_iter().map(|at| {
            let model = &list.models[at];
            let act = Act::Go(Route::Model(model.id.clone()).path());
            Command {
                about: model.id.category.clone(),
                ..Command::new("Models", "Model", model.display_name(), act)
            }
        }));
    }
    let page = |label, route: Route| Command::new("Pages", "Page", label, Act::Go(route.path()));
    commands.extend([
        page("Models", Route::Models),
        page("Tasks", Route::Tasks),
        page("Gallery", Route::Gallery),
        page("Settings", Route::Settings),
    ]);
    commands.extend(anywhere(contexts));
    commands.extend(runner.with_tasks_of(latest, |tasks| {
        let names = distinguishing_names(tasks.iter().copied());
        let command = |task: &&Task| task_command(task, names.get(&task.key));
        tasks.iter().map(command).collect::<Vec<_>>()
    }));
    commands
}

/// The command that opens a task. `name`: its difference from other tasks with the same prompt.
fn task_command(task: &Task, name: Option<&String>) -> Command {
    let title = match task.input.title() {
        "" => "No prompt",
        title => title,
    };
    let name = name.map_or_else(String::new, |name| format!(" · {name}"));
    let act = Act::Go(Route::Task(task.key.clone()).path());
    Command {
        about: format!("{}{name}", task.model_name),
        task: Some(task.key.clone()),
        batch: task.batch.as_ref().map(|place| place.batch.clone()),
        ..Command::new("Latest tasks", "Task", title, act)
    }
}

/// The command that opens the batch of `task`. It replaces the `count` tasks of the batch that were found.
fn batch_command(contexts: Contexts, task: &Command, count: usize) -> Command {
    let Some(key) = task.batch.clone() else {
        return task.clone();
    };
    let known = Batches::new(contexts).find(&key);
    let size = known.as_ref().map_or(count, Batch::count);
    let name = known.as_ref().map_or(&task.label, |batch| &batch.name);
    let first = task.task.as_ref();
    let first = first.and_then(|key| contexts.runner.task(key));
    let model = first.map_or_else(String::new, |task| task.read().model_name.clone());
    Command {
        about: format!("{model} · {}", found_label(count, size)),
        task: task.task.clone(),
        ..Command::new(task.group, "Batch", name, Act::Go(Route::Batch(key).path()))
    }
}

/// Returns the actions on the model or task of the current page; tracked.
fn on_this_page(contexts: Contexts) -> Vec<Command> {
    let act = |label, act| Command::new("On this page", "Action", label, act);
    match contexts.navigation.route() {
        Route::Model(model) => {
            let in_mode = |mode: Mode| {
                let path = Route::Model(model.clone()).path() + &mode.query();
                act(mode.does(), Act::Go(path))
            };
            Mode::ALL.into_iter().map(in_mode).collect()
        }
        Route::Task(key) => {
            let Some(task) = contexts.runner.task(&key) else {
                return Vec::new();
            };
            let task = task.read();
            let edit = act("Edit", Act::Go(edit::address(&task)));
            // Not in the palette: the page of the task shows the outcome of these actions, and Resubmit may cost money.
            let is_left_out = |action: &Action| {
                matches!(
                    action,
                    Action::Refetch | Action::AskAgain | Action::Resubmit
                )
            };
            let can_cancel = cancel::is_offered(contexts, &task);
            let offered = Action::offered_by(&task, can_cancel).into_iter();
            let offered = offered.filter(|action| !is_left_out(action));
            let label = |action| match action {
                Action::Cancel | Action::CancelAtService => "Cancel task",
                action => action.label(),
            };
            let offered = offered.map(|action| act(label(action), Act::Task(key.clone(), action)));
            [edit].into_iter().chain(offered).collect()
        }
        Route::Batch(key) => {
            let batch = Batches::new(contexts).find(&key);
            let can_cancel = batch.is_some_and(|batch| !to_cancel(contexts, &batch).is_empty());
            let cancel = can_cancel.then(|| act(CANCEL_THE_REST, Act::CancelTheRest));
            cancel.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn anywhere(contexts: Contexts) -> Vec<Command> {
    let act = |label, act| Command::new("Actions", "Action", label, act);
    let go = |label, target: &str| act(label, Act::Go(target.to_owned()));
    let theme = contexts.theme.get();
    let themes = [
        ("Light theme", Theme::Light),
        ("Dark theme", Theme::Dark),
        ("Theme of the system", Theme::System),
    ];
    let themes = themes.into_iter().filter(|(_, other)| *other != theme);
    let themes = themes.map(|(label, other)| act(label, Act::UseTheme(other)));
    let others = [
        act("Keyboard shortcuts", Act::ShowShortcuts),
        go("Show favorites", "/gallery?favorites=yes"),
        go("Show failed tasks", "/tasks?state=failed"),
        go("Export or import history", "/settings"),
        act("Open file", Act::OpenFile),
    ];
    others.into_iter().chain(themes).collect()
}

/// Returns commands that search the gallery and the list of tasks, for when no command matches. Unlike the palette, those
/// searches cover all tasks, and more than their names.
fn search_commands(typed: &str) -> Vec<Command> {
    let typed = typed.trim();
    let query = with_query_value("", "q", Some(typed));
    let command = |what: &str, page, route: Route| {
        let label = format!("Search all {what} for “{typed}”");
        Command::new(NO_MATCH, page, &label, Act::Go(route.path() + &query))
    };
    vec![
        command("outputs", "Gallery", Route::Gallery),
        command("tasks", "Tasks", Route::Tasks),
    ]
}

/// Returns the first commands of each group.
fn first_of_groups(contexts: Contexts, commands: &[Command]) -> Vec<Command> {
    let mut offered = Vec::new();
    for group in commands.chunk_by(|one, next| one.group == next.group) {
        let most = match group.first().map(|it| it.kind) {
            Some("Model") => MODELS,
            _ => MAX_PER_GROUP,
        };
        offered.extend(rows(contexts, group, 0..group.len(), most));
    }
    offered
}

/// Returns at most `most` rows for the found commands. Tasks of one batch share a row.
fn rows(
    contexts: Contexts,
    commands: &[Command],
    found: impl IntoIterator<Item = usize>,
    most: usize,
) -> Vec<Command> {
    let listed = grouped(found, |at| commands[at].batch.as_ref());
    let listed = listed.into_iter().take(most);
    let row = |row| match row {
        CommandRow::One(at) => commands[at].clone(),
        CommandRow::Batch(at, count) => batch_command(contexts, &commands[at], count),
    };
    listed.map(row).collect()
}

/// Returns the commands that match the typed text, or the first of each group while it is empty.
pub fn search(
    contexts: Contexts,
    is_open: Signal<bool>,
    typed: RwSignal<String>,
) -> Memo<Vec<Command>> {
    // Reads the names of batches, which tasks do not contain.
    effect(move || {
        if is_open.get() {
            Batches::new(contexts).follow();
        }
    });
    let commands = memo(move || match is_open.get() {
        true => all_commands(contexts),
        false => Vec::new(),
    });
    // The tasks of a batch are also found by its name.
    let names = memo(move || match is_open.get() {
        true => {
            let batches = Batches::new(contexts).all().into_iter();
            batches.map(|batch| (batch.key, batch.name)).collect()
        }
        false => HashMap::new(),
    });
    let searchable = memo(move || {
        let names = names.read();
        let of = |command: &Command| {
            let batch = command.batch.as_ref().and_then(|key| names.get(key));
            let batch = batch.map_or("", String::as_str);
            Searchable::new([command.label.as_str(), &command.about(false), batch])
        };
        commands.read().iter().map(of).collect::<Vec<_>>()
    });
    memo(move || {
        if typed.read().trim().is_empty() {
            return first_of_groups(contexts, &commands.read());
        }
        let found = Query::new(&typed.read()).find_nearest(&*searchable.read());
        let rows = rows(contexts, &commands.read(), found, MAX_RESULTS);
        match rows.is_empty() && is_open.get() {
            true => search_commands(&typed.read()),
            false => rows,
        }
    })
}
