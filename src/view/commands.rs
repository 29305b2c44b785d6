//! Pages, models, tasks and actions by name: `Ctrl+K`, a few letters, Enter.

use atelier_engine::route::Route;
use atelier_engine::search::{Query, Searchable};
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use super::dialogs;
use super::shortcuts::{self, COMMANDS, SHORTCUTS};
use crate::boxed::{dynamic, handler, memo, text};
use crate::catalog::Load;
use crate::contexts::{Contexts, contexts};

/// So many are listed; further letters find the others.
const SHOWN: usize = 12;

/// Of so many latest tasks the names are looked through.
const TASKS: usize = 500;

#[derive(Debug, Clone, PartialEq)]
enum Act {
    Go(String),
    ShowShortcuts,
}

#[derive(Debug, Clone, PartialEq)]
struct Command {
    label: String,
    /// What it is: a model's category, `Task`.
    about: String,
    act: Act,
}

impl Command {
    fn new(label: impl Into<String>, about: impl Into<String>, act: Act) -> Self {
        Self {
            label: label.into(),
            about: about.into(),
            act,
        }
    }

    fn go(label: impl Into<String>, about: impl Into<String>, route: &Route) -> Self {
        Self::new(label, about, Act::Go(route.path()))
    }
}

/// Everything that there is; tracked.
fn all(contexts: Contexts) -> Vec<Command> {
    let mut commands = vec![
        Command::go("Models", "Page", &Route::Models),
        Command::go("Tasks", "Page", &Route::Tasks),
        Command::go("Gallery", "Page", &Route::Gallery),
        Command::go("Settings", "Page", &Route::Settings),
    ];
    if let Load::Loaded(list) = contexts.catalog.models() {
        let models = list.models.iter();
        commands.extend(models.map(|model| {
            let about = format!("Model · {}", model.id.category);
            Command::go(model.display_name(), about, &Route::Model(model.id.clone()))
        }));
    }
    commands.push(Command::new(
        "Keyboard shortcuts",
        "Help",
        Act::ShowShortcuts,
    ));
    let runner = contexts.runner;
    let tasks = runner.keys();
    commands.extend(tasks.iter().take(TASKS).filter_map(|key| {
        let task = runner.task(key)?;
        let task = task.read_untracked();
        let title = match task.input.title() {
            "" => "No prompt",
            title => title,
        };
        let about = format!("Task · {}", task.model_name);
        Some(Command::go(title, about, &Route::Task(key.clone())))
    }));
    commands
}

#[component]
pub fn Commands() -> impl IntoView {
    let contexts = contexts();
    let navigation = contexts.navigation;
    let dialog = NodeRef::<Dialog>::new();
    let is_open = shortcuts::is_open(navigation, COMMANDS);
    dialogs::follow(dialog, is_open);
    let typed = RwSignal::new(String::new());
    let commands = memo(move || match is_open.get() {
        true => all(contexts),
        false => Vec::new(),
    });
    let searchable = memo(move || {
        let of = |command: &Command| Searchable::new([command.label.as_str(), &command.about]);
        commands.read().iter().map(of).collect::<Vec<_>>()
    });
    let found = memo(move || {
        let mut found = Query::new(&typed.read()).find(&*searchable.read());
        found.truncate(SHOWN);
        let commands = commands.read();
        found
            .into_iter()
            .map(|at| commands[at].clone())
            .collect::<Vec<_>>()
    });
    let at = RwSignal::new(0);
    let close = move || {
        shortcuts::close(navigation, COMMANDS);
        typed.set(String::new());
        at.set(0);
    };
    let act = move |command: Command| {
        close();
        match command.act {
            Act::Go(path) => navigation.go(&path),
            Act::ShowShortcuts => shortcuts::open(navigation, SHORTCUTS),
        }
    };
    let press = move |event: KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        let count = found.read_untracked().len();
        match event.key().as_str() {
            "ArrowDown" if count > 0 => at.update(|at| *at = (*at + 1) % count),
            "ArrowUp" if count > 0 => at.update(|at| *at = (*at + count - 1) % count),
            "Enter" => {
                let chosen = found.read_untracked().get(at.get_untracked()).cloned();
                if let Some(command) = chosen {
                    act(command);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    let options = dynamic(move || {
        let found = found.get();
        if found.is_empty() {
            return view! { <p class="muted">"Nothing matches."</p> }.into_any();
        }
        let option = |(n, command): (usize, Command)| {
            let (label, about) = (command.label.clone(), command.about.clone());
            view! {
                <li
                    role="option"
                    id=option_id(n)
                    aria-selected=text(move || (at.get() == n).to_string())
                    on:click=handler(move |_| act(command.clone()))
                >
                    <span dir="auto">{label}</span>
                    <span class="muted">{about}</span>
                </li>
            }
            .into_any()
        };
        let options = found.into_iter().enumerate().map(option);
        view! {
            <ul role="listbox" id="commands" aria-label="Commands">
                {options.collect_view()}
            </ul>
        }
        .into_any()
    });
    view! {
        <dialog
            class="commands"
            node_ref=dialog
            aria-label="Commands"
            closedby="any"
            on:close=handler(move |_: web_sys::Event| close())
        >
            <input
                type="text"
                role="combobox"
                aria-label="Search commands"
                aria-expanded="true"
                aria-controls="commands"
                aria-activedescendant=text(move || option_id(at.get()))
                placeholder="Go to a model, a task, a page"
                autocomplete="off"
                spellcheck="false"
                autofocus
                prop:value=typed
                on:input=handler(move |event| {
                    typed.set(event_target_value(&event));
                    at.set(0);
                })
                on:keydown=handler(press)
            />
            {options}
        </dialog>
    }
}

fn option_id(n: usize) -> String {
    format!("command-{n}")
}
