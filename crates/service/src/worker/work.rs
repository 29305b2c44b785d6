//! The way of one task: from its order to its files.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use atelier_contract::StatusWord;
use atelier_procedural::Job;

use super::WorkerContext;
use super::obstacle::Obstacle;
use super::queue::Queue;
use crate::model::{Ended, Pace, Stop};
use crate::models::open_output;
use crate::outputs::Artifact;
use crate::runner::{Run, out_of_time};
use crate::secrets::Secrets;
use crate::store::{Failed, Order};
use crate::turns::Turn;

/// The pause before a result is written again.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

const NOT_OFFERED: &str = "This model is no longer offered.";

/// Takes one task to its end, or leaves it unfinished if the service stops.
///
/// # Errors
///
/// An [`Obstacle`] that may pass, so that the task is to be tried again: the store or the outputs can't be
/// written, or the model was hindered. That the task failed is none.
pub fn work(context: &WorkerContext, queue: &Queue, turn: &Turn) -> Result<(), Obstacle> {
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
        return Ok(());
    };
    let Order {
        model,
        mut input,
        secrets,
        ..
    } = order;
    secrets.add_to(&mut input);
    if let Some(paths) = outputs.saved(id)? {
        complete(context, queue, turn, &paths, outputs.bytes_of(id));
        return Ok(());
    }
    let Some(model) = models.find(&model) else {
        fail(context, queue, turn, NOT_OFFERED, Failed::ForGood);
        return Ok(());
    };
    // Also what was accepted before its parameter was marked.
    let secrets = secrets.and(Secrets::take_from(&mut input.clone(), &model.schema()));
    let remote = models.remote(&turn.model);
    let limit = remote.map(|remote| remote.time_limit());
    let now = Instant::now();
    // It may have waited for others since its last attempt.
    if let (Some(limit), Some(error)) = (limit, &turn.last_error)
        && turn.deadline(now, limit) <= now
    {
        fail(
            context,
            queue,
            turn,
            &out_of_time(limit, Some(error)),
            Failed::UnlessResult,
        );
        return Ok(());
    }
    store.set_processing(id)?;
    tracing::debug!("task {id} begins");
    let make = || match remote {
        Some(remote) => remote.run(&Run {
            id,
            input: &input,
            outputs,
            stop: &queue.stop,
            deadline: turn.deadline(now, remote.time_limit()),
            time_limit: remote.time_limit(),
            last_error: turn.last_error.as_deref(),
            sent: order.sent,
            store: &**store,
            say: &|words| {
                let words = secrets.hide_in(words);
                store.set_words(id, &words);
                queue.lock().words.insert(id.clone(), words);
            },
            hide: &|text| secrets.hide_in(text),
        }),
        None => {
            // A task that is tried again does not wait for the show a second time.
            let speed = if turn.failures == 0 { *speed } else { 0.0 };
            let built_in = models
                .find_built_in(&turn.model)
                .ok_or_else(|| Ended::Failed(NOT_OFFERED.to_owned()))?;
            let model = built_in.procedural();
            let pace = Pace::new(model.seconds(&input) * speed, &queue.stop);
            let made = model.make(&Job {
                progress: &|fraction| pace.reach(fraction),
                open: &open_output(outputs),
                scale: *draw_scale,
                ..Job::new(&input)
            });
            Ok(made?.into_iter().map(Artifact::from).collect::<Vec<_>>())
        }
    };
    let made = catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())))
        // A server or a program may repeat what it was given.
        .map_err(|ended| ended.map_text(|text| secrets.hide_in(text)));
    let is_last_attempt = || limit.is_some_and(|limit| turn.is_last_attempt(Instant::now(), limit));
    match made {
        Ok(artifacts) => {
            let paths = match remote {
                // Running it again might have to be paid for again: the output is kept until there
                // is room for it.
                Some(_) => repeat(&queue.stop, id, || outputs.save(id, &artifacts)),
                None => Some(outputs.save(id, &artifacts)?),
            };
            if let Some(paths) = paths {
                let bytes = artifacts.iter().map(|file| file.bytes.len() as u64).sum();
                complete(context, queue, turn, &paths, bytes);
            }
            Ok(())
        }
        // The process that got the answer may be fetching its files still.
        Err(Ended::Failed(error))
            if order.is_sender_alive && !is_last_attempt() && store.saved_answer(id)?.is_some() =>
        {
            Err(Obstacle::Model(error))
        }
        Err(Ended::Failed(message)) => {
            fail(context, queue, turn, &message, Failed::ForGood);
            Ok(())
        }
        Err(Ended::Unknown(_)) if order.is_sender_alive && !is_last_attempt() => {
            let error = "Another process has sent the task, and may be waiting for the answer: it may have been made and paid for.";
            Err(Obstacle::Model(error.into()))
        }
        Err(Ended::Unknown(message)) => {
            fail(context, queue, turn, &message, Failed::UnlessResult);
            Ok(())
        }
        Err(Ended::Hindered(error)) => match limit {
            Some(limit) if is_last_attempt() => {
                fail(
                    context,
                    queue,
                    turn,
                    &out_of_time(limit, Some(&error)),
                    Failed::UnlessResult,
                );
                Ok(())
            }
            _ => Err(Obstacle::Model(error)),
        },
        Err(Ended::Blocked(error)) => Err(Obstacle::Blocked(error)),
        Err(Ended::Stopped) => Ok(()),
    }
}

/// Writes that the task has its files. Until that works nothing else of the task is repeated; when the
/// service stops before, the next start finds the files.
fn complete(context: &WorkerContext, queue: &Queue, turn: &Turn, paths: &[String], bytes: u64) {
    let id = &turn.id;
    let write = || context.store.complete(id, paths, bytes);
    if repeat(&queue.stop, id, write).is_some() {
        context.metrics.ended(&turn.model, &StatusWord::Completed);
    }
}

/// Writes that the task has failed, repeatedly until that works or the service stops.
fn fail(context: &WorkerContext, queue: &Queue, turn: &Turn, message: &str, failure: Failed) {
    let id = &turn.id;
    // A server or a program may send one, and PostgreSQL stores no text that has one.
    let message = message.replace('\0', "");
    let write = || context.store.fail(id, &message, failure);
    if repeat(&queue.stop, id, write).is_some() {
        context.metrics.ended(&turn.model, &StatusWord::Failed);
    }
}

/// Repeats a write until it works; `None` when the service stops.
fn repeat<T, E: Display>(
    stop: &Stop,
    id: &str,
    mut write: impl FnMut() -> Result<T, E>,
) -> Option<T> {
    loop {
        match write() {
            Ok(written) => return Some(written),
            Err(error) => tracing::error!("task {id:.8}…: can't save the result: {error}"),
        }
        if stop.is_set_within(WRITE_AGAIN) {
            return None;
        }
    }
}
