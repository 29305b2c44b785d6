//! Offers notifications next to a task that takes long, once a person has reason to want them.

use atelier_engine::Millis;

/// How long a task takes before it is offered, in ms.
pub const LONG: Millis = 20_000;

/// What is known when a task is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Since when the service has the task; none while nothing was sent.
    pub submitted: Option<Millis>,
    /// It is asked about, so that its end is known here.
    pub is_followed: bool,
    /// The browser has notifications, and would ask about them: it has been told neither yes nor no.
    pub may_ask: bool,
    /// They are switched on.
    pub is_on: bool,
    /// The offer was answered, or the setting was chosen before.
    pub was_chosen: bool,
    /// It stands next to another task already.
    pub is_elsewhere: bool,
}

impl Facts {
    pub fn is_offered(self, now: Millis) -> bool {
        let is_long = |since: Millis| now.saturating_sub(since) > LONG;
        self.submitted.is_some_and(is_long)
            && self.is_followed
            && self.may_ask
            && !self.is_on
            && !self.was_chosen
            && !self.is_elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_TASK: Facts = Facts {
        submitted: Some(1_000),
        is_followed: true,
        may_ask: true,
        is_on: false,
        was_chosen: false,
        is_elsewhere: false,
    };

    #[test]
    fn it_is_offered_next_to_a_task_that_takes_long() {
        assert!(!LONG_TASK.is_offered(1_000 + LONG));
        assert!(LONG_TASK.is_offered(1_001 + LONG));
        // The clock was set back.
        assert!(!LONG_TASK.is_offered(0));
        let queued = Facts {
            submitted: None,
            ..LONG_TASK
        };
        assert!(!queued.is_offered(90_000), "it is not under way");
    }

    /// Guards against an offer that is made again and again, or that the browser would refuse.
    #[test]
    fn it_is_not_offered_where_it_is_of_no_use_or_was_answered() {
        for (what, facts) in [
            (
                "hidden",
                Facts {
                    is_followed: false,
                    ..LONG_TASK
                },
            ),
            (
                "refused",
                Facts {
                    may_ask: false,
                    ..LONG_TASK
                },
            ),
            (
                "on",
                Facts {
                    is_on: true,
                    ..LONG_TASK
                },
            ),
            (
                "answered",
                Facts {
                    was_chosen: true,
                    ..LONG_TASK
                },
            ),
            (
                "shown",
                Facts {
                    is_elsewhere: true,
                    ..LONG_TASK
                },
            ),
        ] {
            assert!(!facts.is_offered(90_000), "{what}");
        }
    }
}
