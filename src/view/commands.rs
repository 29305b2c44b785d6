//! Pages, models, tasks and actions by name: `Ctrl+K`, a few letters, Enter.

use atelier_engine::batch::differences::names_among_siblings;
use atelier_engine::route::Route;
use atelier_engine::search::{Query, Searchable};
use atelier_engine::{Action, Task, TaskKey, control};
use icondata_lu::LuSearch;
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::shortcuts::{self, COMMANDS, SHORTCUTS};
use crate::boxed::{dynamic, effect, handler, memo, text};
use crate::browser::frame::after_frame;
use crate::browser::location;
use crate::catalog::Load;
use crate::contexts::{Contexts, contexts};
use crate::theme::Theme;
use crate::view::model::mode::Mode;
use crate::view::parts::dialog;
use crate::view::parts::glyph::Glyph;
use crate::view::task::{actions, edit};

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
    UseTheme(Theme),
    /// What a task offers on its page.
    Task(TaskKey, Action),
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

    fn act(group: &'static str, label: &str, act: Act) -> Self {
        Self {
            group,
            label: label.to_owned(),
            about: "Action".to_owned(),
            act,
        }
    }
}

/// Everything that there is, by group; tracked.
fn all(contexts: Contexts) -> Vec<Command> {
    let mut commands = on_this_page(contexts);
    let page = |label, route| Command::go("Pages", label, "Page", &route);
    commands.extend([
        page("Models", Route::Models),
        page("Tasks", Route::Tasks),
        page("Gallery", Route::Gallery),
        page("Settings", Route::Settings),
    ]);
    commands.extend(anywhere(contexts));
    let runner = contexts.runner;
    let latest = runner.keys();
    let latest = &latest[..latest.len().min(TASKS)];
    commands.extend(runner.with_tasks_of(latest, |tasks| {
        let names = names_among_siblings(tasks.iter().copied());
        let command = |task: &&Task| task_command(task, names.get(&task.key));
        tasks.iter().map(command).collect::<Vec<_>>()
    }));
    if let Load::Loaded(list) = contexts.catalog.models() {
        let models = list.models.iter();
        commands.extend(models.map(|model| {
            let about = format!("Model · {}", model.id.category);
            let route = Route::Model(model.id.clone());
            Command::go("Models", model.display_name(), &about, &route)
        }));
    }
    commands
}

/// The way to a task; `name`: what tells it apart from others that have its prompt.
fn task_command(task: &Task, name: Option<&String>) -> Command {
    let title = match task.input.title() {
        "" => "No prompt",
        title => title,
    };
    let name = name.map_or_else(String::new, |name| format!(" · {name}"));
    let about = format!("Task · {}{name}", task.model_name);
    let route = Route::Task(task.key.clone());
    Command::go("Latest tasks", title, &about, &route)
}

/// What can be done with the model or the task that the page is about; tracked.
fn on_this_page(contexts: Contexts) -> Vec<Command> {
    let act = |label, act| Command::act("On this page", label, act);
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
            let needs_words =
                |action: &Action| matches!(action, Action::Refetch | Action::Resubmit);
            let offered = Action::offered(&task).into_iter();
            let offered = offered.filter(|action| !needs_words(action));
            let offered = offered.map(|action| act(action.label(), Act::Task(key.clone(), action)));
            [edit].into_iter().chain(offered).collect()
        }
        _ => Vec::new(),
    }
}

fn anywhere(contexts: Contexts) -> Vec<Command> {
    let act = |label, act| Command::act("Actions", label, act);
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

/// The way to them for who does not know the keys.
pub fn go_to() -> AnyView {
    let navigation = contexts().navigation;
    let key = control::command_key(&location::platform());
    view! {
        <div class="go-to">
            <button
                class="button small"
                type="button"
                aria-haspopup="dialog"
                aria-keyshortcuts="Control+K Meta+K"
                on:click=handler(move |_| shortcuts::open(navigation, COMMANDS))
            >
                <Glyph icon=LuSearch />
                "Go to…"
                <kbd aria-hidden="true">{key} " K"</kbd>
            </button>
        </div>
    }
    .into_any()
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
            Act::UseTheme(theme) => theme.choose(contexts.theme),
            Act::Task(key, action) => actions::perform(contexts, &key, action),
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
                    placeholder="Search models, tasks, actions"
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
                {dialog::close_button(close, false)}
            </div>
            {dynamic(move || options(found.get(), is_grouped(), at, act))}
            {dialog::notices(is_open)}
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
