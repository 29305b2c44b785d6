//! Double clicks: who presses twice within a moment means it once. It is paid once.

use atelier_engine::{Millis, TaskState};

/// In milliseconds: longer than any double click, and shorter than it takes to want the same once more.
pub const SAME_PRESS: Millis = 800;

/// The buttons that were pressed a moment ago, each with the time.
#[derive(Debug, Default)]
pub struct Presses(Vec<(String, Millis)>);

impl Presses {
    /// Whether a press counts; `false` if it is for the same as one that has counted just before.
    pub fn counts(&mut self, what: &str, now: Millis) -> bool {
        // A press ahead of the clock was made before the clock was set back.
        let is_recent = |at: Millis| now.checked_sub(at).is_some_and(|ago| ago < SAME_PRESS);
        self.0.retain(|(_, at)| is_recent(*at));
        if self.0.iter().any(|(known, _)| known == what) {
            return false;
        }
        self.0.push((what.to_owned(), now));
        true
    }

    /// How long it is until a press for the same counts again.
    pub fn rest(&self, what: &str, now: Millis) -> Millis {
        let pressed = self.0.iter().find(|(known, _)| known == what);
        let ago = pressed.and_then(|(_, at)| now.checked_sub(*at));
        ago.map_or(0, |ago| SAME_PRESS.saturating_sub(ago))
    }
}

/// What is said of a press that did not count, for it was the second half of a double click: at once, and from when on
/// the same counts again. It is said of the task that the first half has made.
pub fn answer(task: Option<&TaskState>) -> [&'static str; 2] {
    match task {
        Some(TaskState::Queued) => [
            "Waiting.",
            "Waiting to be sent once. Press again for another one.",
        ],
        _ => ["Sent.", "Sent once. Press again for another one."],
    }
}

/// The same of variations, or of a task that is run again: a press sends so many.
pub fn repeated_message(count: usize) -> String {
    match count {
        1 => "Sent once. Press again for another one.".to_owned(),
        n => format!("Sent {n} once. Press again for {n} more."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_within_a_moment_counts_once() {
        let mut presses = Presses::default();
        assert!(presses.counts("a", 1_000));
        assert!(!presses.counts("a", 1_001));
        assert!(!presses.counts("a", 1_799));
        // A press that did not count does not put off the next one that does.
        assert!(presses.counts("a", 1_800));
        assert!(!presses.counts("a", 2_599));
    }

    /// Guards against words that promise what the next press does not do.
    #[test]
    fn it_is_known_when_the_same_counts_again() {
        let mut presses = Presses::default();
        assert_eq!(presses.rest("a", 1_000), 0);
        presses.counts("a", 1_000);
        for ago in [0, 1, 300, 799] {
            assert_eq!(presses.rest("a", 1_000 + ago), SAME_PRESS - ago);
        }
        let again = 1_300 + presses.rest("a", 1_300);
        assert_eq!(presses.rest("b", 1_300), 0);
        assert!(presses.counts("a", again));
        // The clock was set back.
        assert_eq!(presses.rest("a", 5), 0);
    }

    #[test]
    fn something_else_counts_however_soon() {
        let mut presses = Presses::default();
        for n in 0..12 {
            assert!(presses.counts(&n.to_string(), 1_000 + n * 150));
        }
        assert!(presses.counts("99", 1_000 + 11 * 150));
        assert!(!presses.counts("10", 1_000 + 11 * 150));
    }

    /// Guards against a page that says that it has sent what waits, as while the service is down.
    #[test]
    fn what_waits_is_not_said_to_be_sent() {
        assert!(
            answer(Some(&TaskState::Queued))
                .iter()
                .all(|it| it.starts_with("Waiting"))
        );
        for sent in [Some(&TaskState::Submitting), None] {
            assert!(answer(sent).iter().all(|it| it.starts_with("Sent")));
        }
    }

    #[test]
    fn a_second_press_says_how_many_were_sent() {
        assert_eq!(
            [1, 4].map(repeated_message),
            [
                "Sent once. Press again for another one.",
                "Sent 4 once. Press again for 4 more."
            ]
        );
    }

    #[test]
    fn a_clock_that_was_set_back_swallows_nothing() {
        let mut presses = Presses::default();
        assert!(presses.counts("a", 10_000_000));
        assert!(presses.counts("a", 1_000));
    }
}
