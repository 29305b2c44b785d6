use atelier_contract::Draft;
use atelier_engine::TaskKey;
use atelier_studio::form::double_click::{self as presses, Presses};
use leptos::prelude::*;

use crate::browser::{clock, press};
use crate::reactive::boxed::{after, memo};
use crate::state::contexts::contexts;
use crate::view::parts::status_note::StatusNote;

/// Added to delays, because timers may fire a little early.
const MARGIN_MS: u32 = 20;

/// Ignores repeated presses of "Generate" for a moment, so that a double click submits one task. Shows a message for an
/// ignored press.
#[derive(Clone, Copy)]
pub struct SubmitCooldown {
    presses: StoredValue<Presses>,
    /// The last submitted draft while another press for it is ignored.
    pressed: RwSignal<Option<Draft>>,
    /// The task that was created by the last press that counted.
    created: StoredValue<Option<TaskKey>>,
    answer: StatusNote,
}

impl SubmitCooldown {
    pub fn new(answer: StatusNote) -> Self {
        Self {
            presses: StoredValue::new(Presses::default()),
            pressed: RwSignal::new(None),
            created: StoredValue::new(None),
            answer,
        }
    }

    /// Records the task that a press has created.
    pub fn set_created(self, task: TaskKey) {
        self.created.set_value(Some(task));
    }

    /// Returns whether a press with this draft counts. If it doesn't, a message says that the task was sent or is waiting
    /// and, a moment later, that the user can press again.
    pub fn counts(self, draft: &Draft) -> bool {
        // Compare the draft instead of the input, which gets another random seed each time.
        let key = draft.to_value().to_string();
        let counts = self
            .presses
            .try_update_value(|presses| presses.counts_late(&key, press::at(), clock::now()));
        if counts == Some(true) {
            self.pressed.set(Some(draft.clone()));
            self.after_cooldown(&key, move || self.pressed.set(None));
            return true;
        }
        let runner = contexts().runner;
        let show = move |at: usize| {
            let task = self.created.get_value().and_then(|key| runner.task(&key));
            let task = task.map(|task| task.get_untracked());
            self.answer
                .say(presses::messages(task.as_ref().map(|it| &it.state))[at].into());
        };
        show(0);
        self.after_cooldown(&key, move || show(1));
        false
    }

    /// Runs a function at the end of the cooldown.
    fn after_cooldown(self, key: &str, act: impl FnOnce() + 'static) {
        let remaining = self
            .presses
            .with_value(|presses| presses.remaining(key, clock::now()));
        let end = after(remaining as u32 + MARGIN_MS, move || {
            if !self.pressed.is_disposed() {
                act();
            }
        });
        end.forget();
    }

    /// Returns whether a press for the current draft would be ignored now.
    pub fn is_active(self, draft: RwSignal<Draft>) -> Memo<bool> {
        memo(move || {
            let pressed = self.pressed.read();
            pressed.as_ref().is_some_and(|what| *what == *draft.read())
        })
    }
}
