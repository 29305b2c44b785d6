//! New addresses for outputs, at a person's word.

use atelier_engine::{Action, TaskKey, TaskState};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::boxed::spawn;
use crate::browser::clock;
use crate::runner::Runner;
use crate::view::parts::answer::Answer;

const LOOK_MS: u32 = 100;
const TIMEOUT_MS: u32 = 15_000;

/// Asks the service for the addresses once more, and says what came of it.
pub fn ask(runner: Runner, key: TaskKey, answer: Answer) {
    let Some(task) = runner.task(&key) else {
        return;
    };
    let asked = clock::now();
    let outputs = move || match &task.read_untracked().state {
        TaskState::Ready { outputs, .. } => (outputs.clone(), task.read_untracked().refreshed),
        _ => (Vec::new(), None),
    };
    let (before, _) = outputs();
    runner.act(&key, Action::Refetch);
    answer.say("Asking the service…".into());
    spawn(async move {
        let mut waited = 0;
        while waited < TIMEOUT_MS {
            TimeoutFuture::new(LOOK_MS).await;
            waited += LOOK_MS;
            let (now, refreshed) = outputs();
            if refreshed >= Some(asked) {
                return answer.say(if now == before {
                    "The service gives the same addresses.".into()
                } else {
                    "The addresses are new.".into()
                });
            }
        }
        answer.say("The service has not answered yet. The addresses change when it does.".into());
    });
}
