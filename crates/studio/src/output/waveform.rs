//! Draws the waveform of a sound: its loudness over time.

use std::fmt::Write;
use std::ops::Range;

/// The number of strokes, independent of the duration.
pub const STROKES: usize = 96;

/// The width of the drawing by [`path`], in SVG user units.
pub const WIDTH: usize = STROKES * 4;
/// The height of the drawing, in SVG user units.
pub const HEIGHT: usize = 64;

/// The minimum height of a stroke relative to the loudest one, so that silence is visible.
const LEAST: f32 = 0.03;

/// Splits a sound of this many samples into one range per stroke, for [`loudness`].
pub fn ranges(samples: usize) -> impl Iterator<Item = Range<usize>> {
    (0..STROKES).map(move |n| samples * n / STROKES..samples * (n + 1) / STROKES)
}

/// Returns the peak amplitude of a range. NaN counts as silence.
pub fn loudness(samples: &[f32]) -> f32 {
    samples
        .iter()
        .fold(0.0, |most: f32, sample| most.max(sample.abs()))
}

/// Returns the heights of the strokes relative to the loudest one.
pub fn strokes(loudness: &[f32]) -> Vec<f32> {
    let of = |loudness: f32| if loudness.is_finite() { loudness } else { 1.0 };
    let most = loudness
        .iter()
        .fold(0.0, |most: f32, one| most.max(of(*one)));
    let share = |one: &f32| if most > 0.0 { of(*one) / most } else { 0.0 };
    loudness.iter().map(|one| share(one).max(LEAST)).collect()
}

/// Returns an SVG path with vertical strokes around the center.
pub fn path(strokes: &[f32]) -> String {
    let mut path = String::new();
    for (n, stroke) in strokes.iter().enumerate() {
        let x = n * 4 + 2;
        // Leave space for the round ends of a stroke.
        let half = stroke * (HEIGHT as f32 / 2.0 - 2.0);
        let middle = HEIGHT as f32 / 2.0;
        let (from, to) = (middle - half, middle + half);
        // Writing to a string can't fail.
        let _ = write!(path, "M{x} {from:.1}V{to:.1}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_loudest_range_has_the_tallest_stroke() {
        let loud = [0.1, -0.5, 0.2];
        assert_eq!(loudness(&loud), 0.5);
        assert_eq!(strokes(&[0.25, 0.5, 0.0]), [0.5, 1.0, LEAST]);
        assert_eq!(path(&[1.0, 0.5]), "M2 2.0V62.0M6 17.0V47.0");
    }

    #[test]
    fn silence_is_a_row_of_dots() {
        assert_eq!(strokes(&[0.0, 0.0]), [LEAST, LEAST]);
        assert_eq!(loudness(&[]), 0.0);
    }

    #[test]
    fn nan_and_infinity_are_handled() {
        assert_eq!(loudness(&[f32::NAN, 0.5]), 0.5);
        assert_eq!(strokes(&[f32::INFINITY, 0.5]), [1.0, 0.5]);
    }

    proptest! {
        /// Includes sounds with fewer samples than strokes.
        #[test]
        fn the_ranges_cover_the_whole_sound(samples in 0..10_000_000usize) {
            let mut end = 0;
            for range in ranges(samples) {
                prop_assert_eq!(range.start, end);
                end = range.end;
            }
            prop_assert_eq!(end, samples);
        }

        #[test]
        fn strokes_stay_inside(loudness in prop::collection::vec(any::<f32>(), 0..STROKES)) {
            for stroke in strokes(&loudness.iter().map(|one| one.abs()).collect::<Vec<_>>()) {
                prop_assert!((LEAST..=1.0).contains(&stroke));
            }
        }
    }
}
