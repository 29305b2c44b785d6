use crate::app::contexts;
use icondata_lu::{LuLayoutGrid, LuListChecks, LuMonitor, LuMoon, LuSettings, LuSun, LuX};
use leptos::prelude::*;

use atelier_engine::Hindrance;
use atelier_engine::route::Route;
use gloo_timers::callback::Timeout;

use super::parts::glyph::{Glyph, changing_glyph};
use super::parts::list::{Item, list};
use super::parts::ticker::ticker;
use crate::browser::storage::StorageError;
use crate::erased::{derived, effect, handler, memo, text, when};
use crate::notices::{Notice, Notices};
use crate::theme::Theme;

/// How long storage may be away before a person is asked what to do, in milliseconds.
const UNKEPT_PATIENCE_MS: u32 = 1_000;

/// What stands around every page.
#[component]
pub fn Shell(page: AnyView) -> impl IntoView {
    let navigation = contexts().navigation;
    let main = NodeRef::<leptos::html::Main>::new();
    // A new page begins at its top, with the focus there: else a keyboard stays in the old one.
    let mut first = true;
    effect(move || {
        navigation.route();
        if let (false, Some(main)) = (std::mem::take(&mut first), main.get_untracked()) {
            let _ = main.focus();
        }
    });
    let nav_link = move |href: &'static str, icon, label: &'static str, extra: Option<AnyView>| {
        let is_here = move || match navigation.route() {
            Route::Models | Route::Model(_) => href == "/",
            Route::Tasks | Route::Task(_) => href == "/tasks",
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
                {nav_link("/tasks", LuListChecks, "Tasks", Some(view! { <TaskCount /> }.into_any()))}
                {nav_link("/settings", LuSettings, "Settings", None)}
            </nav>
            <ThemeSwitch />
        </header>
        <LimitNotice />
        <UnkeptDialog />
        <main id="main" tabindex="-1" node_ref=main>
            {page}
        </main>
        <NoticeList />
    }
}

/// Three overlapping strokes.
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

/// How many tasks are under way; nothing when none is. The link's name stays `Tasks`.
#[component]
fn TaskCount() -> impl IntoView {
    let runner = contexts().runner;
    let active = memo(move || runner.active_count());
    view! {
        <span class="count" aria-hidden="true" hidden=when(move || active.get() == 0)>
            {text(move || active.get().to_string())}
        </span>
    }
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let theme = RwSignal::new(Theme::kept());
    Theme::on_change(move |kept| {
        kept.show();
        theme.try_set(kept);
    });
    let next = move || {
        let at = Theme::ALL
            .iter()
            .position(|t| *t == theme.get())
            .unwrap_or(0);
        Theme::ALL[(at + 1) % Theme::ALL.len()]
    };
    let icon = changing_glyph(move || match theme.get() {
        Theme::System => LuMonitor,
        Theme::Light => LuSun,
        Theme::Dark => LuMoon,
    });
    let label = text(move || format!("Theme: {}. Switch to {}", theme.get().word(), next().word()));
    let switch = move |_| {
        theme.set(next());
        theme.get_untracked().keep();
    };
    view! {
        <button class="icon-button" type="button" aria-label=label title=label on:click=handler(switch)>
            {icon}
        </button>
    }
}

/// Why no call is made just now, and until when.
#[component]
fn LimitNotice() -> impl IntoView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let sentence = memo(move || {
        let hindrance = runner.hindrance()?;
        Some(hindrance.sentence(now.get()))
    });
    let is_unkept = when(move || runner.hindrance() == Some(Hindrance::NotKept));
    let kept = text(move || {
        let error = runner.storage_error();
        error.map(StorageError::sentence).unwrap_or_default()
    });
    view! {
        <div class="limit" role="status">
            <p class="limit-line" hidden=when(move || runner.storage_error().is_none())>
                {kept}
            </p>
            <div class="limit-line" hidden=when(move || sentence.read().is_none())>
                <span>{text(move || sentence.get().unwrap_or_default())}</span>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=is_unkept
                    on:click=handler(move |_| runner.wake())
                >
                    "Try now"
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || !is_unkept.get())
                    on:click=handler(move |_| runner.send_unkept())
                >
                    "Send anyway"
                </button>
            </div>
        </div>
    }
}

/// Asks before anything is sent that can't be kept: it costs money, and would be lost with the tab.
#[component]
fn UnkeptDialog() -> impl IntoView {
    let runner = contexts().runner;
    let dialog = NodeRef::<leptos::html::Dialog>::new();
    let is_asking = memo(move || runner.hindrance() == Some(Hindrance::NotKept));
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    // Storage that is only gone for a moment is nobody's question.
    let patience = StoredValue::new_local(None::<Timeout>);
    effect(move || {
        let open = move || {
            if let (true, Some(dialog)) = (is_asking.get_untracked(), dialog.get_untracked()) {
                // It fails only while the dialog is open already.
                let _ = dialog.show_modal();
            }
        };
        if is_asking.get() {
            patience.set_value(Some(Timeout::new(UNKEPT_PATIENCE_MS, open)));
        } else {
            patience.set_value(None);
            close();
        }
    });
    view! {
        <dialog node_ref=dialog aria-label="Send without keeping">
            <p>
                "This browser can't keep tasks at present. What is sent now runs, and may be billed, but \
                 closing this tab loses sight of it. Nothing has been sent yet."
            </p>
            <div class="row dialog-foot">
                <button class="button" type="button" autofocus on:click=handler(move |_| close())>
                    "Not yet"
                </button>
                <button
                    class="button primary"
                    type="button"
                    on:click=handler(move |_| {
                        close();
                        runner.send_unkept();
                    })
                >
                    "Send anyway"
                </button>
            </div>
        </dialog>
    }
}

#[component]
fn NoticeList() -> impl IntoView {
    let notices = contexts().notices;
    view! {
        <div class="notices" role="log" aria-label="Notices">
            {list(move || {
                notices
                    .list()
                    .into_iter()
                    .map(|notice| {
                        Item::new(notice.id.to_string(), move || notice_view(notices, &notice))
                    })
                    .collect()
            })}
        </div>
    }
}

fn notice_view(notices: Notices, notice: &Notice) -> AnyView {
    let id = notice.id;
    view! {
                <div class="notice" class:problem=notice.is_problem>
                    <p>{notice.text.clone()}</p>
                    <button
                        class="icon-button"
                        type="button"
                        aria-label="Dismiss"
                        on:click=handler(move |_| notices.dismiss(id))
                    >
                        <Glyph icon=LuX />
                    </button>
                </div>
    }
    .into_any()
}
