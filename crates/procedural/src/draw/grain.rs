//! Film grain.

use super::rng::Rng;

/// Grain to add to a picture's bytes: the same for all channels, as in film.
#[derive(Debug, Clone)]
pub struct Grain {
    tile: Vec<f32>,
}

/// Sides of the tile; odd, so that its repetition does not line up with anything.
const SIDE: usize = 211;

impl Grain {
    /// `strength` in steps of a byte; 0 only dithers.
    pub fn new(rng: &mut Rng, strength: f32) -> Self {
        let tile = (0..SIDE * SIDE)
            .map(|_| rng.normal() * strength + rng.unit() - 0.5)
            .collect();
        Self { tile }
    }

    pub fn at(&self, x: usize, y: usize) -> f32 {
        // Each row of tiles is shifted, so that no columns show.
        let x = x + (y / SIDE) * 83;
        self.tile[(y % SIDE) * SIDE + x % SIDE]
    }
}
