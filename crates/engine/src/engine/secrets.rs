//! Holds the values of secret parameters in memory, apart from the stored task records.

use serde_json::{Map, Value};

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey};

/// The values of the secret parameters of unsent tasks: one object per task, by task key. Never stored.
pub type Secrets = Map<String, Value>;

impl Engine {
    /// Adds the secrets of tasks. Must be called before the tasks are added. Existing secrets of a task are not
    /// replaced, because it may have been sent with them.
    pub fn add_secrets(&mut self, secrets: Secrets) {
        for (key, values) in secrets {
            let known = self.secrets.entry(key).or_insert(Value::Null);
            if known.is_null() {
                *known = values;
            }
        }
    }

    /// Returns the secrets of these tasks, as far as this tab has them.
    pub fn secrets_of(&self, tasks: &[Task]) -> Secrets {
        let mut found = Secrets::new();
        for Task { key, .. } in tasks {
            if let Some(values @ Value::Object(_)) = self.secrets.get(&key.0) {
                found.insert(key.0.clone(), values.clone());
            }
        }
        found
    }

    /// Whether the task needs secrets that this tab doesn't have. Without them it would be a different request.
    pub fn lacks_secrets(&self, task: &Task) -> bool {
        !task.secrets.is_empty() && !matches!(self.secrets.get(&task.key.0), Some(Value::Object(_)))
    }

    /// Fails queued tasks whose secrets were lost with the tab in which they were entered.
    pub(super) fn fail_without_secrets(&mut self, now: Millis) {
        for key in std::mem::take(&mut self.lacking_secrets) {
            let Some(tracked) = self.tasks.get(&key) else {
                continue;
            };
            let task = &tracked.task;
            let waits = task.state.phase() == Phase::Queued && !task.taken_back;
            if !waits || task.removed.is_some() || !self.lacks_secrets(task) {
                continue;
            }
            if task.resubmitted {
                // The service may have accepted an earlier submission, so the user decides.
                self.withdraw(&key, now);
                continue;
            }
            let message = task.lost_secrets_message();
            self.send_queue.leave(task, tracked.order);
            if let Some(tracked) = self.tasks.get_mut(&key) {
                tracked.task.submitted = None;
            }
            self.apply_event(&key, Event::Unsendable { message }, now);
        }
    }

    /// Clears the secrets of a task once the outcome of its submission is known.
    pub(super) fn forget_secrets(&mut self, key: &TaskKey) {
        let state = self.task(key).map(|task| &task.state);
        let is_over = state.is_none_or(|state| state.is_terminal() || state.id().is_some());
        if is_over && let Some(values) = self.secrets.get_mut(&key.0) {
            *values = Value::Null;
        }
    }
}
