//! Debounces double clicks, so that the second click is not charged.

use atelier_engine::{Millis, TaskState};

/// The debounce interval in milliseconds: longer than any double click, shorter than it takes to want another result.
pub const DEBOUNCE_MS: Millis = 800;

/// The recent presses, each with its time.
#[derive(Debug, Default)]
pub struct Presses(Vec<(String, Millis)>);

impl Presses {
    /// Whether a press counts; `false` if the same one has counted just before.
    pub fn counts(&mut self, what: &str, now: Millis) -> bool {
        // A press in the future was made before the clock was set back.
        let is_recent = |at: Millis| now.checked_sub(at).is_some_and(|ago| ago < DEBOUNCE_MS);
        self.0.retain(|(_, at)| is_recent(*at));
        if self.0.iter().any(|(known, _)| known == what) {
            return false;
        }
        self.0.push((what.to_owned(), now));
        true
    }

    /// Returns the time until the same press counts again.
    pub fn remaining(&self, what: &str, now: Millis) -> Millis {
        let pressed = self.0.iter().find(|(known, _)| known == what);
        let ago = pressed.and_then(|(_, at)| now.checked_sub(*at));
        ago.map_or(0, |ago| DEBOUNCE_MS.saturating_sub(ago))
    }
}

/// Returns the messages about a press that did not count because it was the second half of a double click: first, and
/// once the same press counts again. `task`: the state of the task that the first half has created.
pub fn messages(task: Option<&TaskState>) -> [&'static str; 2] {
    match task {
        Some(TaskState::Queued) => [
            "Waiting.",
            "Waiting to be sent once. Press again for another one.",
        ],
        _ => ["Sent.", "Sent once. Press again for another one."],
    }
}

/// Returns the message about the second half of a double click that has sent `count` tasks with its first half.
pub fn sent_message(count: usize) -> String {
    match count {
        1 => "Sent once.".to_owned(),
        n => format!("Sent {n} once."),
    }
}

/// Returns the same message where the button sends so many once more.
pub fn repeated_message(count: usize) -> String {
    let more = match count {
        1 => "another one".to_owned(),
        n => format!("{n} more"),
    };
    format!("{} Press again for {more}.", sent_message(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_presses_count_once_within_the_interval() {
        let mut presses = Presses::default();
        assert!(presses.counts("a", 1_000));
        assert!(!presses.counts("a", 1_001));
        assert!(!presses.counts("a", 1_799));
        // A press that did not count does not extend the interval.
        assert!(presses.counts("a", 1_800));
        assert!(!presses.counts("a", 2_599));
    }

    /// Guards against a message that promises what the next press does not do.
    #[test]
    fn returns_the_time_until_a_press_counts_again() {
        let mut presses = Presses::default();
        assert_eq!(presses.remaining("a", 1_000), 0);
        presses.counts("a", 1_000);
        for ago in [0, 1, 300, 799] {
            assert_eq!(presses.remaining("a", 1_000 + ago), DEBOUNCE_MS - ago);
        }
        let again = 1_300 + presses.remaining("a", 1_300);
        assert_eq!(presses.remaining("b", 1_300), 0);
        assert!(presses.counts("a", again));
        // The clock was set back.
        assert_eq!(presses.remaining("a", 5), 0);
    }

    #[test]
    fn different_presses_count_at_any_time() {
        let mut presses = Presses::default();
        for n in 0..12 {
            assert!(presses.counts(&n.to_string(), 1_000 + n * 150));
        }
        assert!(presses.counts("99", 1_000 + 11 * 150));
        assert!(!presses.counts("10", 1_000 + 11 * 150));
    }

    /// Guards against `Sent` for a task that is waiting, for example while the service is down.
    #[test]
    fn a_waiting_task_is_not_reported_as_sent() {
        assert!(
            messages(Some(&TaskState::Queued))
                .iter()
                .all(|it| it.starts_with("Waiting"))
        );
        for sent in [Some(&TaskState::Submitting), None] {
            assert!(messages(sent).iter().all(|it| it.starts_with("Sent")));
        }
    }

    #[test]
    fn a_second_press_shows_how_many_were_sent() {
        assert_eq!(
            [1, 4].map(repeated_message),
            [
                "Sent once. Press again for another one.",
                "Sent 4 once. Press again for 4 more."
            ]
        );
    }

    #[test]
    fn no_press_is_ignored_after_the_clock_was_set_back() {
        let mut presses = Presses::default();
        assert!(presses.counts("a", 10_000_000));
        assert!(presses.counts("a", 1_000));
    }
}
