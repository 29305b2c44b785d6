//! Pseudo-random numbers that are the same in every version: seeds are promises.

/// SplitMix64: small, and good enough to draw with.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// `stream` tells apart the uses of one seed, e.g. the variations of a task.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Mixed, so that seeds that differ in one bit give different numbers.
        rng.0 = rng.bits() ^ stream;
        rng
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number from 0 up to but without 1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn range(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }

    /// A whole number from 0 up to but without `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f32) as usize).min(n.saturating_sub(1))
    }

    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// About normal: mean 0, standard deviation 1.
    pub fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.unit()).sum::<f32>() * 1.414 - 4.243
    }
}
