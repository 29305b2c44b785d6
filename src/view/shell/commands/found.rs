//! What there is to choose from, and what of it the letters find.

use std::collections::HashMap;

use atelier_contract::ModelId;
use atelier_engine::{Action, BatchKey, Task, TaskKey};
use atelier_studio::batch::Batch;
use atelier_studio::batch::differences::names_among_siblings;
use atelier_studio::batch::naming::found_label;
use atelier_studio::navigation::commands::{CommandRow, MODELS, grouped, models};
use atelier_studio::navigation::model_order::recent;
use atelier_studio::navigation::route::{Route, with_query_value};
use atelier_studio::navigation::search::{Query, Searchable};
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::batches::Batches;
use crate::state::catalog::Load;
use crate::state::contexts::Contexts;
use crate::state::theme::Theme;
use crate::view::model::mode::Mode;
use crate::view::task::edit;

/// So many are listed; further letters find the others.
const SHOWN: usize = 12;

/// Of each kind so many are listed before anything is typed.
const OFFERED: usize = 5;

/// Of so many latest tasks the names are looked through.
const TASKS: usize = 500;

/// Stands above what is offered then.
pub const ELSEWHERE: &str = "Nothing here matches";

#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Go(String),
    ShowShortcuts,
    UseTheme(Theme),
    /// What a task offers on its page.
    Task(TaskKey, Action),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub group: &'static str,
    pub label: String,
    /// What it is, where that stands above no group of its kind.
    kind: &'static str,
    /// A model's category, a task's model.
    about: String,
    pub act: Act,
    /// What it shows of itself, and what that is an item of.
    pub task: Option<TaskKey>,
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

    /// What is read next to its label: `Model · image`; among its kind `image` alone.
    pub fn about(&self, is_grouped: bool) -> String {
        match (is_grouped, self.about.as_str()) {
            (true, about) => about.to_owned(),
            (false, "") => self.kind.to_owned(),
            (false, about) => format!("{} · {about}", self.kind),
        }
    }
}

/// Everything that there is, by group; tracked.
fn all(contexts: Contexts) -> Vec<Command> {
    let mut commands = on_this_page(contexts);
    let runner = contexts.runner;
    let latest = runner.keys();
    let latest = &latest[..latest.len().min(TASKS)];
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
        let names = names_among_siblings(tasks.iter().copied());
        let command = |task: &&Task| task_command(task, names.get(&task.key));
        tasks.iter().map(command).collect::<Vec<_>>()
    }));
    commands
}

/// The way to a task; `name`: what tells it apart from others that have its prompt.
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

/// Several tasks of a batch, of which this is one.
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

/// What can be done with the model or the task that the page is about; tracked.
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
            // What is said of these stands on the task itself; and one of them may cost money.
            let needs_words = |action: &Action| {
                matches!(
                    action,
                    Action::Refetch | Action::AskAgain | Action::Resubmit
                )
            };
            let offered = Action::offered(&task).into_iter();
            let offered = offered.filter(|action| !needs_words(action));
            let offered = offered.map(|action| act(action.label(), Act::Task(key.clone(), action)));
            [edit].into_iter().chain(offered).collect()
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
    ];
    others.into_iter().chain(themes).collect()
}

/// Nothing is called what was typed: outputs and tasks are found by more than their names, and there are more of them
/// than are looked through here.
fn elsewhere(typed: &str) -> Vec<Command> {
    let typed = typed.trim();
    let query = with_query_value("", "q", Some(typed));
    let search = |what: &str, page, route: Route| {
        let label = format!("Search all {what} for “{typed}”");
        Command::new(ELSEWHERE, page, &label, Act::Go(route.path() + &query))
    };
    vec![
        search("outputs", "Gallery", Route::Gallery),
        search("tasks", "Tasks", Route::Tasks),
    ]
}

/// The first of each group.
fn offered(contexts: Contexts, commands: &[Command]) -> Vec<Command> {
    let mut offered = Vec::new();
    for group in commands.chunk_by(|one, next| one.group == next.group) {
        let most = match group.first().map(|it| it.kind) {
            Some("Model") => MODELS,
            _ => OFFERED,
        };
        offered.extend(rows(contexts, group, 0..group.len(), most));
    }
    offered
}

/// So many rows of what was found.
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

/// What the letters find; without any, some of each group.
pub fn found(
    contexts: Contexts,
    is_open: Signal<bool>,
    typed: RwSignal<String>,
) -> Memo<Vec<Command>> {
    // A batch has a name, which its tasks do not know.
    effect(move || {
        if is_open.get() {
            Batches::new(contexts).follow();
        }
    });
    let commands = memo(move || match is_open.get() {
        true => all(contexts),
        false => Vec::new(),
    });
    // A person who has named a batch looks for that name.
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
            return offered(contexts, &commands.read());
        }
        let found = Query::new(&typed.read()).find_nearest(&*searchable.read());
        let rows = rows(contexts, &commands.read(), found, SHOWN);
        match rows.is_empty() && is_open.get() {
            true => elsewhere(&typed.read()),
            false => rows,
        }
    })
}
