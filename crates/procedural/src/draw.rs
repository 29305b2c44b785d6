//! Shared drawing tools: random numbers, noise, colors, a canvas, and the prompt parser.

pub mod canvas;
pub mod color;
pub mod grain;
pub mod noise;
pub mod palette;
pub mod prompt;
pub mod rng;
pub mod vocabulary;
pub mod webm;

/// Returns 0 below `from`, 1 above `to`, and a smooth interpolation in between.
pub fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Interpolates linearly between `a` (`t` = 0) and `b` (`t` = 1).
pub fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}
