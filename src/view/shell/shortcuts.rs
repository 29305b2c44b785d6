//! Keyboard shortcuts that work on every page, and the list of all shortcuts.

use std::cell::Cell;

use atelier_engine::Millis;
use atelier_studio::form::control;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;

use crate::browser::{clock, location};
use crate::reactive::boxed::{handler, when};
use crate::state::contexts::contexts;
use crate::state::navigation::Navigation;
use crate::view::parts::{dialog, focus, focus_return};

/// The query parameter that names the open dialog.
pub const OPEN: &str = "open";
pub const SHORTCUTS: &str = "shortcuts";
pub const COMMANDS: &str = "commands";

/// The maximum time between the two keys of a sequence.
const MAX_KEY_INTERVAL: Millis = 1_500;

/// The shortcuts, grouped by where they work. `Mod` is Ctrl, or ⌘ on a Mac; `+` joins keys that are pressed together.
const KEYS: [(&str, &[(&str, &str)]); 6] = [
    (
        "Everywhere",
        &[
            ("Mod+K", "Go to a model, task or page"),
            ("Mod+Z", "Undo, while that is offered"),
            ("/", "Search on this page"),
            ("g then m", "Models"),
            ("g then t", "Tasks"),
            ("g then g", "Gallery"),
            ("g then s", "Settings"),
            ("?", "This list"),
            ("Esc", "Close a dialog or menu"),
        ],
    ),
    (
        "Models and tasks",
        &[
            ("← ↑ → ↓", "Move between models, or a batch's items"),
            ("← or →", "Move along a batch in Tasks"),
            ("x or f or d", "An item: select, favorite, download"),
            ("Delete", "An item: remove its task"),
        ],
    ),
    (
        "A model's form",
        &[
            ("Mod+Enter", "Generate"),
            ("Alt+↑ or ↓", "Earlier prompts"),
            ("↑ or ↓", "A number, one step"),
            ("F1", "What the field is for"),
        ],
    ),
    (
        "Gallery",
        &[
            ("Tab", "The outputs, as one stop"),
            ("← ↑ → ↓", "Move between outputs"),
            ("Home or End", "First, last output"),
            ("Space or x", "Select; with Shift and an arrow, several"),
            ("f", "Toggle favorite"),
            ("d", "Download"),
            ("Mod+A", "Select all"),
            ("Delete", "Remove what is selected, or the output's task"),
            ("Esc", "Select none"),
            ("Enter", "Show large"),
        ],
    ),
    (
        "An output shown large",
        &[
            ("← or →", "Previous, next"),
            ("Space", "Play a film or a sound, or pause it"),
            ("Enter", "Full screen, and back"),
            ("f", "Toggle favorite"),
            ("d", "Download"),
            ("+ or -", "Zoom in, zoom out"),
            ("0", "Fit to the window"),
            ("Shift+← ↑ → ↓", "Move around a picture that is zoomed in"),
            ("Delete", "Remove its task"),
        ],
    ),
    (
        "Compare and Explore",
        &[
            ("← or →", "Along an axis, or move the slider"),
            ("f or d", "Explore: toggle favorite, download"),
            ("+ or -", "Zoom in, zoom out; all pictures in step"),
            ("0", "Fit to the window"),
            ("Shift+← ↑ → ↓", "Move around pictures that are zoomed in"),
        ],
    ),
];

/// Installs the event listener, which is never removed.
pub fn listen(navigation: Navigation) {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let g_pressed = Cell::new(None::<Millis>);
    EventListener::new_with_options(&document(), "keydown", may_prevent, move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        let key = event.key();
        if event.default_prevented() || event.alt_key() || event.is_composing() {
            return;
        }
        if event.ctrl_key() || event.meta_key() {
            if key.eq_ignore_ascii_case("k") && !event.shift_key() {
                event.prevent_default();
                open(navigation, COMMANDS);
            }
            return;
        }
        let is_shortcut = matches!(key.as_str(), "g" | "m" | "t" | "s" | "?");
        // The list of shortcuts can also be opened over the lightbox.
        let blocking_dialog = match key.as_str() {
            "?" => "dialog[open]:not(.lightbox)",
            _ => "dialog[open]",
        };
        if !is_shortcut || is_blocked(blocking_dialog) {
            g_pressed.set(None);
            return;
        }
        let now = clock::now();
        let follows_g = g_pressed
            .take()
            .is_some_and(|then| now.saturating_sub(then) < MAX_KEY_INTERVAL);
        let page = match (follows_g, key.as_str()) {
            (true, "m") => "/",
            (true, "t") => "/tasks",
            (true, "g") => "/gallery",
            (true, "s") => "/settings",
            (false, "g") => return g_pressed.set(Some(now)),
            (_, "?") => {
                event.prevent_default();
                return open(navigation, SHORTCUTS);
            }
            _ => return,
        };
        event.prevent_default();
        navigation.go(page);
    })
    .forget();
}

/// Returns whether shortcuts of plain keys are disabled, because the user is typing or a blocking dialog is open.
fn is_blocked(blocking_dialog: &str) -> bool {
    let has_dialog = document().query_selector(blocking_dialog);
    focus::is_writing() || has_dialog.is_ok_and(|dialog| dialog.is_some())
}

pub fn open(navigation: Navigation, dialog: &str) {
    navigation.set_query(OPEN, Some(dialog));
}

/// Closes this dialog, unless another one has replaced it.
pub fn close(navigation: Navigation, dialog: &str) {
    if untrack(|| navigation.query(OPEN)).as_deref() == Some(dialog) {
        navigation.set_query(OPEN, None);
    }
}

pub fn is_open(navigation: Navigation, dialog: &'static str) -> Signal<bool> {
    when(move || navigation.query(OPEN).as_deref() == Some(dialog))
}

#[component]
pub fn Shortcuts() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let is_open = is_open(navigation, SHORTCUTS);
    dialog::follow(dialog, is_open);
    focus_return::follow(is_open);
    let contents = move || {
        view! {
            <header class="row">
                <h2>"Keyboard shortcuts"</h2>
                {dialog::close_button(move || close(navigation, SHORTCUTS), false)}
            </header>
            <div class="shortcut-groups" tabindex="0">
                <div class="shortcut-columns">{groups()}</div>
            </div>
        }
        .into_any()
    };
    view! {
        <dialog
            class="shortcuts"
            node_ref=dialog
            aria-label="Keyboard shortcuts"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            on:close=dialog::closed(move || close(navigation, SHORTCUTS))
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

fn groups() -> AnyView {
    let groups = KEYS.iter().map(|(place, keys)| {
        let rows = keys.iter().map(|(key, does)| {
            view! {
                <div>
                    <dt>{key_caps(key)}</dt>
                    <dd>{*does}</dd>
                </div>
            }
            .into_any()
        });
        view! {
            <section>
                <h3>{*place}</h3>
                <dl>{rows.collect_view()}</dl>
            </section>
        }
        .into_any()
    });
    groups.collect_view().into_any()
}

/// Shows a key cap for each key, with plain text between them.
fn key_caps(text: &'static str) -> AnyView {
    let caps = |combination: &'static str| {
        let keys: Vec<&str> = match combination {
            "+" => vec!["+"],
            combination => combination.split('+').collect(),
        };
        let caps = keys.into_iter().map(|key| {
            let key = match key {
                "Mod" => control::command_key(&location::platform()),
                key => key,
            };
            view! { <kbd>{key}</kbd> }.into_any()
        });
        view! { <span class="key-caps">{caps.collect_view()}</span> }.into_any()
    };
    let parts = text.split(' ').map(|part| match part {
        "then" | "or" => format!(" {part} ").into_any(),
        combination => caps(combination),
    });
    parts.collect_view().into_any()
}
