//! The ridges, painted from far to near.

use super::Scene;
use super::mist::{self, Mist};
use super::sky::Sky;
use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, lch};
use crate::draw::noise::Noise;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::{Feature, Time};
use crate::draw::{lerp, smoothstep};

/// A ridge: the height of its crest in each column, and its surface.
struct Ridge {
    crest: Vec<f32>,
    /// The crest without trees and small details, which the slopes follow.
    smooth: Vec<f32>,
    /// 0 the farthest, 1 the nearest.
    near: f32,
    color: Lab,
    offset: f32,
}

impl Ridge {
    /// Returns the mean height of the crest.
    fn level(&self) -> f32 {
        self.smooth.iter().sum::<f32>() / self.smooth.len() as f32
    }

    /// Returns the x coordinate on the crest at which the slope of a point starts, `below` pixels above it. Slopes
    /// diverge from peaks and converge in valleys.
    fn origin(&self, x: f32, below: f32, unit: f32) -> f32 {
        let reach = below.max(0.0) * 0.9 + unit * 0.02;
        let at = |x: f32| {
            let x = x.clamp(0.0, (self.smooth.len() - 1) as f32);
            let (left, share) = (x as usize, x.fract());
            let right = (left + 1).min(self.smooth.len() - 1);
            lerp(self.smooth[left], self.smooth[right], share)
        };
        let slope = (at(x + reach) - at(x - reach)) / (2.0 * reach);
        x - slope.clamp(-1.2, 1.2) * below.max(0.0) * 0.8
    }
}

pub fn paint(canvas: &mut Canvas, scene: &Scene, sky: &Sky, rng: &mut Rng) {
    let noise = Noise::new(rng);
    let ridges = ridges(scene, sky, rng, &noise);
    let unit = canvas.unit();
    let bottom = if scene.water {
        scene.horizon
    } else {
        scene.height as f32
    };
    let bottom = vec![bottom; scene.width as usize];
    let mist = Mist::new(scene, sky, &noise);
    mist.before_the_sky(canvas, &bottom);
    for (i, ridge) in ridges.iter().enumerate() {
        // Skip what the next ridges hide.
        let mut hidden = bottom.clone();
        for next in &ridges[i + 1..] {
            for (hidden, crest) in hidden.iter_mut().zip(&next.crest) {
                *hidden = crest.min(*hidden);
            }
        }
        for x in 0..scene.width as usize {
            let crest = ridge.crest[x];
            let next = ridge.crest[(x + 1).min(ridge.crest.len() - 1)];
            let steepness = (1.0 + (next - crest).powi(2)).sqrt();
            let from = crest.floor().max(0.0) as i64 - 1;
            hidden[x] = (hidden[x].ceil() + 2.0).min(bottom[x]);
            for y in from..hidden[x].ceil() as i64 {
                let below = y as f32 + 0.5 - crest;
                let coverage = (below / steepness + 0.5).clamp(0.0, 1.0);
                if coverage <= 0.0 {
                    continue;
                }
                let lab = surface(scene, sky, ridge, &noise, x as f32, y as f32, below, unit);
                canvas.cover(x as i64, y, lab.rgb(), coverage);
            }
        }
        if let Some(next) = ridges.get(i + 1) {
            let heights = (ridge.level(), next.level());
            mist.before_a_ridge(canvas, ridge.near, heights, ridge.offset, &hidden);
        }
    }
    mist.before_all(canvas, &bottom);
}

fn ridges(scene: &Scene, sky: &Sky, rng: &mut Rng, noise: &Noise) -> Vec<Ridge> {
    let (width, height) = (scene.width as f32, scene.height as f32);
    let unit = width.min(height);
    let reading = &scene.reading;
    let air = sky.air();
    // Far land is slightly darker and cooler than the air behind it.
    let behind = sky.stops[sky.stops.len() - 2];
    let distance = air.mix(behind, 0.5);
    let distance = distance.with_lightness(air.l.min(distance.l + 0.04) - 0.05);
    let count = scene.layers;
    let wild = 1.0 + 0.45 * reading.energy;
    (0..count)
        .map(|i| {
            let near = if count == 1 {
                1.0
            } else {
                i as f32 / (count - 1) as f32
            };
            let base = if scene.water {
                scene.horizon - unit * lerp(0.05, -0.012, near)
            } else {
                lerp(scene.horizon, height * 0.93, near.powf(1.15))
            };
            let tall = unit
                * wild
                * if scene.water {
                    lerp(0.44, 0.1, near.sqrt())
                } else {
                    lerp(0.34, 0.2, near)
                };
            let frequency = lerp(1.5, 1.05, near) * rng.range(0.85, 1.2);
            let offset = rng.range(0.0, 200.0);
            let lean = rng.range(-0.5, 0.5);
            let trees = reading.has(Feature::Trees) && near > 0.3;
            let mut crest: Vec<f32> = (0..scene.width)
                .map(|x| {
                    let u = x as f32 / unit * frequency;
                    let shape = if reading.has(Feature::Dunes) {
                        dune(noise, u + offset)
                    } else {
                        let mountains = noise.ridged(u * 0.75 + offset, offset * 0.31, 5);
                        let hills = 0.45 + 0.5 * noise.fbm(u * 1.1 + offset, 3.7, 5);
                        lerp(mountains * 1.15, hills, smoothstep(0.3, 0.95, near))
                    };
                    let slope = lean * (x as f32 / width - 0.5) * unit * 0.16;
                    base - (shape - 0.28) * tall + slope
                })
                .collect();
            let smooth = smooth(&crest, (unit * 0.012) as usize);
            if trees {
                plant(&mut crest, unit * lerp(0.012, 0.075, near * near), rng);
            }
            let through_air = (1.0 - near).powf(1.25) * lerp(0.84, 0.99, scene.mist);
            let through_mist = (1.0 - near) * scene.mist.powi(3) * 0.75;
            let color = ground_color(scene, sky, i).mix(distance, through_air.min(0.95));
            Ridge {
                crest,
                smooth,
                near,
                color: color.mix(mist::tint(sky), through_mist),
                offset,
            }
        })
        .collect()
}

/// Returns the color of the nearest ground, without atmospheric haze.
fn ground_color(scene: &Scene, sky: &Sky, ridge: usize) -> Lab {
    let reading = &scene.reading;
    // The sky has only four colors; additional named colors are used for the land.
    let own = reading.named.len().saturating_sub(3).max(1);
    let index = reading.named.len().checked_sub(1 + ridge % own);
    let color = index.map(|index| reading.named[index]);
    let (hue, chroma): (f32, f32) = match (color, reading.hues.as_slice()) {
        (Some(color), _) if color.is_grey() => (color.hue(), 0.004),
        (Some(color), _) => (color.hue(), 0.085),
        _ if reading.has(Feature::Neon) => (290.0, 0.045),
        _ if reading.has(Feature::Autumn) => (52.0, 0.1),
        _ if reading.has(Feature::Trees) => (165.0, 0.045),
        (None, [.., last]) => (*last, 0.06),
        (None, []) => (sky.stops[0].hue(), 0.045),
    };
    let (l, chroma) = match color {
        _ if reading.has(Feature::Dunes) => (0.42, chroma.max(0.09)),
        Some(color) => (0.19 + 0.18 * (color.l - 0.3), chroma),
        None if reading.has(Feature::Autumn) => (0.27, chroma),
        None => (0.19, chroma),
    };
    let by_time = match scene.time {
        Time::Day => 0.11,
        Time::Dawn => 0.05,
        Time::Sunset => 0.0,
        Time::Night => -0.07,
    };
    let snow = if reading.has(Feature::Snow) { 0.2 } else { 0.0 };
    let chroma = chroma * (1.0 + 0.5 * reading.vivid);
    lch(
        (l + by_time + snow + 0.08 * reading.light).max(0.08),
        chroma,
        hue,
    )
}

/// Returns a ridge's color at a point: rock lit from the side, snow above, haze by distance.
#[allow(clippy::too_many_arguments)]
fn surface(
    scene: &Scene,
    sky: &Sky,
    ridge: &Ridge,
    noise: &Noise,
    x: f32,
    y: f32,
    below: f32,
    unit: f32,
) -> Lab {
    let scale = lerp(7.0, 4.0, ridge.near) / unit;
    // The folds follow the slopes and differ between ridges. Long vertical folds would form bands across all ridges.
    let (u, v) = (
        ridge.origin(x, below, unit) * scale + ridge.offset,
        y * scale * 0.8 + ridge.offset * 0.37,
    );
    // On nearly level land, the folds are curved as well.
    let u = u + 0.4 * noise.at(u * 0.45, v * 0.8 + 60.0);
    let faces = |du: f32, dv: f32| {
        if scene.reading.has(Feature::Dunes) {
            noise.fbm((u + du) * 0.5, (v + dv) * 1.2, 3) * 0.5
        } else {
            noise.ridged((u + du) * 0.7, (v + dv) * 0.75, 4)
        }
    };
    // Lit from above and from the side of the sun. Directly below the sun, the light comes only from above, because a
    // sudden change of side would form a seam through all ridges.
    let aside = (sky.light.0 - x) / unit;
    let aside = aside / aside.hypot(0.4);
    let slope = (faces(0.0, 0.0) - faces(0.09 * aside, -0.08)) * 3.4;
    // Haze and night reduce the contrast.
    let contrast = lerp(0.4, 1.0, ridge.near) * if scene.time == Time::Night { 0.5 } else { 1.0 };
    let rim = (-below / (unit * 0.02)).exp() * 0.035;
    let mut lab = ridge.color;
    lab.l = (lab.l + (slope.clamp(-1.0, 1.0) * 0.075 + rim) * contrast).max(0.03);
    if scene.reading.has(Feature::Snow) && ridge.near < 0.85 {
        let line = unit * (0.10 + 0.06 * noise.fbm(u, v, 3));
        let cap = 1.0 - smoothstep(line * 0.55, line, below + slope * unit * 0.03);
        let white = sky
            .air()
            .with_lightness((lab.l + 0.3).min(0.97))
            .saturate(0.5);
        lab = lab.mix(white, cap * (0.75 - 0.3 * ridge.near));
    }
    lab
}

/// Returns the height of a dune: long slopes and sharp edges.
fn dune(noise: &Noise, u: f32) -> f32 {
    let warped = u * 0.75 + noise.fbm(u * 0.5, 1.3, 2) * 0.8;
    let t = warped.rem_euclid(1.0);
    let wave = if t < 0.68 {
        smoothstep(0.0, 0.68, t)
    } else {
        1.0 - smoothstep(0.68, 1.0, t)
    };
    let strength = 0.55 + 0.45 * noise.at(warped.floor() * 3.1, 8.0);
    wave * strength + 0.1 * noise.fbm(u * 0.8, 5.0, 2)
}

/// Smooths the heights with a moving average of this radius in columns.
fn smooth(crest: &[f32], radius: usize) -> Vec<f32> {
    (0..crest.len())
        .map(|x| {
            let around = &crest[x.saturating_sub(radius)..(x + radius + 1).min(crest.len())];
            around.iter().sum::<f32>() / around.len() as f32
        })
        .collect()
}

/// Adds conifers of about this height to the crest.
fn plant(crest: &mut [f32], size: f32, rng: &mut Rng) {
    if size < 2.0 {
        return;
    }
    let ground = crest.to_vec();
    let mut x = -size;
    while x < crest.len() as f32 + size {
        let tall = size * rng.range(0.45, 1.15);
        let half = tall * rng.range(0.16, 0.24);
        let foot = ground[(x.max(0.0) as usize).min(ground.len() - 1)];
        let tiers = 4.0 + rng.unit() * 3.0;
        for column in
            (x - half).max(0.0) as usize..=((x + half).max(0.0) as usize).min(crest.len() - 1)
        {
            let t = 1.0 - (column as f32 + 0.5 - x).abs() / half;
            if t > 0.0 {
                // Branches: the outline recedes slightly at every tier.
                let step = (t * tiers).fract();
                let top = foot + size * 0.1 - tall * (t - 0.5 * step / tiers).max(0.0);
                crest[column] = crest[column].min(top);
            }
        }
        x += half * rng.range(0.5, 1.9);
    }
}
