//! Ignores the second click of a double click, so that it is not charged.

use atelier_engine::{Millis, TaskState};

/// The debounce interval in milliseconds. It is longer than a double click, and shorter than the time in which a user
/// decides to generate another result.
pub const DEBOUNCE_MS: Millis = 800;

/// The recent presses.
#[derive(Debug, Default)]
pub struct Presses(Vec<Press>);

#[derive(Debug)]
struct Press {
    /// The button and what it submits.
    what: String,
    at: Millis,
    /// When it took effect.
    done: Millis,
}

impl Presses {
    /// Records a press of the button `what`. Returns `false` if a press of this button has counted within the interval.
    pub fn counts(&mut self, what: &str, now: Millis) -> bool {
        self.counts_late(what, now, now)
    }

    /// Does this for a press that takes effect later, because a file was checked before. The interval ends after the effect.
    pub fn counts_late(&mut self, what: &str, at: Millis, now: Millis) -> bool {
        self.0.retain(|press| {
            // A press in the future means that the clock was set back since.
            at < press.done.saturating_add(DEBOUNCE_MS) && press.at <= now
        });
        if self.0.iter().any(|press| press.what == what) {
            return false;
        }
        self.0.push(Press {
            what: what.to_owned(),
            at,
            done: now,
        });
        true
    }

    /// Returns the time in ms until a press of this button counts again.
    pub fn remaining(&self, what: &str, now: Millis) -> Millis {
        let pressed = self.0.iter().find(|press| press.what == what);
        let ago = pressed.and_then(|press| now.checked_sub(press.done));
        ago.map_or(0, |ago| DEBOUNCE_MS.saturating_sub(ago))
    }
}

/// Returns two messages about an ignored second click: the first is shown during the interval, the second after it.
/// `task`: the state of the task that the first click has created.
pub fn messages(task: Option<&TaskState>) -> [&'static str; 2] {
    match task {
        Some(TaskState::Queued) => [
            "Waiting.",
            "Waiting to be sent once. Press again for another one.",
        ],
        _ => ["Sent.", "Sent once. Press again for another one."],
    }
}

/// Returns the message about an ignored second click after the first click has sent `count` tasks.
pub fn sent_message(count: usize) -> String {
    match count {
        1 => "Sent once.".to_owned(),
        n => format!("Sent {n} once."),
    }
}

/// Like [`sent_message`], for a button that sends the same number of tasks again.
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

    /// Guards against a second task from a press soon after a slow check, or from a double click whose second click waited for
    /// a check of its own.
    #[test]
    fn the_interval_ends_after_the_effect_of_a_press() {
        let mut presses = Presses::default();
        assert!(presses.counts_late("a", 1_000, 5_000));
        assert_eq!(presses.remaining("a", 5_000), DEBOUNCE_MS);
        assert!(!presses.counts_late("a", 1_200, 9_000));
        assert!(!presses.counts("a", 5_100));
        assert!(presses.counts("a", 5_800));
    }

    /// The message must not promise an effect that the next press does not have.
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
        // The clock was set back, so a press counts.
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

    /// A task waits, for example, while the service is unavailable.
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
