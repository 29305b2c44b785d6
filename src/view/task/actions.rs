use crate::app::contexts;
use atelier_engine::route::Route;
use atelier_engine::{Action, Task};
use leptos::prelude::*;

use crate::erased::{dynamic, handler, memo, when};

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
    let allowed = move || Action::allowed(&signal.read());
    let navigation = contexts().navigation;
    let act = move |action: Action| {
        let on_its_page = untrack(|| navigation.route()) == Route::Task(key.get_value());
        if on_its_page && matches!(action, Action::Remove | Action::Cancel | Action::Dismiss) {
            navigation.go("/tasks");
        }
        runner.act(&key.get_value(), action);
    };
    let retry = move |_| {
        runner.retry(&key.get_value());
    };
    let can_retry = memo({
        let signal = runner.task(&task.key);
        move || signal.as_ref().is_some_and(|task| task.read().can_retry())
    });
    view! {
        <footer class="row task-actions">
            <button
                class="button"
                type="button"
                hidden=when(move || !can_retry.get())
                on:click=handler(retry)
            >
                "Retry"
            </button>
            {dynamic(move || {
                allowed()
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
        </footer>
    }
    .into_any()
}
