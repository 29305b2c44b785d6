use std::cell::RefCell;
use std::sync::Arc;

use crate::state::contexts::{Contexts, contexts};
use atelier_contract::ApiError;
use atelier_contract::output::SafeUrl;
use atelier_engine::{Action, Phase, Task, TaskKey, TaskState};
use atelier_studio::form::double_click::Presses;
use atelier_studio::form::refused_input;
use atelier_studio::navigation::route::Route;
use icondata_lu::{LuPencil, LuRefreshCw, LuRepeat2, LuTrash2};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::again::Again;
use super::shown_output::ShownOutput;
use super::{edit, favorite, more, refresh, save, use_in, vary};
use crate::browser::{clock, press};
use crate::reactive::boxed::{dynamic, handler, memo, when};
use crate::state::cancel;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};

/// The controls that the state of a task allows.
#[derive(Debug, Clone, Default, PartialEq)]
struct Offered {
    /// Whether to show a link to Settings, because the service refused the User ID or the token.
    has_settings_link: bool,
    can_retry: bool,
    can_run_again: bool,
    actions: Vec<Action>,
}

/// The buttons for a task in its present state. A completed task has a row with the most frequent actions; a menu has the others.
#[component]
pub fn Actions(
    task: Task,
    again: Again,
    /// Whether the address of an output is dead.
    has_dead_link: RwSignal<bool>,
) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let Some(signal) = runner.task(&task.key) else {
        return ().into_any();
    };
    let key = StoredValue::new(task.key.clone());
    let edit = view! {
        <Glyph icon=LuPencil />
        <span class="word">"Edit"</span>
    };
    let edit = edit::button(&task, "button edit", edit.into_any());
    let edit_address = edit::address(&task);
    // A single output is saved and marked as a favorite here. Several outputs have their own controls for that.
    let only = memo({
        let signal = signal.clone();
        move || match signal.read().outputs() {
            [only] => Some(only.clone()),
            _ => None,
        }
    });
    let shown = {
        let signal = signal.clone();
        move || {
            let url = only.get()?;
            let task = Arc::new(signal.get_untracked());
            Some(ShownOutput::new(task, url, 0, clock::now()))
        }
    };
    let current = memo(move || {
        let task = signal.read();
        Offered {
            has_settings_link: has_refused_credentials(&task.state),
            can_retry: refused_input::may_succeed_unchanged(&task),
            can_run_again: task.state.phase() == Phase::Ready,
            actions: Action::offered_by(&task, cancel::is_offered(all, &task)),
        }
    });
    // The buttons don't change for a moment after a press: the second click of a double click on Resubmit must not hit
    // the Cancel that replaces it.
    let guard = DoubleClickGuard::default();
    let offered_before = StoredValue::new(Offered::default());
    let offered = memo(move || {
        let current = current.get();
        if guard.is_pressed() {
            offered_before.get_value()
        } else {
            current
        }
    });
    let press = move |what: &'static str| {
        let now = offered.get_untracked();
        offered_before.set_value(now);
        guard.counts(what)
    };
    let answer = again.answer;
    // Opens the form of the model if secrets are missing.
    let open_form_for_secrets = move |is_same: bool| {
        let task = runner
            .task(&key.get_value())
            .map(|task| task.get_untracked());
        task.is_some_and(|task| edit::open_form_for_secrets(all, &task, is_same, None))
    };
    let act = move |action: Action| {
        if again.is_second_click() {
            return;
        }
        let counts = press(action.label());
        if action == Action::Resubmit && (runner.refuses_to_send() || open_form_for_secrets(true)) {
            return;
        }
        if action == Action::Resubmit {
            answer.say("Sent again.".into());
        }
        if !counts {
            return;
        }
        if matches!(action, Action::Refetch | Action::AskAgain) {
            refresh::refresh_addresses(runner, key.get_value(), action, answer);
        } else {
            perform(all, &key.get_value(), action);
        }
    };
    let retry = move |_| {
        if again.is_second_click() {
            return;
        }
        if press("Retry")
            && (open_form_for_secrets(false) || runner.retry(&key.get_value()).is_none())
        {
            return;
        }
        answer.say("Sent again, replacing this one.".into());
    };
    let retry_button = view! {
        <button
            class="button"
            type="button"
            hidden=when(move || !offered.read().can_retry)
            on:click=handler(retry)
        >
            "Retry"
        </button>
    }
    .into_any();
    let run_again = move || {
        press("Run again");
        again.press("Run again", 1);
    };
    let is_completed = memo(move || offered.read().can_run_again);
    let can_vary = when(move || is_completed.get() && again.has_seed());
    let single_output_controls = {
        let shown = shown.clone();
        dynamic(move || {
            let shown = shown().filter(|_| is_completed.get());
            let buttons = shown.map(|shown| {
                let use_in = SafeUrl::media(
                    &shown.url,
                    all.session.settings_untracked().address.as_str(),
                )
                .and_then(|_| use_in::use_in(&shown, "row", answer));
                let use_in = use_in.map(|use_in| view! { <span class="use-here">{use_in}</span> });
                view! {
                    {use_in}
                    {save::save(&shown)} {favorite::output_heart(&shown.task.key, 0)}
                }
                .into_any()
            });
            buttons.into_any()
        })
    };
    let menu = move || {
        if !is_completed.get() {
            return ().into_any();
        }
        let items_of_output = shown().map(|shown| more::output_items(&shown, answer));
        let name = key.get_value().0;
        let (edit, navigation) = (edit_address.clone(), all.navigation);
        let edit = move || navigation.go(&edit);
        let renew = move || act(Action::Refetch);
        let remove = move || act(Action::Remove);
        let items = view! {
            <div class="again-too">
                {more::item(&name, "Run again", LuRepeat2, false, run_again)}
                {more::item(&name, "Edit", LuPencil, false, edit)}
            </div>
            {items_of_output}
            {more::item(&name, Action::Refetch.label(), LuRefreshCw, false, renew)}
            {more::item(&name, Action::Remove.label(), LuTrash2, true, remove)}
        };
        more::more(&name, "More actions", items.into_any())
    };
    view! {
        <footer class="task-actions">
            <a class="button" href="/settings" hidden=when(move || !offered.read().has_settings_link)>
                "Open Settings"
            </a>
            {retry_button}
            {dynamic(move || {
                if can_vary.get() {
                    let send = move |count| {
                        press("Vary");
                        again.press("Vary", count);
                    };
                    vary::vary(1, again.outputs_of_each(), send)
                } else {
                    ().into_any()
                }
            })}
            <button
                class="button again"
                type="button"
                hidden=when(move || !offered.read().can_run_again)
                on:click=handler(move |_| run_again())
            >
                <Glyph icon=LuRepeat2 />
                <span class="word">"Run again"</span>
            </button>
            {edit}
            // Each action has its own button: one that changes from Cancel to Remove would keep the focus.
            {list(move || {
                let offered = offered.get();
                keep_focus();
                let actions = offered.actions.into_iter().filter(|_| !offered.can_run_again);
                let item = |action: Action| Item::new(action.word().into(), move || button(action, act));
                actions.map(item).collect()
            })}
            {single_output_controls}
            {dynamic(menu)}
            <button
                class="button"
                type="button"
                hidden=when(move || !(is_completed.get() && has_dead_link.get()))
                on:click=handler(move |_| act(Action::Refetch))
            >
                "Get a new link"
            </button>
            {answer.view()}
        </footer>
    }
    .into_any()
}

/// Returns whether the service refused the User ID or the token.
fn has_refused_credentials(state: &TaskState) -> bool {
    matches!(state, TaskState::Failed { id: None, message } if ApiError::is_about_credentials(message))
}

thread_local! {
    /// The latest removals. After a removal another task can move under the pointer: the second click of a double click
    /// must not remove it.
    static REMOVALS: RefCell<Presses> = RefCell::default();
}

/// Whether this is the second click of a double click on Cancel, which would press Hide: it takes the place of Cancel.
fn is_second_click(action: Action) -> bool {
    const CANCEL: &str = "Cancel";
    REMOVALS.with_borrow_mut(|presses| match action {
        Action::Cancel | Action::CancelAtService => {
            presses.counts(CANCEL, press::at());
            false
        }
        Action::StopWatching => presses.remaining(CANCEL, press::at()) > 0,
        _ => false,
    })
}

/// Performs an action on a task. Opens the list of tasks if the action removes the task whose page is open.
pub fn perform(all: Contexts, task: &TaskKey, action: Action) {
    let counts = || REMOVALS.with_borrow_mut(|presses| presses.counts("Remove", press::at()));
    if action == Action::Remove && !counts() || is_second_click(action) {
        return;
    }
    let on_its_page = untrack(|| all.navigation.route()) == Route::Task(task.clone());
    let known = all.runner.task(task);
    // The task may have been sent in the meantime.
    let can_cancel = untrack(|| {
        known
            .as_ref()
            .is_some_and(|it| cancel::is_offered(all, &it.read()))
    });
    let action = match action {
        Action::Cancel if can_cancel => Action::CancelAtService,
        action => action,
    };
    // Cancel removes a task that was not sent yet. A resubmitted one becomes Unconfirmed again.
    let is_unsent = known.is_some_and(|task| {
        let task = task.read_untracked();
        task.state.phase() == Phase::Queued && !task.resubmitted
    });
    let removes = match action {
        Action::Cancel | Action::CancelAtService => is_unsent,
        action => action.removes(),
    };
    if on_its_page && removes {
        all.navigation.go("/tasks");
    }
    all.runner.act(task, action);
}

/// Focuses the task if the button that has the focus now disappears. Another button would act on a further Enter.
fn keep_focus() {
    let focused = document().active_element();
    let closest = |selector| focused.as_ref()?.closest(selector).ok().flatten();
    let task = closest(".task-actions").and_then(|_| closest("article"));
    if let Some(task) = task.and_then(|task| task.dyn_into::<HtmlElement>().ok()) {
        focus::when_lost(move || {
            task.set_tab_index(-1);
            focus::in_place(&task);
        });
    }
}

fn button(action: Action, act: impl Fn(Action) + Copy + 'static) -> AnyView {
    view! {
        <button
            class="button"
            class:quiet=!action.is_main()
            class:removes=action.removes()
            type="button"
            on:click=handler(move |_| act(action))
        >
            {action.label()}
        </button>
    }
    .into_any()
}
