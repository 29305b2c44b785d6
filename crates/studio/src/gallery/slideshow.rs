//! Decides when a slideshow shows the next output.

/// The minimum time for which an output is shown, in ms.
pub const SHOWN_MS: u32 = 5_000;

/// The time in ms after which the next output is shown even if it is not loaded.
pub const MAX_WAIT_MS: u32 = 30_000;

/// The state of a slideshow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlideshowState {
    /// Whether the current output was shown for [`SHOWN_MS`].
    pub was_shown: bool,
    /// Whether the current output is a video or a sound that is still playing.
    pub is_playing: bool,
    pub has_next: bool,
    /// Whether the next output is loaded, or [`MAX_WAIT_MS`] have passed.
    pub is_next_ready: bool,
}

/// The next action of a slideshow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Stay,
    Next,
    /// The end is reached.
    Stop,
}

impl SlideshowState {
    /// Returns the next action.
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

/// Whether the slideshow continues. It stops if the user has moved to another output, opened a dialog over it, or
/// zoomed in. `moved_to`: the output that the slideshow has shown last. `shown`: the output that is shown now.
pub fn continues(
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

    const READY: SlideshowState = SlideshowState {
        was_shown: true,
        is_playing: false,
        has_next: true,
        is_next_ready: true,
    };

    #[test]
    fn moves_on_once_the_time_is_over_and_the_next_output_is_loaded() {
        assert_eq!(READY.step(), Step::Next);
        for (what, state) in [
            (
                "the time",
                SlideshowState {
                    was_shown: false,
                    ..READY
                },
            ),
            (
                "a film",
                SlideshowState {
                    is_playing: true,
                    ..READY
                },
            ),
            (
                "loading",
                SlideshowState {
                    is_next_ready: false,
                    ..READY
                },
            ),
        ] {
            assert_eq!(state.step(), Step::Stay, "{what}");
        }
    }

    /// Guards against a slideshow that never stops at the last output, so that its button has no effect.
    #[test]
    fn stops_at_the_end() {
        for was_shown in [false, true] {
            let last = SlideshowState {
                was_shown,
                has_next: false,
                ..READY
            };
            assert_eq!(last.step(), Step::Stop);
        }
    }

    #[test]
    fn stops_when_the_user_acts() {
        assert!(continues(Some("a/0"), Some("a/0"), false, false));
        assert!(
            !continues(Some("a/0"), Some("b/0"), false, false),
            "the user has moved"
        );
        assert!(!continues(Some("a/0"), None, false, false), "it was closed");
        assert!(
            !continues(Some("a/0"), Some("a/0"), true, false),
            "compared"
        );
        assert!(!continues(Some("a/0"), Some("a/0"), false, true), "zoomed");
    }
}
