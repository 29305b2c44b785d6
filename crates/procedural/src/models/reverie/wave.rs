//! A drawing of the waveform, for previews.

use super::sound::Tape;
use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, gradient, lch};
use crate::draw::prompt::Reading;
use crate::draw::smoothstep;

const BARS: usize = 56;

/// Draws the waveform as bars in a gradient on a dark background.
pub fn paint(tape: &Tape, width: u32, height: u32, reading: &Reading) -> Canvas {
    let (w, h) = (width as f32, height as f32);
    let ground = [lch(0.17, 0.05, 285.0), lch(0.27, 0.07, 300.0)];
    let colors = [
        lch(0.72, 0.13, 200.0),
        lch(0.70, 0.15, 280.0),
        lch(0.74, 0.16, 345.0),
        lch(0.84, 0.13, 60.0),
    ];
    let lift = 0.04 * reading.light;
    let mut canvas = Canvas::paint(width, height, |x, y| {
        let from_middle = ((x / w - 0.5).powi(2) + (y / h - 0.5).powi(2) * 1.6).sqrt();
        let color = gradient(&ground, 1.0 - from_middle * 1.7);
        color.with_lightness(color.l + lift).rgb()
    });
    let margin = w * 0.07;
    let pitch = (w - 2.0 * margin) / BARS as f32;
    let radius = pitch * 0.31;
    for (i, peak) in tape.peaks(BARS).into_iter().enumerate() {
        let along = (i as f32 + 0.5) / BARS as f32;
        let x = margin + along * (w - 2.0 * margin);
        let half = (peak.powf(1.3) * h * 0.36).max(radius * 0.5);
        let color: Lab = gradient(&colors, along);
        let (top, bottom) = (h / 2.0 - half, h / 2.0 + half);
        let mut y = top;
        while y <= bottom {
            let ends = smoothstep(0.0, 1.0, (y - h / 2.0).abs() / (h * 0.4));
            let shade = color.with_lightness(color.l + 0.12 * (1.0 - ends) - 0.1 * ends);
            canvas.disc(x, y, radius, shade.rgb(), 1.0);
            y += 1.0;
        }
    }
    canvas.bloom(0.25, (h * 0.03) as usize, 0.35);
    canvas
}
