//! New addresses for outputs, at a person's word.

use std::pin::pin;

use atelier_engine::{Action, TaskKey, TaskState};
use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::boxed::spawn;
use crate::browser::clock;
use crate::runner::Runner;
use crate::view::parts::status_note::StatusNote;

const TIMEOUT_MS: u32 = 15_000;

/// Asks the service for the addresses once more, and says what came of it.
pub fn ask(runner: Runner, key: TaskKey, answer: StatusNote) {
    let Some(task) = runner.task(&key) else {
        return;
    };
    let asked = clock::now();
    let outputs = move || match &task.read_untracked().state {
        TaskState::Ready { outputs, .. } => outputs.clone(),
        _ => Vec::new(),
    };
    let before = outputs();
    runner.act(&key, Action::Refetch);
    answer.say("Asking the service…".into());
    spawn(async move {
        let refreshed = pin!(runner.refreshed(&key, asked));
        let answered = select(refreshed, TimeoutFuture::new(TIMEOUT_MS)).await;
        answer.say(match answered {
            Either::Left(_) if outputs() == before => {
                "The service gives the same addresses.".into()
            }
            Either::Left(_) => "The addresses are new.".into(),
            Either::Right(_) => {
                "The service has not answered yet. The addresses change when it does.".into()
            }
        });
    });
}
