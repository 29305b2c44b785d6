//! Decides when to retry loading: when the user returns to the page, or the network is available again.

use atelier_engine::Millis;

/// If the page stayed visible, a focus counts as a return only if the last return was at least this long ago, in ms.
const PAUSE: Millis = 30_000;

/// Detects when the user returns to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Returns {
    /// Whether the page was hidden or offline.
    was_away: bool,
    last: Millis,
}

impl Returns {
    pub fn new(now: Millis) -> Self {
        Self {
            was_away: false,
            last: now,
        }
    }

    /// Handles a change of focus, visibility or network. `is_here`: whether the page is visible and online. Returns the
    /// new state, and whether the user has returned.
    pub fn on_change(self, is_here: bool, now: Millis) -> (Self, bool) {
        // The difference is absolute, because the clock may have been set back.
        let is_long_ago = now.abs_diff(self.last) >= PAUSE;
        let is_return = is_here && (self.was_away || is_long_ago);
        let next = Self {
            was_away: !is_here,
            last: if is_return { now } else { self.last },
        };
        (next, is_return)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A click into the window must not reload all images.
    #[test]
    fn focus_alone_is_a_return_only_after_a_while() {
        let mut returns = Returns::new(100_000);
        for (is_here, now, expected) in [
            (true, 101_000, false),
            (true, 129_999, false),
            (true, 130_000, true),
            (true, 131_000, false),
            (false, 132_000, false),
            (true, 133_000, true),
            // `visibilitychange` and `focus` are sent for the same return.
            (true, 133_001, false),
            (false, 134_000, false),
            (false, 200_000, false),
            (true, 200_001, true),
            (true, 50_000, true),
            (true, 51_000, false),
        ] {
            let (next, is_return) = returns.on_change(is_here, now);
            assert_eq!(is_return, expected, "{now}");
            returns = next;
        }
    }
}
