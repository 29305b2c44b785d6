//! Adds the secrets in the fields of models to tasks, and asks the user for missing ones.

use atelier_engine::{Secrets, Task, TaskKey};
use leptos::prelude::*;

use super::Runner;
use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::state::secrets;

impl Runner {
    /// Returns the secrets in the fields of these tasks' models, by task. Adds only the names of the secrets to the tasks.
    pub(super) fn take_secrets(&self, tasks: &mut [Task]) -> Secrets {
        let mut found = Secrets::new();
        for task in tasks {
            let values = secrets::values(&task.account.address, &task.model);
            if !values.is_empty() {
                task.secrets = values.keys().cloned().collect();
                found.insert(task.key.0.clone(), values.into());
            }
        }
        found
    }

    /// Returns whether secrets must be entered before a task's input can be sent again, and shows a notice if so.
    /// `is_same`: the input is sent as the same task, which needs the same secrets as before.
    pub fn asks_for_secrets(&self, task: &Task, is_same: bool) -> bool {
        let lacks = match is_same {
            true => {
                let driver = self.parts().driver;
                driver.with_engine(|engine| engine.lacks_secrets(task)) == Some(true)
            }
            false => {
                let address = self.session.account().address;
                let values = secrets::values(&address, &task.model);
                task.secrets.iter().any(|name| !values.contains_key(name))
            }
        };
        if lacks {
            self.notices.problem(match is_same {
                // The service may have accepted the task, and its idempotency key is only valid for the same secret.
                true => format!(
                    "It can't be sent again: {} was stored only in the tab where you entered it. The service may have received \
                     it; what you send from the form is another task.",
                    task.secrets.join(", ")
                ),
                false => task.lost_secrets_message(),
            });
        }
        lacks
    }

    /// Returns whether this tab has the task's secrets. If so, sends them to the leader, which may lack them; if not, shows
    /// a notice.
    pub(super) fn can_resubmit(&self, key: &TaskKey) -> bool {
        let Parts { driver, tabs, .. } = self.parts();
        let Some(task) = self.task(key).map(|task| task.get_untracked()) else {
            return true;
        };
        if untrack(|| self.asks_for_secrets(&task, true)) {
            return false;
        }
        let tasks = vec![task];
        let secrets = driver.with_engine(|engine| engine.secrets_of(&tasks));
        let secrets = secrets.filter(|secrets| !secrets.is_empty() && !tabs.leads());
        if let Some(secrets) = secrets {
            tabs.send(&TabMessage::Submitted(tasks, secrets));
        }
        true
    }
}
