use atelier_engine::{Action, Task};
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};

use crate::runner::Runner;

/// What can be done with a task in its present state.
#[component]
pub fn Actions(task: Task) -> impl IntoView {
    let runner = expect_context::<Runner>();
    let Some(signal) = runner.task(&task.key) else {
        return ().into_any();
    };
    let key = StoredValue::new(task.key.clone());
    let again = format!(
        "/models/{}?from={}",
        atelier_contract::path::model_segments(&task.model),
        task.key.0
    );
    let allowed = Memo::new(move |_| Action::allowed(&signal.read()));
    let navigate = use_navigate();
    let location = use_location();
    let act = move |action: Action| {
        if action == Action::Remove
            && location.pathname.get_untracked() == format!("/tasks/{}", key.get_value().0)
        {
            navigate("/tasks", leptos_router::NavigateOptions::default());
        }
        runner.act(&key.get_value(), action);
    };
    let retry = move |_| {
        runner.retry(&key.get_value());
    };
    let can_retry = Memo::new({
        let signal = runner.task(&task.key);
        move |_| signal.as_ref().is_some_and(|task| task.read().can_retry())
    });
    view! {
        <footer class="row task-actions">
            <Show when=move || can_retry.get()>
                <button class="button" type="button" on:click=retry>
                    "Retry"
                </button>
            </Show>
            {move || {
                let act = act.clone();
                allowed
                    .get()
                    .into_iter()
                    .map(|action| {
                        let act = act.clone();
                        view! {
                            <button class="button quiet" type="button" on:click=move |_| act(action)>
                                {action.label()}
                            </button>
                        }
                    })
                    .collect_view()
            }}
            <a class="button quiet" href=again.clone()>
                "Run again"
            </a>
        </footer>
    }
    .into_any()
}
