use std::cell::RefCell;

use crate::contexts::{Contexts, contexts};
use atelier_engine::press::Presses;
use atelier_engine::route::Route;
use atelier_engine::{Action, Phase, Task, TaskKey};
use leptos::prelude::*;

use super::again::Again;
use super::{edit, fresh, vary};
use crate::boxed::{dynamic, handler, memo, when};
use crate::browser::press;
use crate::view::parts::double_click_guard::DoubleClickGuard;

/// What a person may press.
#[derive(Debug, Clone, Default, PartialEq)]
struct Offered {
    retry: bool,
    again: bool,
    actions: Vec<Action>,
}

/// What can be done with a task in its present state.
#[component]
pub fn Actions(task: Task, again: Again) -> impl IntoView {
    let all = contexts();
    let runner = all.runner;
    let Some(signal) = runner.task(&task.key) else {
        return ().into_any();
    };
    let key = StoredValue::new(task.key.clone());
    let edit = edit::button(&task, "Edit".into_any());
    let possible = memo(move || {
        let task = signal.read();
        Offered {
            retry: task.can_retry(),
            again: task.state.phase() == Phase::Ready,
            actions: Action::offered(&task),
        }
    });
    // What was pressed stays where it is for a moment: a double click on Resubmit must not end on
    // the Cancel that takes its place.
    let held = DoubleClickGuard::default();
    let before = StoredValue::new(Offered::default());
    let offered = memo(move || {
        let possible = possible.get();
        if held.is_pressed() {
            before.get_value()
        } else {
            possible
        }
    });
    let press = move |what: &'static str| {
        let now = offered.get_untracked();
        before.set_value(now);
        held.counts(what)
    };
    let answer = again.answer;
    let act = move |action: Action| {
        let counts = press(action.label());
        if action == Action::Resubmit && runner.refuses_to_send() {
            return;
        }
        if action == Action::Resubmit {
            answer.say("Sent again.".into());
        }
        if !counts {
            return;
        }
        if action == Action::Refetch {
            fresh::ask(runner, key.get_value(), answer);
        } else {
            perform(all, &key.get_value(), action);
        }
    };
    let retry = move |_| {
        if press("Retry") && runner.retry(&key.get_value()).is_none() {
            return;
        }
        answer.say("Sent again, in the place of this one.".into());
    };
    let run_again = move |_| {
        if press("Run again") {
            again.send(1);
        }
    };
    // Over an output that stands alone it is at hand already.
    let can_vary =
        when(move || offered.read().again && again.has_seed() && !again.has_one_output());
    view! {
        <footer class="row task-actions">
            <button
                class="button"
                type="button"
                hidden=when(move || !offered.read().retry)
                on:click=handler(retry)
            >
                "Retry"
            </button>
            <button
                class="button"
                type="button"
                hidden=when(move || !offered.read().again)
                on:click=handler(run_again)
            >
                "Run again"
            </button>
            {dynamic(move || {
                if can_vary.get() {
                    vary::vary(move |count| if press("Vary") { again.send(count) })
                } else {
                    ().into_any()
                }
            })}
            {edit}
            {dynamic(move || {
                let actions = offered.get().actions.into_iter();
                actions.map(|action| button(action, act)).collect_view().into_any()
            })}
            {answer.view()}
        </footer>
    }
    .into_any()
}

thread_local! {
    /// When a task was removed last. The next one may take its place, and its button that of what was pressed: the
    /// second half of a double click is not meant for it.
    static REMOVALS: RefCell<Presses> = RefCell::default();
}

/// Does what a person has asked for; away from the page of a task that is no longer to be seen.
pub fn perform(all: Contexts, task: &TaskKey, action: Action) {
    let counts = || REMOVALS.with_borrow_mut(|presses| presses.counts("Remove", press::at()));
    if action == Action::Remove && !counts() {
        return;
    }
    let on_its_page = untrack(|| all.navigation.route()) == Route::Task(task.clone());
    let known = all.runner.task(task);
    // What was sent before stays, as Unconfirmed.
    let stays = action == Action::Cancel && known.is_some_and(|it| it.read_untracked().resubmitted);
    if on_its_page && !stays && matches!(action, Action::Remove | Action::Cancel | Action::Dismiss)
    {
        all.navigation.go("/tasks");
    }
    all.runner.act(task, action);
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
