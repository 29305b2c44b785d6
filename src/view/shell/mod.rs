//! The frame around every page: header, dialogs, notices and shortcuts.

pub mod commands;
mod copy_manually;
pub mod deferred_dialogs;
pub mod dialogs;
pub mod dropped_file;
pub mod missing;
pub mod more_dialogs;
pub mod notice_list;
pub mod open_file;
pub mod pages;
pub mod scroll_restoration;
pub mod send_unstored;
pub mod shortcuts;
pub mod status;
pub mod undo;

use crate::state::contexts::{Contexts, contexts};
use icondata_lu::{LuImages, LuLayoutGrid, LuListChecks, LuMonitor, LuMoon, LuSettings, LuSun};
use leptos::prelude::*;

use atelier_studio::navigation::route::Route;

use crate::boot::deferred::{Deferred, Program, State};
use crate::reactive::boxed::{derived, dynamic, effect, handler, text};
use crate::state::theme::Theme;
use crate::view::parts::focus;
use crate::view::parts::glyph::{Glyph, changing_glyph};

/// The header, the page and the messages around it.
#[component]
pub fn Shell(page: AnyView) -> impl IntoView {
    let Contexts {
        navigation,
        deferred,
        ..
    } = contexts();
    let main = NodeRef::<leptos::html::Main>::new();
    // A new page starts with the focus at its top; without this, the focus would stay in the old page. This runs before the
    // page is replaced, because browsers compute a layout when the focused element is removed.
    let focus_first = dynamic(move || {
        navigation.route();
        if let Some(main) = main.get_untracked() {
            // Untracked: moving the focus runs handlers of the old page.
            let _ = untrack(|| main.focus());
        }
        ().into_any()
    });
    let mut first = true;
    effect(move || {
        navigation.route();
        // A dialog that was removed with its page had the focus until now.
        if !std::mem::take(&mut first)
            && focus::is_lost()
            && let Some(main) = main.get_untracked()
        {
            let _ = main.focus();
        }
    });
    let nav_link = move |href: &'static str, icon, label: &'static str, extra: Option<AnyView>| {
        let is_here = move || match navigation.route() {
            Route::Models | Route::Model(_) => href == "/",
            Route::Tasks | Route::Task(_) | Route::Batch(_) => href == "/tasks",
            Route::Gallery => href == "/gallery",
            Route::Settings => href == "/settings",
            Route::Missing => false,
        };
        let current = move || is_here().then_some("page".to_owned());
        view! {
            <a href=href aria-current=derived(current)>
                <Glyph icon=icon />
                {label}
                {extra}
            </a>
        }
    };
    let task_count = dynamic(move || {
        deferred
            .functions()
            .map(|program| (program.task_count)())
            .into_any()
    });
    view! {
        <a class="skip" href="#main">"Skip to content"</a>
        <header class="bar">
            <a href="/" class="wordmark" aria-label="Atelier, home">
                <Mark />
                <span class="wordmark-text" aria-hidden="true">
                    "Atelier"
                </span>
            </a>
            <nav aria-label="Main">
                {nav_link("/", LuLayoutGrid, "Models", None)}
                {nav_link("/tasks", LuListChecks, "Tasks", Some(task_count))}
                {nav_link("/gallery", LuImages, "Gallery", None)}
                {nav_link("/settings", LuSettings, "Settings", None)}
            </nav>
            <ThemeSwitch />
        </header>
        {dynamic(move || match deferred.state() {
            State::Missing(None) => missing(deferred),
            _ => deferred.functions().map(|program| (program.status)()).into_any(),
        })}
        {focus_first}
        <main id="main" tabindex="-1" node_ref=main>
            {page}
        </main>
    }
}

/// A message that the part of the program that drives tasks could not be loaded. The list of models works without it.
fn missing(deferred: Deferred<Program>) -> AnyView {
    view! {
        <div class="limit" role="status">
            <div class="limit-line">
                <span>
                    "A part of Atelier could not be fetched: this tab does not update tasks."
                </span>
                <button
                    class="button quiet small"
                    type="button"
                    on:click=handler(move |_| deferred.load())
                >
                    "Try again"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// The logo.
#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <path class="mark-a" d="M6 26 15 6h3.6L9.600 26z"></path>
            <path class="mark-b" d="M22.400 26 13.400 6H17l9 20z"></path>
            <circle class="mark-c" cx="16" cy="21" r="3.400"></circle>
        </svg>
    }
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let theme = contexts().theme;
    let icon = changing_glyph(move || match theme.get() {
        Theme::System => LuMonitor,
        Theme::Light => LuSun,
        Theme::Dark => LuMoon,
    });
    let label = text(move || {
        let theme = theme.get();
        format!("Theme: {}. Switch to {}", theme.word(), theme.next().word())
    });
    let switch = move |_| theme.get_untracked().next().choose(theme);
    view! {
        <button class="icon-button" type="button" aria-label=label title=label on:click=handler(switch)>
            {icon}
        </button>
    }
}
