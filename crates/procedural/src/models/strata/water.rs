//! Water that reflects the image above it.

use super::Scene;
use super::mist::{Light, over_water};
use super::sky::Sky;
use crate::draw::canvas::Canvas;
use crate::draw::lerp;
use crate::draw::noise::Noise;
use crate::draw::rng::Rng;
use crate::draw::smoothstep;

pub fn paint(canvas: &mut Canvas, scene: &Scene, sky: &Sky, rng: &mut Rng) {
    let noise = Noise::new(rng);
    let unit = canvas.unit();
    let shore = scene.horizon;
    let deep = sky.stops[0].with_lightness(sky.stops[0].l * 0.62).rgb();
    let roughness = (0.55 + 0.45 * scene.reading.energy).max(0.12);
    let light = Light::new(scene, sky);
    let mist = over_water(scene);
    let above = canvas.clone();
    let depth = scene.height as f32 - shore;
    for y in shore as u32..scene.height {
        let down = (y as f32 + 0.5 - shore).max(0.0);
        let near = down / depth;
        // Distant waves look smaller and flatter.
        let distance = 1.0 / (near + 0.06);
        for x in 0..scene.width {
            let fx = x as f32 + 0.5;
            let across = (fx - scene.width as f32 * 0.5) / unit;
            let (u, v) = (across * distance * 1.6 + 50.0, distance * 5.5);
            let swell = noise.fbm(u * 0.9, v, 3);
            let ripple = noise.fbm(u * 3.1, v * 2.3 + 11.0, 2);
            let wave = (swell + 0.5 * ripple) * roughness;
            let mirrored_x = fx + wave * unit * lerp(0.004, 0.03, near);
            let mirrored_y = shore - down * 0.98 + wave * unit * lerp(0.012, 0.1, near);
            let seen = above.sample(mirrored_x, mirrored_y.clamp(1.0, shore - 1.0));
            // Near water is transparent; distant water only reflects (the Fresnel effect).
            let into = smoothstep(0.0, 1.1, near) * 0.42 + 0.06;
            let mut color = seen.scale(0.94).mix(deep, into);
            let beside = (fx - sky.light.0).abs() / (unit * lerp(0.035, 0.16, near));
            let spark = smoothstep(0.16, 0.42, wave + 0.12) * (-beside * beside).exp();
            color = color.plus(sky.light_color.scale(spark * 0.55));
            // A thin bright line at the shore.
            let line = (-down / (unit * 0.003)).exp() * 0.22;
            color = color.mix(sky.air().rgb(), line);
            if mist > 0.0 {
                // The mist thins out towards the near shore.
                let wisp = noise.fbm(across * 2.0 + 90.0, distance * 2.0, 2);
                let end = 0.3 + 0.7 * scene.mist;
                let lying = mist * (1.0 - smoothstep(0.0, end, near - wisp * 0.3));
                color = color.mix(light.at(fx, (shore - down).max(0.0)), lying);
            }
            canvas.pixels[(y * scene.width + x) as usize] = color;
        }
    }
}
