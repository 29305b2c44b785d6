//! Choosing colours that go together.

use super::color::{Lab, lch};
use super::prompt::Reading;
use super::rng::Rng;

/// A few colours from dark to light, with one accent that stands out.
#[derive(Debug, Clone)]
pub struct Palette {
    /// Five colours, dark to light.
    pub colors: [Lab; 5],
    pub accent: Lab,
}

/// Hue pairs that look good together when the prompt names none: a main one and where to go.
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
    /// The hues that the prompt names lead; otherwise the dice choose.
    pub fn of(reading: &Reading, rng: &mut Rng) -> Self {
        let (mut main, mut side) = PAIRS[rng.below(PAIRS.len())];
        match reading.hues.as_slice() {
            [] => {}
            [only] => {
                // From gold one goes to red, not to a sickly green.
                let turn = if (50.0..=125.0).contains(only) {
                    [-40.0, -25.0, 170.0, 190.0][rng.below(4)]
                } else {
                    [45.0, -45.0, 150.0, 180.0][rng.below(4)]
                };
                (main, side) = (*only, only + turn);
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
            // Light and dark ends carry less colour, as in nature.
            let fullness = 1.0 - (t - 0.55).abs() * 0.75;
            lch(
                0.22 + 0.66 * t + lift,
                chroma * fullness * 1.15,
                main + turn * t,
            )
        };
        Self {
            colors: [0, 1, 2, 3, 4].map(color),
            accent: lch(0.72 + lift, (chroma * 1.5).min(0.21), side + turn * 0.15),
        }
    }

    /// A colour between the darkest (0) and the lightest (1).
    pub fn at(&self, t: f32) -> Lab {
        super::color::gradient(&self.colors, t)
    }
}

/// Degrees to turn from one hue to another, the short way.
pub fn shorter_turn(from: f32, to: f32) -> f32 {
    (to - from + 540.0).rem_euclid(360.0) - 180.0
}
