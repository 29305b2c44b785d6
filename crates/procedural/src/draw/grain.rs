//! Film grain.

use super::rng::Rng;

/// A grain pattern that is added to an image's bytes, the same for all channels.
#[derive(Debug, Clone)]
pub struct Grain {
    tile: Vec<f32>,
}

/// The side length of the tile; odd, so that the repetition does not align with other patterns.
const SIDE: usize = 211;

impl Grain {
    /// Creates a pattern. `strength` is in byte steps; 0 only dithers.
    pub fn new(rng: &mut Rng, strength: f32) -> Self {
        let tile = (0..SIDE * SIDE)
            .map(|_| rng.normal() * strength + rng.unit() - 0.5)
            .collect();
        Self { tile }
    }

    /// Returns the value at a pixel, in byte steps.
    pub fn at(&self, x: usize, y: usize) -> f32 {
        // Each row of tiles is shifted, so that columns are not visible.
        let x = x + (y / SIDE) * 83;
        self.tile[(y % SIDE) * SIDE + x % SIDE]
    }
}
