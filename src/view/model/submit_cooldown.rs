use atelier_contract::Draft;
use atelier_engine::TaskKey;
use atelier_studio::form::double_click::{self as presses, Presses};
use leptos::prelude::*;

use crate::browser::{clock, press};
use crate::reactive::boxed::{after, memo};
use crate::state::contexts::contexts;
use crate::view::parts::status_note::StatusNote;

/// Timers may come a little early.
const MARGIN_MS: u32 = 20;

/// Generate rests for a moment after each press, so that a double click is one task; and says so for as
/// long as it does.
#[derive(Clone, Copy)]
pub struct SubmitCooldown {
    presses: StoredValue<Presses>,
    /// What was pressed for, while the same does not count again.
    pressed: RwSignal<Option<Draft>>,
    /// What the last press that counted has made.
    made: StoredValue<Option<TaskKey>>,
    answer: StatusNote,
}

impl SubmitCooldown {
    pub fn new(answer: StatusNote) -> Self {
        Self {
            presses: StoredValue::new(Presses::default()),
            pressed: RwSignal::new(None),
            made: StoredValue::new(None),
            answer,
        }
    }

    /// A press that counted has made a task.
    pub fn made(self, task: TaskKey) {
        self.made.set_value(Some(task));
    }

    /// Whether a press with this in the form counts. One that does not is answered by what is true: it
    /// was sent, or waits, and in a moment the same can be sent once more.
    pub fn counts(self, draft: &Draft) -> bool {
        // Not the input: its seed may be another one each time.
        let what = draft.to_value().to_string();
        let counts = self
            .presses
            .try_update_value(|presses| presses.counts(&what, press::at()));
        if counts == Some(true) {
            self.pressed.set(Some(draft.clone()));
            self.after_rest(&what, move || self.pressed.set(None));
            return true;
        }
        let runner = contexts().runner;
        let said = move |at: usize| {
            let task = self.made.get_value().and_then(|key| runner.task(&key));
            let task = task.map(|task| task.get_untracked());
            self.answer
                .say(presses::messages(task.as_ref().map(|it| &it.state))[at].into());
        };
        said(0);
        self.after_rest(&what, move || said(1));
        false
    }

    fn after_rest(self, what: &str, act: impl FnOnce() + 'static) {
        let rest = self
            .presses
            .with_value(|presses| presses.remaining(what, clock::now()));
        let end = after(rest as u32 + MARGIN_MS, move || {
            if !self.pressed.is_disposed() {
                act();
            }
        });
        end.forget();
    }

    /// Whether a press would not count now: something else in the form can be sent at once.
    pub fn is_active(self, draft: RwSignal<Draft>) -> Memo<bool> {
        memo(move || {
            let pressed = self.pressed.read();
            pressed.as_ref().is_some_and(|what| *what == *draft.read())
        })
    }
}
