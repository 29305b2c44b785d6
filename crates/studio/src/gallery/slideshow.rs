//! When a slideshow moves on.

/// How long each output is shown at least, in ms.
pub const SHOWN: u32 = 5_000;

/// How long the next one is waited for, in ms since this one is shown: what does not come must not stop it.
pub const LONGEST_WAIT: u32 = 30_000;

/// How a slideshow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// [`SHOWN`] has passed since this output is shown.
    pub was_shown: bool,
    /// It is a film or a sound that has not come to its end.
    pub is_playing: bool,
    pub has_next: bool,
    /// The next one can be shown at once, or [`LONGEST_WAIT`] has passed.
    pub is_next_ready: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Stay,
    Next,
    /// It is at its end.
    Stop,
}

impl Facts {
    pub fn step(self) -> Step {
        match self {
            Self {
                has_next: false, ..
            } => Step::Stop,
            Self {
                was_shown: true,
                is_playing: false,
                is_next_ready: true,
                ..
            } => Step::Next,
            _ => Step::Stay,
        }
    }
}

/// Whether it goes on with what is shown now. What it has not moved to itself, a person has; and nothing moves behind
/// what covers it, or while a picture is looked at closely. `moved_to`: the output that it showed last.
pub fn goes_on(
    moved_to: Option<&str>,
    shown: Option<&str>,
    is_covered: bool,
    is_close: bool,
) -> bool {
    shown.is_some() && shown == moved_to && !is_covered && !is_close
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: Facts = Facts {
        was_shown: true,
        is_playing: false,
        has_next: true,
        is_next_ready: true,
    };

    #[test]
    fn it_moves_on_once_the_time_is_over_and_the_next_is_loaded() {
        assert_eq!(DUE.step(), Step::Next);
        for (what, facts) in [
            (
                "the time",
                Facts {
                    was_shown: false,
                    ..DUE
                },
            ),
            (
                "a film",
                Facts {
                    is_playing: true,
                    ..DUE
                },
            ),
            (
                "loading",
                Facts {
                    is_next_ready: false,
                    ..DUE
                },
            ),
        ] {
            assert_eq!(facts.step(), Step::Stay, "{what}");
        }
    }

    /// Guards against a slideshow that stays on at the last output, with a button that does nothing.
    #[test]
    fn it_stops_at_the_end() {
        for was_shown in [false, true] {
            let last = Facts {
                was_shown,
                has_next: false,
                ..DUE
            };
            assert_eq!(last.step(), Step::Stop);
        }
    }

    #[test]
    fn what_a_person_does_stops_it() {
        assert!(goes_on(Some("a/0"), Some("a/0"), false, false));
        assert!(!goes_on(Some("a/0"), Some("b/0"), false, false), "a move");
        assert!(!goes_on(Some("a/0"), None, false, false), "it was closed");
        assert!(!goes_on(Some("a/0"), Some("a/0"), true, false), "compared");
        assert!(!goes_on(Some("a/0"), Some("a/0"), false, true), "zoomed");
    }
}
