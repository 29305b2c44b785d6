use atelier_contract::{ModelId, Schema};
use atelier_engine::{Millis, Task, TaskKey};
use atelier_studio::form::double_click::{DEBOUNCE_MS, Presses, repeated_message, sent_message};
use atelier_studio::form::rerun::{self, InputChange};
use atelier_studio::form::seed::{self, Seeded};
use atelier_studio::navigation::route::Route;
use atelier_studio::output::expected_output;
use leptos::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

use crate::browser::{press, random};
use crate::state::batches::Batches;
use crate::state::catalog::Load;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::status_note::StatusNote;
use crate::view::task::edit;

/// Submits the inputs of a task again, each time with a new seed, and shows the outcome in `answer`.
#[derive(Clone, Copy)]
pub struct Again {
    contexts: Contexts,
    key: StoredValue<TaskKey>,
    model: StoredValue<ModelId>,
    pub answer: StatusNote,
}

thread_local! {
    /// Recent presses of all buttons of this kind on the page, to detect double clicks.
    static PRESSES: RefCell<Presses> = RefCell::default();

    static SENT: RefCell<Option<Sent>> = const { RefCell::new(None) };
}

/// The tasks that the last press submitted.
#[derive(Clone)]
struct Sent {
    count: usize,
    /// The page that shows them.
    route: Route,
    original: TaskKey,
    at: Millis,
}

impl Again {
    pub fn of(task: &Task) -> Self {
        Self {
            contexts: contexts(),
            key: StoredValue::new(task.key.clone()),
            model: StoredValue::new(task.model.clone()),
            answer: StatusNote::default(),
        }
    }

    fn schema(self) -> Load<Arc<Schema>> {
        let catalog = self.contexts.catalog;
        self.model.with_value(|model| catalog.schema(model))
    }

    /// Returns whether another seed gives another result; tracked.
    pub fn has_seed(self) -> bool {
        let schema = self.schema();
        let seed = schema.loaded().map(|schema| seed::parameter(schema));
        seed.flatten().is_some()
    }

    /// Returns whether the schema is still loading, so that [`Self::has_seed`] is not final; tracked.
    pub fn is_awaited(self) -> bool {
        matches!(self.schema(), Load::Loading)
    }

    /// Returns how many outputs each submission will have; tracked.
    pub fn outputs_of_each(self) -> usize {
        let schema = self.schema();
        let task = self.contexts.runner.task(&self.key.get_value());
        task.map_or(1, |task| {
            let task = task.read_untracked();
            expected_output::expected_count(
                task.input.values(),
                schema.loaded().map(|schema| &**schema),
            )
        })
    }

    /// Submits `count` tasks at a press of the button of this name. The second click of a double click submits nothing, and
    /// a message shows that.
    pub fn press(self, button: &'static str, count: usize) {
        let sent = SENT.with_borrow(Clone::clone);
        // The new task may have replaced the original on the page, so that the second click hits the new task's button.
        let is_sent = |sent: &Sent| match &sent.route {
            Route::Batch(batch) => {
                let place = self
                    .key
                    .with_value(|key| self.contexts.runner.place_of(key));
                place.is_some_and(|place| place.batch == *batch)
            }
            route => *route == Route::Task(self.key.get_value()),
        };
        let of = sent.as_ref().filter(|sent| is_sent(sent));
        let of = of.map(|sent| sent.original.clone());
        let counts = PRESSES.with_borrow_mut(|presses| {
            let mut of = std::iter::once(self.key.get_value()).chain(of);
            of.all(|key| presses.counts(&format!("{button} {}", key.0), press::at()))
        });
        if counts {
            SENT.set(None);
            self.send(count);
        } else if let Some(Sent { count, route, .. }) = sent {
            let message = repeated_message(count);
            self.answer
                .say_with_link(message, link_label(count), route.path());
        }
    }

    /// Returns whether a press is the second click of the double click that submitted this task, which may have replaced
    /// the original on the page. In that case, shows that the task was submitted once.
    pub fn is_second_click(self) -> bool {
        let sent = SENT.with_borrow(Clone::clone);
        let sent = sent.filter(|sent| {
            press::at().abs_diff(sent.at) < DEBOUNCE_MS
                && sent.route == Route::Task(self.key.get_value())
        });
        if let Some(Sent { count, .. }) = &sent {
            self.answer.say(sent_message(*count));
        }
        sent.is_some()
    }

    fn send(self, count: usize) {
        let (answer, runner) = (self.answer, self.contexts.runner);
        let schema = match untrack(|| self.schema()) {
            Load::Loaded(schema) => schema,
            Load::Loading => {
                return answer
                    .say("Not sent: the model's inputs are still loading. Press again.".into());
            }
            Load::Failed(_) => {
                let catalog = self.contexts.catalog;
                self.model.with_value(|model| catalog.reload_schema(model));
                return answer
                    .say("Not sent: the model's inputs could not be loaded. Press again.".into());
            }
        };
        let task = runner.task(&self.key.get_value());
        let Some(task) = task.map(|task| task.get_untracked()) else {
            return;
        };
        match send(self.contexts, &task, &schema, count) {
            Ok(None) => {}
            Ok(Some(route)) => {
                let has_seed = seed::parameter(&schema).is_some();
                let other = if has_seed { " with a new seed" } else { "" };
                let href = route.path();
                SENT.set(Some(Sent {
                    count,
                    route,
                    original: task.key.clone(),
                    at: press::at(),
                }));
                let message = match (count, has_seed) {
                    (1, _) => format!("Sent{other}."),
                    (n, true) => format!("Sent {n}, each{other}."),
                    (n, false) => format!("Sent {n}."),
                };
                answer.say_with_link(message, link_label(count), href);
            }
            Err(differences) => {
                let first = differences.into_iter().next();
                let why = first.map_or_else(String::new, |difference| difference.message);
                let href = edit::address(&task);
                answer.say_with_link(
                    format!("Not sent: the model has changed. {why}"),
                    "Edit it",
                    href,
                );
            }
        }
    }
}

/// Returns the label of the link to the submitted tasks.
fn link_label(count: usize) -> &'static str {
    if count == 1 { "Show it" } else { "Show them" }
}

/// Submits a task's inputs `count` more times, each time with a new seed; several form a batch. Returns their page, or
/// `None` if nothing can be submitted now. In that case, the user sees why.
///
/// # Errors
///
/// The inputs that the model's present schema does not accept unchanged.
pub fn send(
    all: Contexts,
    task: &Task,
    schema: &Schema,
    count: usize,
) -> Result<Option<Route>, Vec<InputChange>> {
    let random: Vec<u64> = (0..count).map(|_| random::bits()).collect();
    let mut inputs = rerun::inputs_again(task.input.values(), schema, &random)?;
    if !all.runner.can_send() {
        return Ok(None);
    }
    if untrack(|| edit::open_form_for_secrets(all, task, false, Some(schema))) {
        return Ok(None);
    }
    if inputs.len() > 1 {
        let batch = Batches::new(all).submit_variations(task, inputs);
        return Ok(Some(Route::Batch(batch)));
    }
    let sent = inputs.pop().map(|input| {
        let is_chosen = false;
        all.runner
            .submit(Seeded { input, is_chosen }, &task.model_name)
    });
    Ok(sent.map(Route::Task))
}
