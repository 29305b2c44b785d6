//! The sky: its colors, the sun or moon, clouds and stars.

use super::Scene;
use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, Rgb, gradient, lch};
use crate::draw::noise::Noise;
use crate::draw::rng::Rng;
use crate::draw::smoothstep;
use crate::draw::vocabulary::{Feature, Time};

pub struct Sky {
    /// The colors from the zenith to the horizon.
    pub stops: Vec<Lab>,
    /// The position of the sun or moon, in pixels.
    pub light: (f32, f32),
    pub light_color: Rgb,
    /// The strength of the glow around the light.
    glow: f32,
    radius: f32,
}

impl Sky {
    pub fn new(scene: &Scene, rng: &mut Rng) -> Self {
        let drift = rng.range(-14.0, 14.0);
        let stops = stops(scene, drift);
        let (width, height) = (scene.width as f32, scene.height as f32);
        let altitude = altitude(scene.time, rng);
        // About a third of the width from one side, by the rule of thirds.
        let third = if rng.chance(0.5) { 0.34 } else { 0.66 };
        let x = width * (third + rng.range(-0.07, 0.07));
        Self {
            light: (x, scene.horizon * (1.0 - altitude)),
            light_color: light_color(scene.time, stops[stops.len() - 1]),
            glow: match scene.time {
                Time::Dawn => 0.5,
                Time::Day => 0.4,
                Time::Sunset => 0.75,
                Time::Night => 0.16,
            },
            radius: width.min(height) * radius(scene, rng),
            stops,
        }
    }

    /// Returns the color of the air at the horizon, which distant things take on.
    pub fn air(&self) -> Lab {
        self.stops[self.stops.len() - 1]
    }

    /// Returns the brightness of the glow around the sun or moon.
    pub fn glow_at(&self, x: f32, y: f32, unit: f32) -> f32 {
        let (lx, ly) = self.light;
        let distance = ((x - lx).powi(2) + ((y - ly) * 1.15).powi(2)).sqrt() / unit;
        self.glow * ((-distance * 3.2).exp() * 0.55 + (-distance * 10.0).exp() * 0.45)
    }

    pub fn paint(&self, scene: &Scene, rng: &mut Rng) -> Canvas {
        let (width, height) = (scene.width as f32, scene.height as f32);
        let unit = width.min(height);
        let noise = Noise::new(rng);
        let cover = 0.05
            + 0.16 * scene.reading.energy
            + if scene.reading.has(Feature::Mist) {
                0.1
            } else {
                0.0
            };
        let cloud_color = match scene.time {
            Time::Dawn => self.stops[2].with_lightness(0.93).saturate(0.8),
            Time::Day => lch(0.98, 0.012, 90.0),
            Time::Sunset => self.stops[2].with_lightness(0.74).saturate(1.05),
            Time::Night => self.stops[3].with_lightness(0.34).saturate(0.7),
        };
        let cloud_shade = self.stops[1].with_lightness(self.stops[1].l * 0.92);
        let warm = self.light_color.scale(0.6);
        let mut canvas = Canvas::paint(scene.width, scene.height, |x, y| {
            let t = (y / scene.horizon).min(1.0);
            let mut lab = gradient(&self.stops, t.powf(1.25));
            // Clouds flatten towards the horizon.
            let perspective = 1.0 / (1.12 - t.min(1.0) * 0.85);
            let (cx, cy) = (
                x / unit * 1.1 * perspective.sqrt(),
                y / unit * 4.2 * perspective.sqrt(),
            );
            let warp = noise.fbm(cx * 0.8 + 40.0, cy * 0.5, 2);
            let cloud = noise.fbm(cx * 1.3 + warp * 0.7, cy + warp * 0.5, 5);
            let body =
                smoothstep(0.12 - cover, 0.62 - cover, cloud) * (1.0 - smoothstep(0.86, 1.0, t));
            let lit = smoothstep(
                0.1,
                0.7,
                noise.fbm(cx * 1.3 + warp * 0.7, cy + warp * 0.5 + 0.16, 3) - cover,
            );
            lab = lab.mix(cloud_color.mix(cloud_shade, lit * 0.6), body * 0.82);
            let glow = self.glow_at(x, y, unit);
            lab.rgb().plus(warm.scale(glow * (1.0 - body * 0.35)))
        });
        if scene.time == Time::Night && !scene.reading.denies(Feature::Stars) {
            self.stars(&mut canvas, scene, rng, &noise);
        }
        self.disc(&mut canvas, scene, &noise);
        canvas
    }

    fn stars(&self, canvas: &mut Canvas, scene: &Scene, rng: &mut Rng, noise: &Noise) {
        let (width, height) = (scene.width as f32, scene.height as f32);
        let unit = width.min(height);
        if scene.reading.has(Feature::Stars) {
            // The Milky Way.
            let tilt = rng.range(0.35, 0.9) * if rng.chance(0.5) { 1.0 } else { -1.0 };
            let offset = rng.range(0.3, 0.6) * height * 0.6;
            let tint = self.stops[2].with_lightness(0.62).saturate(1.5).rgb();
            for y in 0..scene.height {
                for x in 0..scene.width {
                    let (fx, fy) = (x as f32 / unit, y as f32 / unit);
                    let across = (fy - offset / unit - (fx - width / unit * 0.5) * tilt) * 1.5;
                    let wisp = noise.fbm(fx * 3.0 + 9.0, fy * 3.0, 5);
                    let band = (-(across + wisp * 0.35).powi(2) * 7.0).exp();
                    let dust = smoothstep(-0.1, 0.5, noise.fbm(fx * 5.0, fy * 5.0 + 31.0, 4));
                    let index = (y * scene.width + x) as usize;
                    let light = band * (0.22 - 0.17 * dust) * (0.7 + 0.6 * wisp);
                    canvas.pixels[index] = canvas.pixels[index].plus(tint.scale(light.max(0.0)));
                }
            }
        }
        let count = if scene.reading.has(Feature::Stars) {
            2600.0
        } else {
            900.0
        };
        for _ in 0..(count * width * scene.horizon / (1024.0 * 400.0)) as usize {
            let (x, y) = (rng.unit() * width, rng.unit() * scene.horizon);
            let brightness = rng.unit().powi(5) * 0.9 + 0.06;
            let fade = 1.0 - smoothstep(0.5, 1.0, y / scene.horizon);
            let tint = lch(0.95, 0.03, [60.0, 95.0, 250.0, 265.0][rng.below(4)]).rgb();
            canvas.disc(x, y, 0.35 + brightness * 0.9, tint, brightness * fade * 1.3);
        }
    }

    fn disc(&self, canvas: &mut Canvas, scene: &Scene, noise: &Noise) {
        let (lx, ly) = self.light;
        let reach = self.radius.ceil() as i64 + 2;
        for y in ly as i64 - reach..=ly as i64 + reach {
            for x in lx as i64 - reach..=lx as i64 + reach {
                let (dx, dy) = (x as f32 + 0.5 - lx, y as f32 + 0.5 - ly);
                let coverage = (self.radius + 0.5 - dx.hypot(dy)).clamp(0.0, 1.0);
                let mut color = self.light_color;
                if scene.time == Time::Night {
                    let (u, v) = (dx / self.radius, dy / self.radius);
                    let seas = smoothstep(0.0, 0.45, noise.fbm(u * 1.4 + 70.0, v * 1.4, 4));
                    color = color.scale(1.0 - 0.32 * seas);
                }
                canvas.cover(x, y, color, coverage);
            }
        }
    }
}

/// Returns the colors from the zenith to the horizon: those of the hour, modified by the prompt. `drift` shifts all
/// hues, in degrees.
fn stops(scene: &Scene, drift: f32) -> Vec<Lab> {
    let hour = hour_colors(scene.time);
    let count = hour.len();
    let stops = hour.into_iter().enumerate();
    stops
        .map(|(i, stop)| stop_color(scene, stop, (i, count), drift))
        .collect()
}

/// Returns the default colors of the hour, from the zenith to the horizon.
fn hour_colors(time: Time) -> [Lab; 4] {
    match time {
        Time::Dawn => [
            lch(0.56, 0.075, 262.0),
            lch(0.70, 0.065, 300.0),
            lch(0.82, 0.075, 20.0),
            lch(0.92, 0.07, 70.0),
        ],
        Time::Day => [
            lch(0.58, 0.125, 252.0),
            lch(0.70, 0.105, 244.0),
            lch(0.82, 0.065, 230.0),
            lch(0.94, 0.028, 210.0),
        ],
        Time::Sunset => [
            lch(0.30, 0.095, 285.0),
            lch(0.46, 0.125, 330.0),
            lch(0.66, 0.155, 30.0),
            lch(0.85, 0.125, 72.0),
        ],
        Time::Night => [
            lch(0.13, 0.045, 280.0),
            lch(0.19, 0.06, 272.0),
            lch(0.28, 0.075, 262.0),
            lch(0.42, 0.075, 245.0),
        ],
    }
}

/// Modifies a color of the hour by the prompt. `place` is its index from the zenith, and the number of colors.
fn stop_color(scene: &Scene, stop: Lab, place: (usize, usize), drift: f32) -> Lab {
    let reading = &scene.reading;
    let (i, count) = place;
    let vivid = 1.0 + 0.35 * reading.vivid;
    let chroma = stop.chroma() * vivid;
    let light = 0.1 * reading.light;
    let mut lab = lch(
        (stop.l + light).clamp(0.06, 0.96),
        chroma,
        stop.hue() + drift,
    );
    // The named colors, from the zenith down, replace those of the hour; the lightness stays mostly the same.
    if !reading.named.is_empty() {
        let named = reading.named[i * reading.named.len() / count];
        let pull = if named.is_grey() { 0.75 } else { 0.35 };
        let l = lab.l + pull * (named.l + light - lab.l);
        let full = if named.is_grey() {
            named.chroma()
        } else {
            (named.chroma() * 0.85).max(0.085) * vivid
        };
        let turn = if reading.named.len() == 1 { drift } else { 0.0 };
        let named = lch(l.clamp(0.06, 0.93), full, named.hue() + turn);
        lab = lab.mix(named, 0.9);
    } else if !reading.glows.is_empty() {
        let glow = reading.glows[i * reading.glows.len() / count];
        let strength = if reading.has(Feature::Neon) {
            0.95
        } else {
            0.7
        };
        lab = lab.mix(lch(lab.l, chroma.max(0.09), glow), strength);
    }
    if reading.has(Feature::Neon) && scene.time == Time::Night {
        let t = i as f32 / (count - 1) as f32;
        lab = lch(0.16 + 0.5 * t * t, 0.07 + 0.15 * t, lab.hue());
    }
    lab
}

/// Returns the altitude of the sun or moon, from 0 at the horizon to 1 at the upper edge.
fn altitude(time: Time, rng: &mut Rng) -> f32 {
    match time {
        Time::Dawn => rng.range(0.16, 0.34),
        Time::Day => rng.range(0.62, 0.8),
        Time::Sunset => rng.range(0.12, 0.34),
        Time::Night => rng.range(0.5, 0.75),
    }
}

fn light_color(time: Time, horizon: Lab) -> Rgb {
    match time {
        Time::Night => lch(0.95, 0.02, 95.0).rgb().scale(1.05),
        Time::Day => lch(0.99, 0.02, 100.0).rgb().scale(1.6),
        _ => horizon
            .with_lightness(0.955)
            .saturate(0.55)
            .rgb()
            .scale(1.5),
    }
}

/// Returns the radius of the sun or moon, as a fraction of the image's shorter side.
fn radius(scene: &Scene, rng: &mut Rng) -> f32 {
    match scene.time {
        Time::Sunset => rng.range(0.045, 0.075),
        Time::Dawn => rng.range(0.035, 0.055),
        Time::Day => 0.03,
        Time::Night if scene.reading.has(Feature::Moon) => rng.range(0.05, 0.07),
        Time::Night => rng.range(0.022, 0.034),
    }
}
