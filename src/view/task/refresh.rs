//! Requests fresh addresses of outputs when the user asks for them.

use std::pin::pin;

use atelier_engine::{Action, Phase, TaskKey};
use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::browser::clock;
use crate::reactive::boxed::spawn;
use crate::runner::Runner;
use crate::view::parts::status_note::StatusNote;

const TIMEOUT_MS: u32 = 15_000;

/// Requests the addresses of a task's outputs again and shows the outcome in `answer`. The task may also be one that the
/// service didn't know or whose output it refused.
pub fn refresh_addresses(runner: Runner, key: TaskKey, action: Action, answer: StatusNote) {
    let Some(task) = runner.task(&key) else {
        return;
    };
    let blocked_reason = untrack(|| task.with(|task| runner.not_asked_reason(task)));
    let requested_at = clock::now();
    let now = move || {
        let task = task.read_untracked();
        (task.state.phase(), task.outputs().to_vec())
    };
    let before = now();
    runner.act(&key, action);
    if let Some(why) = blocked_reason {
        return answer.say(why);
    }
    answer.say("Asking the service…".into());
    spawn(async move {
        let refreshed = pin!(runner.refreshed(&key, requested_at));
        let answered = select(refreshed, TimeoutFuture::new(TIMEOUT_MS)).await;
        let now = now();
        let message = match answered {
            Either::Left(_) if now.0 == Phase::Gone => "The service still does not know this task.",
            Either::Left(_) if before.0 == Phase::Gone => "The service found this task.",
            Either::Left(_) if now.0 == Phase::Failed => "The service still returns no output.",
            Either::Left(_) if before.0 == Phase::Failed => "The service has returned the output.",
            Either::Left(_) if now == before => "The service returned the same addresses.",
            Either::Left(_) => "The addresses are new.",
            Either::Right(_) if matches!(now.0, Phase::Gone | Phase::Failed) => {
                "The service has not answered yet."
            }
            Either::Right(_) => {
                "The service has not answered yet. The addresses change when it does."
            }
        };
        answer.say(message.into());
    });
}
