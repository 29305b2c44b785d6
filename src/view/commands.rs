//! Pages, models, tasks and actions by name: `Ctrl+K`, a few letters, Enter.

use atelier_engine::route::Route;
use atelier_engine::search::{Query, Searchable};
use icondata_lu::LuX;
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::shortcuts::{self, COMMANDS, SHORTCUTS};
use crate::boxed::{dynamic, effect, handler, memo, text};
use crate::browser::frame::after_frame;
use crate::catalog::Load;
use crate::contexts::{Contexts, contexts};
use crate::view::parts::dialog;
use crate::view::parts::glyph::Glyph;

/// So many are listed; further letters find the others.
const SHOWN: usize = 12;

/// Of each kind so many are listed before anything is typed.
const OFFERED: usize = 5;

/// Of so many latest tasks the names are looked through.
const TASKS: usize = 500;

#[derive(Debug, Clone, PartialEq)]
enum Act {
    Go(String),
    ShowShortcuts,
}

#[derive(Debug, Clone, PartialEq)]
struct Command {
    group: &'static str,
    label: String,
    /// What it is: a model's category, a task's model.
    about: String,
    act: Act,
}

impl Command {
    fn go(group: &'static str, label: &str, about: &str, route: &Route) -> Self {
        Self {
            group,
            label: label.to_owned(),
            about: about.to_owned(),
            act: Act::Go(route.path()),
        }
    }
}

/// Everything that there is, by group; tracked.
fn all(contexts: Contexts) -> Vec<Command> {
    let page = |label, route| Command::go("Pages", label, "Page", &route);
    let mut commands = vec![
        page("Models", Route::Models),
        page("Tasks", Route::Tasks),
        page("Gallery", Route::Gallery),
        page("Settings", Route::Settings),
    ];
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
        let route = Route::Task(key.clone());
        Some(Command::go("Latest tasks", title, &about, &route))
    }));
    if let Load::Loaded(list) = contexts.catalog.models() {
        let models = list.models.iter();
        commands.extend(models.map(|model| {
            let about = format!("Model · {}", model.id.category);
            let route = Route::Model(model.id.clone());
            Command::go("Models", model.display_name(), &about, &route)
        }));
    }
    commands.push(Command {
        group: "Help",
        label: "Keyboard shortcuts".to_owned(),
        about: "Help".to_owned(),
        act: Act::ShowShortcuts,
    });
    commands
}

/// The first of each group.
fn offered(commands: &[Command]) -> Vec<Command> {
    let mut offered = Vec::new();
    for group in commands.chunk_by(|one, next| one.group == next.group) {
        offered.extend(group.iter().take(OFFERED).cloned());
    }
    offered
}

/// What the letters find; without any, some of each group.
fn found(contexts: Contexts, is_open: Signal<bool>, typed: RwSignal<String>) -> Memo<Vec<Command>> {
    let commands = memo(move || match is_open.get() {
        true => all(contexts),
        false => Vec::new(),
    });
    let searchable = memo(move || {
        let of = |command: &Command| Searchable::new([command.label.as_str(), &command.about]);
        commands.read().iter().map(of).collect::<Vec<_>>()
    });
    memo(move || {
        if typed.read().trim().is_empty() {
            return offered(&commands.read());
        }
        let mut found = Query::new(&typed.read()).find(&*searchable.read());
        found.truncate(SHOWN);
        let commands = commands.read();
        found.into_iter().map(|at| commands[at].clone()).collect()
    })
}

#[component]
pub fn Commands() -> impl IntoView {
    let contexts = contexts();
    let navigation = contexts.navigation;
    let dialog = NodeRef::<Dialog>::new();
    let is_open = shortcuts::is_open(navigation, COMMANDS);
    dialog::follow(dialog, is_open);
    let typed = RwSignal::new(String::new());
    let found = found(contexts, is_open, typed);
    let at = RwSignal::new(0);
    stay_in_sight(at);
    let close = move || {
        shortcuts::close(navigation, COMMANDS);
        typed.set(String::new());
        at.set(0);
    };
    let act = Callback::new(move |command: Command| {
        close();
        match command.act {
            Act::Go(path) => navigation.go(&path),
            Act::ShowShortcuts => shortcuts::open(navigation, SHORTCUTS),
        }
    });
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
                    act.run(command);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    // What was searched for stands in the order in which it was found.
    let is_grouped = move || typed.read_untracked().trim().is_empty();
    view! {
        <dialog
            class="commands"
            node_ref=dialog
            aria-label="Commands"
            closedby="any"
            on:close=handler(move |_: web_sys::Event| close())
        >
            <div class="commands-head">
                <input
                    type="text"
                    role="combobox"
                    aria-label="Search commands"
                    aria-expanded="true"
                    aria-controls="commands"
                    aria-activedescendant=text(move || option_id(at.get()))
                    placeholder="Search models, tasks, pages"
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
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Close"
                    on:click=handler(move |_| close())
                >
                    <Glyph icon=LuX />
                </button>
            </div>
            {dynamic(move || options(found.get(), is_grouped(), at, act))}
        </dialog>
    }
}

/// What is chosen is scrolled to.
fn stay_in_sight(at: RwSignal<usize>) {
    effect(move || {
        let id = option_id(at.get());
        after_frame(move || {
            if let Some(option) = document().get_element_by_id(&id) {
                let options = ScrollIntoViewOptions::new();
                options.set_block(ScrollLogicalPosition::Nearest);
                option.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
}

fn options(
    found: Vec<Command>,
    is_grouped: bool,
    at: RwSignal<usize>,
    act: Callback<Command>,
) -> AnyView {
    if found.is_empty() {
        return view! { <p class="muted">"Nothing matches."</p> }.into_any();
    }
    let mut group = "";
    let option = |(n, command): (usize, Command)| {
        let begins = is_grouped && std::mem::replace(&mut group, command.group) != command.group;
        let heading = begins.then(|| {
            view! {
                <li role="presentation" class="command-group">
                    {command.group}
                </li>
            }
            .into_any()
        });
        let (label, about) = (command.label.clone(), command.about.clone());
        view! {
            {heading}
            <li
                role="option"
                id=option_id(n)
                aria-selected=text(move || (at.get() == n).to_string())
                on:click=handler(move |_| act.run(command.clone()))
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
}

fn option_id(n: usize) -> String {
    format!("command-{n}")
}
