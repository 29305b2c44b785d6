//! Palettes of matching colors.

use super::color::{Lab, lch};
use super::prompt::Reading;
use super::rng::Rng;

/// Five colors from dark to light, and an accent color.
#[derive(Debug, Clone)]
pub struct Palette {
    /// Five colours, dark to light.
    pub colors: [Lab; 5],
    pub accent: Lab,
}

/// Matching pairs of hues for prompts that name none: the main hue and the other end.
const PAIRS: [(f32, f32); 9] = [
    (258.0, 45.0),
    (200.0, 30.0),
    (300.0, 70.0),
    (165.0, 60.0),
    (25.0, 85.0),
    (275.0, 350.0),
    (225.0, 95.0),
    (340.0, 60.0),
    (145.0, 95.0),
];

impl Palette {
    /// Creates a palette from the hues in the prompt, or from a random pair.
    pub fn of(reading: &Reading, rng: &mut Rng) -> Self {
        let (mut main, mut side) = PAIRS[rng.below(PAIRS.len())];
        let mut accent = None;
        let named: Vec<f32> = reading
            .named
            .iter()
            .filter(|color| !color.is_grey())
            .map(|color| color.hue())
            .collect();
        let hues = if named.is_empty() {
            &reading.hues
        } else {
            &named
        };
        match hues.as_slice() {
            [] => {}
            // With a single named color, use its neighbors.
            [only] => {
                // Gold turns towards red, because towards green looks sickly.
                let golden = (50.0..=125.0).contains(only);
                let turn = if golden || rng.chance(0.5) {
                    -30.0
                } else {
                    30.0
                };
                (main, side) = (only + turn * 0.4, only - turn * 0.6);
                accent = Some(only + if rng.chance(0.5) { 180.0 } else { turn * 3.0 });
            }
            [first, .., last] => (main, side) = (*first, *last),
        }
        let wander = |rng: &mut Rng| rng.range(-9.0, 9.0);
        let (main, side) = (main + wander(rng), side + wander(rng));
        let chroma = (0.115 + 0.06 * reading.vivid).max(0.02) * rng.range(0.9, 1.1);
        let lift = 0.07 * reading.light;
        let turn = shorter_turn(main, side);
        let color = |i: usize| {
            let t = i as f32 / 4.0;
            // Avoid the hues between nearly opposite ones, because they match neither.
            let on_the_way = if turn.abs() > 100.0 {
                [0.0, 0.05, 0.1, 0.93, 1.0][i]
            } else {
                t
            };
            // Light and dark ends have less chroma, as in nature.
            let fullness = 1.0 - (t - 0.55).abs() * 0.75;
            let l = 0.22 + 0.66 * t + lift;
            let hue = (main + turn * on_the_way).rem_euclid(360.0);
            // Dark yellow must look brown, not olive.
            let yellow = (1.0 - (hue - 95.0).abs() / 35.0).max(0.0);
            let hue = hue - yellow * (0.75 - l).max(0.0) * 70.0;
            lch(l, chroma * fullness * 1.15, hue)
        };
        Self {
            colors: [0, 1, 2, 3, 4].map(color),
            accent: lch(
                0.72 + lift,
                (chroma * 1.5).min(0.21),
                accent.unwrap_or(side + turn * 0.08),
            ),
        }
    }

    /// Returns the color between the darkest (0) and the lightest (1).
    pub fn at(&self, t: f32) -> Lab {
        super::color::gradient(&self.colors, t)
    }
}

/// Returns the shorter turn from one hue to another, in degrees.
pub fn shorter_turn(from: f32, to: f32) -> f32 {
    (to - from + 540.0).rem_euclid(360.0) - 180.0
}
