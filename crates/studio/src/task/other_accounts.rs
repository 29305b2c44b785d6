//! Counts the tasks that wait for another account than the one in Settings.

use atelier_engine::{SendingState, Task, is_not_followed, waits_for_account};

use crate::text::plural::{agreeing, counted};

/// How many tasks do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherAccounts {
    /// They go on at their service, and no tab asks about them.
    running: usize,
    /// They are sent once Settings name their account again.
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

    /// A sentence for every page; `None` where nothing waits.
    pub fn user_message(self) -> Option<String> {
        let counted = |count: usize, what: &str, is_not: &str| {
            let tasks = counted(count, &format!("{what} task"));
            let verb = agreeing(count, "is", "are");
            (count > 0).then(|| format!("{tasks} {verb} not {is_not}"))
        };
        let running = counted(self.running, "running", "followed");
        let queued = counted(self.queued, "queued", "sent");
        let parts: Vec<String> = running.into_iter().chain(queued).collect();
        let said = parts.join(", ");
        (!said.is_empty()).then(|| format!("{said}: Settings name another account, or none."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_and_said() {
        let said = |running, queued| OtherAccounts { running, queued }.user_message();
        assert_eq!(said(0, 0), None);
        assert_eq!(
            said(10, 25).as_deref(),
            Some(
                "10 running tasks are not followed, 25 queued tasks are not sent: \
                 Settings name another account, or none."
            )
        );
        assert_eq!(
            said(0, 1).as_deref(),
            Some("1 queued task is not sent: Settings name another account, or none.")
        );
    }
}
