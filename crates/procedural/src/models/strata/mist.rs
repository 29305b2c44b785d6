//! Mist: banks before the sky, between the ridges and over the water.

use super::Scene;
use super::sky::Sky;
use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, Rgb};
use crate::draw::noise::Noise;
use crate::draw::{lerp, smoothstep};

pub struct Mist<'a> {
    scene: &'a Scene,
    noise: &'a Noise,
    unit: f32,
    light: Light,
}

/// A bank of mist on the ground.
struct Bank {
    /// The y coordinate below which the mist has its full density, in pixels from the top. It thins out above.
    level: f32,
    /// The height of the thinning part, in pixels.
    reach: f32,
    /// 0 transparent, 1 opaque.
    density: f32,
    /// An offset into the noise, so that banks differ.
    phase: f32,
}

impl<'a> Mist<'a> {
    pub fn new(scene: &'a Scene, sky: &Sky, noise: &'a Noise) -> Self {
        Self {
            scene,
            noise,
            unit: scene.width.min(scene.height) as f32,
            light: Light::new(scene, sky),
        }
    }

    /// Lays mist behind all ridges.
    pub fn before_the_sky(&self, canvas: &mut Canvas, bottom: &[f32]) {
        let bank = Bank {
            level: self.scene.horizon,
            reach: self.unit * lerp(0.2, 0.52, self.scene.mist),
            density: thickness(self.scene) * 0.9,
            phase: 3.3,
        };
        self.lay(&bank, canvas, bottom);
    }

    /// Lays mist between a ridge and the next one, whose crests have these heights. It fills the valleys up to about
    /// the next crest; thick mist hides the whole ridge.
    pub fn before_a_ridge(
        &self,
        canvas: &mut Canvas,
        near: f32,
        (own, level): (f32, f32),
        phase: f32,
        bottom: &[f32],
    ) {
        let mist = self.scene.mist;
        let usual = self.unit * lerp(0.06, 0.2, mist) * lerp(1.0, 0.75, near);
        let bank = Bank {
            level,
            reach: usual.max((level - own) * mist.powi(2)),
            density: 1.0 - (-thickness(self.scene) * lerp(3.0, 1.0, near)).exp(),
            phase,
        };
        self.lay(&bank, canvas, bottom);
    }

    /// Lays mist in front of everything: it rises from the water, or, without water, fills the foreground if it is
    /// thick.
    pub fn before_all(&self, canvas: &mut Canvas, bottom: &[f32]) {
        let bank = Bank {
            level: bottom[0],
            reach: self.unit * lerp(0.02, 0.11, self.scene.mist),
            density: if self.scene.water {
                over_water(self.scene)
            } else {
                self.scene.mist.powi(3) * 0.75
            },
            phase: 7.7,
        };
        self.lay(&bank, canvas, bottom);
    }

    /// Draws a bank over the image, in each column down to its bottom.
    fn lay(&self, bank: &Bank, canvas: &mut Canvas, bottom: &[f32]) {
        if bank.density <= 0.0 {
            return;
        }
        let lowest = bottom.iter().copied().fold(0.0, f32::max).ceil() as u32;
        let rows = (bank.level - bank.reach * 1.8).max(0.0) as u32..lowest.min(canvas.height);
        if rows.is_empty() {
            return;
        }
        let wisps = Coarse::of(
            canvas.width,
            rows.start,
            rows.end,
            step(self.unit),
            |x, y| {
                let (u, v) = (x / self.unit * 1.7, y / self.unit * 6.5);
                self.noise.fbm(u + bank.phase, v + bank.phase, 3)
            },
        );
        for y in rows {
            let row = (y * canvas.width) as usize;
            for (x, bottom) in bottom.iter().enumerate() {
                if y as f32 >= *bottom {
                    continue;
                }
                let (fx, fy) = (x as f32 + 0.5, y as f32 + 0.5);
                let wisp = wisps.at(fx, fy);
                let inside = smoothstep(
                    bank.level - bank.reach,
                    bank.level + bank.reach * 0.3,
                    fy + wisp * bank.reach,
                );
                if inside > 0.0 {
                    let density = (bank.density * inside * (1.0 + 0.3 * wisp)).min(1.0);
                    let pixel = &mut canvas.pixels[row + x];
                    *pixel = pixel.mix(self.light.at(fx, fy), density);
                }
            }
        }
    }
}

/// Returns the density of the air.
fn thickness(scene: &Scene) -> f32 {
    scene.mist.powf(1.7)
}

/// Returns the color of mist away from the light. Yellow air over blue land would look gray, so the sky above adds some
/// red.
pub fn tint(sky: &Sky) -> Lab {
    let above = sky.stops[sky.stops.len() - 2];
    let air = sky.air();
    air.mix(above.with_lightness(air.l), 0.4).saturate(0.85)
}

/// Returns the density of the mist at the shore. Little mist leaves the near shore dark.
pub fn over_water(scene: &Scene) -> f32 {
    0.78 * scene.mist.powf(2.6)
}

/// The color of the mist: that of the air, brighter around the sun or moon.
pub struct Light {
    air: Rgb,
    color: Rgb,
    glow: Coarse,
}

impl Light {
    pub fn new(scene: &Scene, sky: &Sky) -> Self {
        let unit = scene.width.min(scene.height) as f32;
        Self {
            air: tint(sky).rgb(),
            color: sky.light_color.scale(0.27),
            glow: Coarse::of(scene.width, 0, scene.height, step(unit), |x, y| {
                sky.glow_at(x, y, unit)
            }),
        }
    }

    pub fn at(&self, x: f32, y: f32) -> Rgb {
        self.air.plus(self.color.scale(self.glow.at(x, y)))
    }
}

/// Returns the grid spacing for slowly varying values, in pixels.
fn step(unit: f32) -> f32 {
    (unit / 120.0).max(1.0)
}

/// Values on a coarse grid, with bilinear interpolation.
struct Coarse {
    values: Vec<f32>,
    columns: usize,
    top: f32,
    step: f32,
}

impl Coarse {
    fn of(width: u32, top: u32, bottom: u32, step: f32, value: impl Fn(f32, f32) -> f32) -> Self {
        let top = top as f32;
        let columns = (width as f32 / step) as usize + 2;
        let rows = ((bottom as f32 - top) / step) as usize + 2;
        let values = (0..rows * columns)
            .map(|i| {
                let (x, y) = ((i % columns) as f32, (i / columns) as f32);
                value(x * step, top + y * step)
            })
            .collect();
        Self {
            values,
            columns,
            top,
            step,
        }
    }

    fn at(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x / self.step, (y - self.top) / self.step);
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let i = row * self.columns + column;
        let upper = lerp(self.values[i], self.values[i + 1], fx);
        let i = i + self.columns;
        let lower = lerp(self.values[i], self.values[i + 1], fx);
        lerp(upper, lower, fy)
    }
}
