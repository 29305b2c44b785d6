//! Sends variations of several tasks, each like the Vary button of a single task.

use atelier_engine::Task;
use atelier_studio::compose::plan::CONFIRM_ABOVE;
use atelier_studio::form::double_click::repeated_message;
use atelier_studio::form::{rerun, seed};
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use super::add_to_batch::schema_of;
use crate::reactive::boxed::{dynamic, memo, spawn, text};
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::question::Question;
use crate::view::task::{again, vary};

const FETCHING_SCHEMAS: &str = "Loading the models' inputs from the service.";

/// The state of the Vary button. It outlives the button, which disappears when the selection is cleared: a later button must not
/// send the same variations again.
#[derive(Clone, Copy)]
pub struct Varying {
    tasks: Memo<Vec<Task>>,
    /// The number of variations of each task.
    wanted: RwSignal<usize>,
    is_sending: StoredValue<bool>,
    /// The number of variations that the last press has sent.
    sent: StoredValue<usize>,
    guard: DoubleClickGuard,
    question: Question,
}

impl Varying {
    pub fn new(tasks: Memo<Vec<Task>>) -> Self {
        Self {
            tasks,
            wanted: RwSignal::new(1),
            is_sending: StoredValue::new(false),
            sent: StoredValue::new(0),
            guard: DoubleClickGuard::default(),
            question: Question::default(),
        }
    }
}

/// The Vary button with the number of variations, and the question before many are sent. They are separate, because the
/// question must not be inside a menu.
pub fn vary(varying: Varying) -> (AnyView, AnyView) {
    let all = contexts();
    let Varying {
        tasks,
        wanted,
        is_sending,
        sent,
        guard,
        question,
    } = varying;
    let outputs = memo(move || {
        let tasks = tasks.read();
        tasks
            .iter()
            .map(|task| task.outputs().len().max(1))
            .sum::<usize>()
    });
    let count_of_tasks = memo(move || tasks.read().len());
    // Fetching schemas may take long; presses meanwhile must not send everything again.
    let send = move || {
        if is_sending.try_update_value(|is_sending| std::mem::replace(is_sending, true))
            != Some(false)
        {
            return all.notices.say(FETCHING_SCHEMAS);
        }
        let is_known = |task: &Task| all.catalog.schema(&task.model).loaded().is_some();
        if !untrack(|| tasks.read().iter().all(is_known)) {
            all.notices.say(FETCHING_SCHEMAS);
        }
        sent.set_value(0);
        spawn(async move {
            let count = send_all(all, tasks.get_untracked(), wanted.get_untracked()).await;
            all.notices.withdraw(FETCHING_SCHEMAS);
            sent.try_set_value(count);
            is_sending.try_set_value(false);
        });
    };
    let press = move |count: usize| {
        if !guard.counts("Vary") {
            return match sent.get_value() {
                0 => {}
                sent => all.notices.say(repeated_message(sent)),
            };
        }
        sent.set_value(0);
        wanted.set(count);
        match tasks.read_untracked().len() * count {
            0..=CONFIRM_ABOVE => send(),
            _ => question.ask(),
        }
    };
    let asked = text(move || {
        let count = counted(tasks.read().len() * wanted.get(), "variation");
        format!("Send {count}? Each of them may cost money.")
    });
    let confirm = Callback::new(move |()| send());
    (
        dynamic(move || vary::vary(count_of_tasks.get(), outputs.get(), press)).into_any(),
        question.view(
            "Vary many",
            asked,
            "Not yet",
            "Send them",
            "primary",
            confirm,
        ),
    )
}

/// Sends `count` variations of each task and reports problems. Returns the number of variations that were sent.
async fn send_all(all: Contexts, tasks: Vec<Task>, count: usize) -> usize {
    let mut sent = 0;
    let mut problems: Vec<String> = Vec::new();
    'models: for (model, tasks) in rerun::by_model(tasks) {
        let name = tasks[0].model_name.clone();
        let schema = match schema_of(all.catalog, model.clone()).await {
            Ok(schema) if seed::parameter(&schema).is_some() => schema,
            Ok(_) => {
                problems.push(format!("{name} has no seed to vary."));
                continue;
            }
            Err(why) => {
                // Requests the schema again, for the next press.
                all.catalog.reload_schema(&model);
                problems.push(format!("{name}: {why}"));
                continue;
            }
        };
        for task in tasks {
            match again::send(all, &task, &schema, count) {
                Ok(Some(_)) => sent += count,
                // The page already shows the reason.
                Ok(None) => break 'models,
                Err(differences) => {
                    let first = differences.into_iter().next();
                    let why = first.map_or_else(String::new, |it| it.message);
                    problems.push(format!("{name} has changed. {why}"));
                }
            }
        }
    }
    problems.dedup();
    for why in problems {
        all.notices.problem(format!("Not sent: {why}"));
    }
    if sent > 0 {
        all.notices
            .say(format!("Sent {sent}, each with a new seed."));
    }
    sent
}
