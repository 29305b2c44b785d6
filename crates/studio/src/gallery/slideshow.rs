//! Decides when a slideshow moves on.

/// The minimum time for which an output is shown, in ms.
pub const SHOWN_MS: u32 = 5_000;

/// The maximum time to wait for the next output, in ms since the current one is shown, so that a slow one does not stop
/// the slideshow.
pub const MAX_WAIT_MS: u32 = 30_000;

/// The state of a slideshow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlideshowState {
    /// Whether [`SHOWN_MS`] have passed since this output is shown.
    pub was_shown: bool,
    /// Whether it is a video or a sound that is still playing.
    pub is_playing: bool,
    pub has_next: bool,
    /// Whether the next one can be shown at once, or [`MAX_WAIT_MS`] have passed.
    pub is_next_ready: bool,
}

/// What the slideshow does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Stay,
    Next,
    /// The end is reached.
    Stop,
}

impl SlideshowState {
    /// Returns what the slideshow does now.
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

/// Whether the slideshow continues with the output that is shown now. It stops if the user has moved to another output,
/// covered it, or zoomed in. `moved_to`: the output that the slideshow showed last.
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

    /// Guards against a slideshow that stays on at the last output, with a button without effect.
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
        assert!(!continues(Some("a/0"), Some("b/0"), false, false), "a move");
        assert!(!continues(Some("a/0"), None, false, false), "it was closed");
        assert!(
            !continues(Some("a/0"), Some("a/0"), true, false),
            "compared"
        );
        assert!(!continues(Some("a/0"), Some("a/0"), false, true), "zoomed");
    }
}
