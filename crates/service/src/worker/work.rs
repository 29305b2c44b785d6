//! Runs one task, from its stored input to its output files.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use atelier_contract::StatusWord;
use atelier_metadata::DigitalSourceType;
use atelier_procedural::Job;

use super::WorkerContext;
use super::cancel::Canceler;
use super::queue::Queue;
use super::retryable_error::RetryableError;
use crate::model::{Ended, Pace, RunStop, Stop};
use crate::models::open_output;
use crate::outputs::Artifact;
use crate::recipe::Made;
use crate::report::{Preview, Report};
use crate::runner::{Run, time_limit_message};
use crate::secrets::Secrets;
use crate::store::{Failed, Order, StoreError};
use crate::turns::Turn;

/// The pause before a failed write of a result is retried.
const WRITE_RETRY: Duration = Duration::from_secs(2);

const NOT_OFFERED: &str = "This model is no longer offered.";

/// How an attempt has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// The end of the task is stored, or the service stops.
    Ended,
    /// The task had ended before, so nothing is stored.
    Superseded,
}

impl Attempt {
    fn of(is_stored: bool) -> Self {
        match is_stored {
            true => Self::Ended,
            false => Self::Superseded,
        }
    }
}

/// Runs one task to its end, or leaves it unfinished if the service stops. Stops a canceled task.
///
/// # Errors
///
/// A [`RetryableError`], after which the task is retried: the store or the outputs can't be written, or the model
/// reported a retryable error. A failed task is not an error.
pub fn work(
    context: &WorkerContext,
    queue: &Queue,
    canceler: &Arc<Canceler>,
    turn: &Turn,
) -> Result<(), RetryableError> {
    let stop = queue.stop_of(&turn.id);
    let attempt = attempt(context, queue, &stop, turn);
    if stop.is_canceled() || matches!(attempt, Ok(Attempt::Superseded)) {
        canceler.stop_later(turn.clone());
        return Ok(());
    }
    attempt.map(|_| ())
}

/// Makes one attempt at a task.
///
/// # Errors
///
/// As for [`work`].
fn attempt(
    context: &WorkerContext,
    queue: &Queue,
    stop: &RunStop,
    turn: &Turn,
) -> Result<Attempt, RetryableError> {
    let WorkerContext {
        store,
        models,
        outputs,
        speed,
        draw_scale,
        ..
    } = context;
    let id = &turn.id;
    let Some(order) = store.order(id)? else {
        return Ok(Attempt::Superseded);
    };
    let Order {
        model,
        mut input,
        secrets,
        created,
        ..
    } = order;
    // The input without secrets, for the recipe.
    let mut public_input = input.clone();
    secrets.add_to(&mut input);
    if let Some(paths) = outputs.saved(id)? {
        let bytes = outputs.bytes_of(id);
        return Ok(complete(context, stop.flag(), turn, &paths, bytes));
    }
    let Some(model) = models.find(&model) else {
        let stop = stop.flag();
        return Ok(fail(context, stop, turn, NOT_OFFERED, Failed::Permanent));
    };
    // Includes secrets that were accepted before their parameter was marked as secret.
    let secrets = secrets.merge(Secrets::take_from(&mut public_input, &model.schema()));
    let remote = models.remote(&turn.model);
    let limit = remote.map(|remote| remote.time_limit());
    let now = Instant::now();
    // The task may have waited for other tasks since its last attempt.
    if let (Some(limit), Some(error)) = (limit, &turn.last_error)
        && turn.deadline(now, limit) <= now
    {
        let message = time_limit_message(limit, Some(error));
        let stop = stop.flag();
        return Ok(fail(context, stop, turn, &message, Failed::UnlessResult));
    }
    if !store.set_processing(id)? {
        return Ok(Attempt::Superseded);
    }
    tracing::debug!("task {id} begins");
    let make = || match remote {
        Some(remote) => remote.run(&Run {
            id,
            input: &input,
            outputs,
            stop,
            deadline: turn.deadline(now, remote.time_limit()),
            time_limit: remote.time_limit(),
            last_error: turn.last_error.as_deref(),
            sent: order.sent,
            store: &**store,
            report: &|report| {
                let message = secrets.hide_in(&report.message);
                queue.report(id, Report { message, ..report });
            },
            preview: &|picture| {
                if let Some(preview) = Preview::new(picture) {
                    queue.report_preview(id, preview);
                }
            },
            hide: &|text| secrets.hide_in(text),
        }),
        None => {
            // A retried task does not simulate the computing time again.
            let speed = if turn.failures == 0 { *speed } else { 0.0 };
            let built_in = models
                .find_built_in(&turn.model)
                .ok_or_else(|| Ended::Failed(NOT_OFFERED.to_owned()))?;
            let model = built_in.procedural();
            let pace = Pace::new(model.seconds(&input) * speed, stop.flag());
            let made = model.make(&Job {
                progress: &|fraction| {
                    let report = |reached| queue.report(id, Report::fraction(reached));
                    pace.reach(fraction, report)
                },
                open: &open_output(outputs),
                scale: *draw_scale,
                ..Job::new(&input)
            });
            Ok(made?.into_iter().map(Artifact::from).collect::<Vec<_>>())
        }
    };
    let made = catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())))
        // A server or a program may repeat its input in its message.
        .map_err(|ended| ended.map_text(|text| secrets.hide_in(text)));
    let is_last_attempt = || limit.is_some_and(|limit| turn.is_last_attempt(Instant::now(), limit));
    let fail = |message: &str, failure| Ok(fail(context, stop.flag(), turn, message, failure));
    match made {
        // The files of a canceled task are not saved.
        Ok(_) if stop.is_canceled() => Ok(Attempt::Superseded),
        Ok(mut artifacts) => {
            if let Some(recipes) = &context.recipes {
                recipes.write_into(
                    &mut artifacts,
                    &Made {
                        task: id,
                        model: &turn.model,
                        input: &secrets.hide_in_values(public_input),
                        created,
                        is_remote: remote.is_some(),
                        source: match remote {
                            None => Some(DigitalSourceType::AlgorithmicMedia),
                            Some(remote) if remote.is_program() => None,
                            Some(_) => Some(DigitalSourceType::TrainedAlgorithmicMedia),
                        },
                    },
                );
            }
            let paths = match remote {
                // Another run might cost money again: keep the output until there is space for it.
                Some(_) => write_with_retries(stop.flag(), id, || outputs.save(id, &artifacts)),
                None => Some(outputs.save(id, &artifacts)?),
            };
            let Some(paths) = paths else {
                return Ok(Attempt::Ended);
            };
            let bytes = artifacts.iter().map(|file| file.bytes.len() as u64).sum();
            Ok(complete(context, stop.flag(), turn, &paths, bytes))
        }
        // The process that received the answer may still be fetching its files.
        Err(Ended::Failed(error))
            if order.is_sender_alive && !is_last_attempt() && store.saved_answer(id)?.is_some() =>
        {
            Err(RetryableError::Model(error))
        }
        Err(Ended::Failed(message)) => fail(&message, Failed::Permanent),
        Err(Ended::Unknown(_)) if order.is_sender_alive && !is_last_attempt() => {
            let error = "Another process has sent the task, and may be waiting for the answer: it may have been made and paid for.";
            Err(RetryableError::Model(error.into()))
        }
        Err(Ended::Unknown(message)) => fail(&message, Failed::UnlessResult),
        Err(Ended::Retry(error)) => match limit {
            Some(limit) if is_last_attempt() => {
                let message = time_limit_message(limit, Some(&error));
                fail(&message, Failed::UnlessResult)
            }
            _ => Err(RetryableError::Model(error)),
        },
        Err(Ended::Blocked(error)) => Err(RetryableError::Blocked(error)),
        Err(Ended::Stopped) => Ok(Attempt::Ended),
    }
}

/// Stores that the task is completed. Retries only this write; if the service stops first, the next start finds
/// the files.
fn complete(
    context: &WorkerContext,
    stop: &Stop,
    turn: &Turn,
    paths: &[String],
    bytes: u64,
) -> Attempt {
    let write = || context.store.complete(&turn.id, paths, bytes);
    ended(context, stop, turn, &StatusWord::Completed, write)
}

/// Stores that the task has failed, with retries until that works or the service stops.
fn fail(
    context: &WorkerContext,
    stop: &Stop,
    turn: &Turn,
    message: &str,
    failure: Failed,
) -> Attempt {
    // A server or a program may send a NUL, which PostgreSQL can't store in text.
    let message = message.replace('\0', "");
    let write = || context.store.fail(&turn.id, &message, failure);
    ended(context, stop, turn, &StatusWord::Failed, write)
}

/// Stores the end of a task with `write`, which returns whether the task had not ended before, and counts it.
fn ended(
    context: &WorkerContext,
    stop: &Stop,
    turn: &Turn,
    status: &StatusWord,
    write: impl FnMut() -> Result<bool, StoreError>,
) -> Attempt {
    let Some(is_stored) = write_with_retries(stop, &turn.id, write) else {
        return Attempt::Ended;
    };
    if is_stored {
        context.metrics.count_ended(&turn.model, status);
    }
    Attempt::of(is_stored)
}

/// Retries a write until it works. Returns `None` when the service stops.
fn write_with_retries<T, E: Display>(
    stop: &Stop,
    id: &str,
    mut write: impl FnMut() -> Result<T, E>,
) -> Option<T> {
    loop {
        match write() {
            Ok(written) => return Some(written),
            Err(error) => tracing::error!("task {id:.8}…: can't save the result: {error}"),
        }
        if stop.is_set_within(WRITE_RETRY) {
            return None;
        }
    }
}
