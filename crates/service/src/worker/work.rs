//! The way of one task: from its order to its files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use atelier_contract::StatusWord;

use super::WorkerContext;
use super::obstacle::Obstacle;
use super::queue::Queue;
use crate::models::{Ended, Job, Pace, Stop};
use crate::outputs::{Artifact, Outputs};
use crate::runner::Run;
use crate::store::Order;
use crate::turns::Turn;

/// How long to wait for room on the disk before the next try.
const SAVE_AGAIN: Duration = Duration::from_secs(2);

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
        metrics,
        speed,
        draw_scale,
    } = context;
    let id = &turn.id;
    let Some(Order { model, input, sent }) = store.order(id)? else {
        return Ok(());
    };
    let Some(model) = models.find(&model) else {
        store.fail(id, "This model is no longer offered.")?;
        metrics.ended(&turn.model, &StatusWord::Failed);
        return Ok(());
    };
    store.set_processing(id)?;
    tracing::debug!("task {id} begins");
    let remote = models.remote(&turn.model);
    let make = || match remote {
        Some(remote) => remote.run(&Run {
            id,
            input: &input,
            outputs,
            stop: &queue.stop,
            deadline: Instant::now() + remote.time_limit(),
            sent,
            store,
            say: &|words| {
                queue.lock().words.insert(id.clone(), words.to_owned());
                store.set_words(id, words);
            },
        }),
        None => {
            // A task that is tried again does not wait for the show a second time.
            let show = if turn.failures == 0 { *speed } else { 0.0 };
            let pace = Pace::new(model.seconds(&input) * show, &queue.stop);
            model.make(&Job {
                scale: *draw_scale,
                ..Job::new(&input, pace, outputs)
            })
        }
    };
    let made = catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|_| Err(Ended::Failed("The model crashed on this input.".into())));
    match made {
        Ok(artifacts) => {
            let paths = match remote {
                // Running it again might have to be paid for again: the output is kept until there
                // is room for it.
                Some(_) => match save_at_last(outputs, &queue.stop, id, &artifacts) {
                    Some(paths) => paths,
                    None => return Ok(()),
                },
                None => outputs.save(id, &artifacts)?,
            };
            let bytes = artifacts.iter().map(|file| file.bytes.len() as u64).sum();
            store.complete(id, &paths, bytes)?;
            metrics.ended(&turn.model, &StatusWord::Completed);
            Ok(())
        }
        Err(Ended::Failed(message)) => {
            store.fail(id, &message)?;
            metrics.ended(&turn.model, &StatusWord::Failed);
            Ok(())
        }
        Err(Ended::Hindered(obstacle)) => Err(Obstacle::Model(obstacle)),
        Err(Ended::Stopped) => Ok(()),
    }
}

/// Tries until it works; `None` when the service stops.
fn save_at_last(
    outputs: &Outputs,
    stop: &Stop,
    id: &str,
    artifacts: &[Artifact],
) -> Option<Vec<String>> {
    loop {
        match outputs.save(id, artifacts) {
            Ok(paths) => return Some(paths),
            Err(error) => tracing::error!("task {id}: the output could not be written: {error}"),
        }
        if stop.is_set_within(SAVE_AGAIN) {
            return None;
        }
    }
}
