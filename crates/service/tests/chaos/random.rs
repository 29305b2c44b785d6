//! Random numbers that a seed repeats (SplitMix64).

pub struct Random(u64);

impl Random {
    /// Creates a generator. Different purposes of one seed get different numbers.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self(seed ^ purpose.wrapping_mul(0xA24B_AED4_963E_E407));
        random.next();
        random
    }

    /// Returns a number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
