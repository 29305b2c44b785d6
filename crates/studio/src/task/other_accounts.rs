//! Counts the tasks that wait because Settings contain another account.

use atelier_engine::{SendingState, Task, is_not_followed, waits_for_account};

use crate::text::plural::{agreeing, counted};

/// The numbers of these tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherAccounts {
    /// The number of tasks that are running on their service, but are not polled by any tab.
    running: usize,
    /// The number of tasks that are sent once Settings contain their account again.
    queued: usize,
}

impl OtherAccounts {
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a Task>, sending: SendingState<'_>) -> Self {
        let mut this = Self::default();
        for task in tasks {
            this.running += usize::from(is_not_followed(task, sending));
            this.queued += usize::from(waits_for_account(task, sending));
        }
        this
    }

    /// Returns the message to show on all pages; `None` if there are no such tasks.
    pub fn user_message(self) -> Option<String> {
        let counted = |count: usize, what: &str, participle: &str| {
            let tasks = counted(count, &format!("{what} task"));
            let verb = agreeing(count, "is", "are");
            (count > 0).then(|| format!("{tasks} {verb} not {participle}"))
        };
        let running = counted(self.running, "running", "followed");
        let queued = counted(self.queued, "queued", "sent");
        let parts: Vec<String> = running.into_iter().chain(queued).collect();
        let message = parts.join(", ");
        (!message.is_empty()).then(|| format!("{message}: Settings name another account, or none."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_tasks_are_counted_in_the_message() {
        let message = |running, queued| OtherAccounts { running, queued }.user_message();
        assert_eq!(message(0, 0), None);
        assert_eq!(
            message(10, 25).as_deref(),
            Some(
                "10 running tasks are not followed, 25 queued tasks are not sent: \
                 Settings name another account, or none."
            )
        );
        assert_eq!(
            message(0, 1).as_deref(),
            Some("1 queued task is not sent: Settings name another account, or none.")
        );
    }
}
