//! The values of secret parameters: in memory alone, apart from the tasks, whose records are stored.

use serde_json::{Map, Value};

use super::Engine;
use crate::reduce::Event;
use crate::{Millis, Phase, Task, TaskKey};

/// The values of the secret parameters of tasks that are yet to be sent: an object for each task, by its key. Never
/// stored.
pub type Secrets = Map<String, Value>;

impl Engine {
    /// Notes the secrets of tasks, to be called before the tasks come. The first of a task stay: it may have been sent
    /// with them.
    pub fn keep_secrets(&mut self, secrets: Secrets) {
        for (key, values) in secrets {
            let known = self.secrets.entry(key).or_insert(Value::Null);
            if known.is_null() {
                *known = values;
            }
        }
    }

    /// Gives the secrets of these tasks, as far as this tab has them.
    pub fn secrets_of(&self, tasks: &[Task]) -> Secrets {
        let mut found = Secrets::new();
        for Task { key, .. } in tasks {
            if let Some(values @ Value::Object(_)) = self.secrets.get(&key.0) {
                found.insert(key.0.clone(), values.clone());
            }
        }
        found
    }

    /// Without them it would be another request than the one that a person has made.
    pub fn lacks_secrets(&self, task: &Task) -> bool {
        !task.secrets.is_empty() && !matches!(self.secrets.get(&task.key.0), Some(Value::Object(_)))
    }

    /// Ends the tasks that wait to be sent and whose secrets went with the tab in which they were entered.
    pub(super) fn give_up_without_secrets(&mut self, now: Millis) {
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
                // An earlier submission may have been taken: a person looks at that.
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

    /// They are of no more use once it is known what became of the submission.
    pub(super) fn forget_secrets(&mut self, key: &TaskKey) {
        let state = self.task(key).map(|task| &task.state);
        let is_over = state.is_none_or(|state| state.is_terminal() || state.id().is_some());
        if is_over && let Some(values) = self.secrets.get_mut(&key.0) {
            *values = Value::Null;
        }
    }
}
