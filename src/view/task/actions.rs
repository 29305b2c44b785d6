use crate::contexts::contexts;
use atelier_engine::route::Route;
use atelier_engine::{Action, Task};
use leptos::prelude::*;

use crate::boxed::{dynamic, handler, memo, when};
use crate::view::parts::answer::Answer;
use crate::view::parts::held::Held;

/// What a person may press.
#[derive(Debug, Clone, Default, PartialEq)]
struct Offered {
    retry: bool,
    actions: Vec<Action>,
}

/// What can be done with a task in its present state.
#[component]
pub fn Actions(task: Task) -> impl IntoView {
    let runner = contexts().runner;
    let Some(signal) = runner.task(&task.key) else {
        return ().into_any();
    };
    let key = StoredValue::new(task.key.clone());
    let again = format!(
        "{}?from={}",
        Route::Model(task.model.clone()).path(),
        task.key.0
    );
    let possible = memo(move || {
        let task = signal.read();
        Offered {
            retry: task.can_retry(),
            actions: Action::allowed(&task),
        }
    });
    // What was pressed stays where it is for a moment: a double click on Resubmit must not end on
    // the Cancel that takes its place.
    let held = Held::default();
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
    let answer = Answer::default();
    let navigation = contexts().navigation;
    let act = move |action: Action| {
        let counts = press(action.label());
        if action == Action::Resubmit {
            answer.say("Sent again.".into());
        }
        if !counts {
            return;
        }
        let on_its_page = untrack(|| navigation.route()) == Route::Task(key.get_value());
        if on_its_page && matches!(action, Action::Remove | Action::Cancel | Action::Dismiss) {
            navigation.go("/tasks");
        }
        runner.act(&key.get_value(), action);
    };
    let retry = move |_| {
        if press("Retry") && runner.retry(&key.get_value()).is_none() {
            return;
        }
        answer.say("Sent again, as a new task; it comes first under Tasks.".into());
    };
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
            {dynamic(move || {
                offered
                    .get()
                    .actions
                    .into_iter()
                    .map(|action| {
                        view! {
                            <button class="button quiet" type="button" on:click=handler(move |_| act(action))>
                                {action.label()}
                            </button>
                        }.into_any()
                    })
                    .collect_view()
                    .into_any()
            })}
            <a class="button quiet" href=again>
                "Run again"
            </a>
            {answer.view()}
        </footer>
    }
    .into_any()
}
