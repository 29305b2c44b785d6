use crate::contexts::contexts;
use atelier_engine::route::Route;
use atelier_engine::{Action, Phase, Task, rerun, seed};
use leptos::prelude::*;

use super::fresh;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::browser::local::Place;
use crate::browser::random;
use crate::catalog::Load;
use crate::view::parts::answer::Answer;
use crate::view::parts::held::Held;

/// How many variations were made last, in this browser.
const VARIATIONS: &str = "atelier.variations";
const MAX_VARIATIONS: usize = 8;

/// What a person may press.
#[derive(Debug, Clone, Default, PartialEq)]
struct Offered {
    retry: bool,
    again: bool,
    actions: Vec<Action>,
}

/// What can be done with a task in its present state.
#[component]
pub fn Actions(task: Task) -> impl IntoView {
    let (runner, catalog) = (contexts().runner, contexts().catalog);
    let Some(signal) = runner.task(&task.key) else {
        return ().into_any();
    };
    let key = StoredValue::new(task.key.clone());
    let model = StoredValue::new(task.model.clone());
    let edit = format!(
        "{}?from={}",
        Route::Model(task.model.clone()).path(),
        task.key.0
    );
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
        if action == Action::Refetch {
            fresh::ask(runner, key.get_value(), answer);
        } else {
            runner.act(&key.get_value(), action);
        }
    };
    let retry = move |_| {
        if press("Retry") && runner.retry(&key.get_value()).is_none() {
            return;
        }
        answer.say("Sent again, in the place of this one.".into());
    };
    let schema = move || model.with_value(|model| catalog.schema(model));
    // The same inputs once more, each time with another seed.
    let send = move |count: usize| {
        let schema = match untrack(schema) {
            Load::Loaded(schema) => schema,
            Load::Loading => {
                return answer
                    .say("Not sent: the model's inputs are still loading. Press again.".into());
            }
            Load::Failed(_) => {
                model.with_value(|model| catalog.load_schema(model));
                return answer
                    .say("Not sent: the model's inputs could not be loaded. Press again.".into());
            }
        };
        let Some(task) = runner
            .task(&key.get_value())
            .map(|task| task.get_untracked())
        else {
            return;
        };
        let random: Vec<u64> = (0..count).map(|_| random::bits()).collect();
        match rerun::again(task.input.values(), &schema, &random) {
            Ok(inputs) => {
                let has_seed = seed::parameter(&schema).is_some();
                let sent = runner.submit_all(inputs, &task.model_name);
                let Some(first) = sent.first() else {
                    return;
                };
                let other = if has_seed { " with another seed" } else { "" };
                let href = Route::Task(first.clone()).path();
                match sent.len() {
                    1 => answer.say_with(format!("Sent{other}."), "Show it", href),
                    n => answer.say_with(format!("Sent {n}, each{other}."), "Show the first", href),
                }
            }
            Err(differences) => {
                let first = differences.into_iter().next();
                let why = first.map_or_else(String::new, |difference| difference.message);
                let href = format!("{}?from={}", Route::Model(task.model).path(), task.key.0);
                answer.say_with(
                    format!("Not sent: the model has changed. {why}"),
                    "Edit it",
                    href,
                );
            }
        }
    };
    let run_again = move |_| {
        if press("Run again") {
            send(1);
        }
    };
    let can_vary = when(move || {
        offered.read().again
            && schema()
                .loaded()
                .is_some_and(|schema| seed::parameter(schema).is_some())
    });
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
                    variations(move |count| if press("Vary") { send(count) })
                } else {
                    ().into_any()
                }
            })}
            <a class="button quiet" href=edit>
                "Edit"
            </a>
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
            {answer.view()}
        </footer>
    }
    .into_any()
}

/// `Vary`, and how many.
fn variations(vary: impl Fn(usize) + 'static) -> AnyView {
    let kept = Place::Browser.read(VARIATIONS);
    let kept = kept.and_then(|kept| kept.parse().ok());
    let count = RwSignal::new(kept.unwrap_or(4_usize).clamp(1, MAX_VARIATIONS));
    let choose = move |event| {
        if let Ok(chosen) = event_target_value(&event).parse() {
            count.set(chosen);
            Place::Browser.write(VARIATIONS, &chosen.to_string());
        }
    };
    let options = (1..=MAX_VARIATIONS)
        .map(|n| {
            let is_chosen = when(move || count.get() == n);
            view! {
                <option value=n.to_string() prop:selected=is_chosen>
                    {format!("× {n}")}
                </option>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <span class="vary">
            <button
                class="button"
                type="button"
                title=text(move || format!("The same inputs, with {} new seeds", count.get()))
                on:click=handler(move |_| vary(count.get_untracked()))
            >
                "Vary"
            </button>
            <select aria-label="How many variations" on:change=handler(choose)>
                {options}
            </select>
        </span>
    }
    .into_any()
}
