//! Sends tasks with the secrets that stand in the fields of their models, and asks for those that are gone.

use atelier_engine::{Secrets, Task, TaskKey};
use leptos::prelude::*;

use super::Runner;
use super::parts::Parts;
use super::tab_message::TabMessage;
use crate::state::secrets;

impl Runner {
    /// The secrets that stand in the fields of these tasks' models. The tasks have only their names.
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

    /// Whether the secrets of a task are to be entered before its input is sent once more, which is said then.
    /// `is_same`: it is sent as the same task, for which no others will do.
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
                // It may have been taken, and its key goes with its secret.
                true => format!(
                    "It can't be sent once more: {} was kept only in the tab where you entered it. The service may have \
                     received it; what you send from the form is another task.",
                    task.secrets.join(", ")
                ),
                false => task.lost_secrets_message(),
            });
        }
        lacks
    }

    /// Whether the task's secrets are here, which the tab that leads may lack. Where they are not, that is said.
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
            tabs.tell(&TabMessage::Submitted(tasks, secrets));
        }
        true
    }
}
