//! The command palette: finds pages, models, tasks and actions by name. `Ctrl+K` opens it.

mod search;

use atelier_studio::form::control;
use icondata_lu::LuSearch;
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::browser::frame::after_frame;
use crate::browser::location;
use crate::reactive::boxed::{dynamic, effect, handler, text};
use crate::state::contexts::contexts;
use crate::view::batch::cancel_rest;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::into_view::into_view;
use crate::view::parts::{dialog, focus_return};
use crate::view::shell::dropped_file::OPEN_FILE;
use crate::view::shell::shortcuts::{self, COMMANDS, SHORTCUTS};
use crate::view::task::{actions, thumbnail};
use search::{Act, Command, NO_MATCH, search};

/// The button that opens the command palette.
pub fn palette_button() -> AnyView {
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
    focus_return::follow(is_open);
    let typed = RwSignal::new(String::new());
    let found = search(contexts, is_open, typed);
    let at = RwSignal::new(0);
    scroll_to_selected(at);
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
            Act::OpenFile => shortcuts::open(navigation, OPEN_FILE),
            Act::UseTheme(theme) => theme.choose(contexts.theme),
            Act::Task(key, action) => actions::perform(contexts, &key, action),
            Act::CancelTheRest => cancel_rest::press(),
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
    // Search results are sorted by relevance and have no groups.
    let is_grouped = move || typed.read_untracked().trim().is_empty();
    let contents = move || {
        view! {
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
        }
        .into_any()
    };
    view! {
        <dialog
            class="commands"
            node_ref=dialog
            aria-label="Commands"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            on:close=dialog::closed(close)
            on:keydown=handler(move |event: KeyboardEvent| {
                // The key that opens the dialog also closes it.
                if is_palette_key(&event) {
                    event.prevent_default();
                    close();
                }
            })
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

fn is_palette_key(event: &KeyboardEvent) -> bool {
    let has_modifier =
        (event.ctrl_key() || event.meta_key()) && !event.shift_key() && !event.alt_key();
    has_modifier && !event.repeat() && event.key().eq_ignore_ascii_case("k")
}

/// Scrolls to the selected option.
fn scroll_to_selected(at: RwSignal<usize>) {
    effect(move || {
        let id = option_id(at.get());
        after_frame(move || {
            if let Some(option) = document().get_element_by_id(&id) {
                into_view(&option);
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
    let runner = contexts().runner;
    let mut group = "";
    let option = |(n, command): (usize, Command)| {
        let has_heading = is_grouped || command.group == NO_MATCH;
        let begins = has_heading && std::mem::replace(&mut group, command.group) != command.group;
        let heading = begins.then(|| {
            view! {
                <li role="presentation" class="command-group">
                    {command.group}
                </li>
            }
            .into_any()
        });
        let (label, about) = (command.label.clone(), command.about(is_grouped));
        let task = command.task.as_ref();
        let picture = task.and_then(|key| runner.task(key)).map(|task| {
            view! {
                <span class="command-picture" aria-hidden="true">
                    {thumbnail(&task)}
                </span>
            }
            .into_any()
        });
        view! {
            {heading}
            <li
                role="option"
                id=option_id(n)
                aria-selected=text(move || (at.get() == n).to_string())
                on:click=handler(move |_| act.run(command.clone()))
            >
                {picture}
                <span class="command-label" dir="auto">
                    {label}
                </span>
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
