//! The styles of Repaint.

use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, Rgb, lch};
use crate::draw::lerp;
use crate::draw::palette::Palette;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;

/// Draws rotated screens of dots on paper, as in print.
pub fn halftone(
    source: &Canvas,
    reading: &Reading,
    palette: &Palette,
    strength: f32,
    rng: &mut Rng,
) -> Canvas {
    let unit = source.unit();
    let pitch = unit * lerp(0.006, 0.022, strength);
    let paper = lch(0.96, 0.018, 85.0).rgb();
    let turn = rng.range(0.2, 0.5);
    let inks: Vec<(Rgb, f32, f32)> = inks(reading, palette)
        .into_iter()
        .enumerate()
        .map(|(i, (ink, from))| (ink.rgb(), turn + 0.9 * i as f32, from))
        .collect();
    let mut soft = source.clone();
    soft.blur((pitch * 0.25) as usize);
    Canvas::paint(source.width, source.height, |x, y| {
        let mut color = paper;
        for (ink, angle, from) in &inks {
            let (ink, (sin, cos)) = (*ink, f32::sin_cos(*angle));
            // The center of the dot's cell, in image coordinates.
            let (u, v) = ((x * cos + y * sin) / pitch, (y * cos - x * sin) / pitch);
            let (cu, cv) = (u.floor() + 0.5, v.floor() + 0.5);
            let (cx, cy) = ((cu * cos - cv * sin) * pitch, (cv * cos + cu * sin) * pitch);
            // Each ink starts at its own darkness; the second one draws only the shadows.
            let dark = (1.02 - soft.sample(cx, cy).lab().l - from) / (1.0 - from);
            let radius = dark.clamp(0.0, 1.0).sqrt() * 0.7 * pitch;
            let distance = (u - cu).hypot(v - cv) * pitch;
            let coverage = (radius - distance + 0.5).clamp(0.0, 1.0);
            // Partly transparent, so that overlapping inks mix.
            let over = ink.mix(color.times(ink), 0.35);
            color = color.mix(over, coverage);
        }
        color
    })
}

/// Returns the inks, the lightest first, and the darkness at which each starts.
fn inks(reading: &Reading, palette: &Palette) -> Vec<(Lab, f32)> {
    // White is the paper itself.
    let mut named: Vec<Lab> = reading.named.clone();
    named.retain(|color| !color.is_grey() || color.l < 0.85);
    named.sort_by(|a, b| b.l.total_cmp(&a.l));
    let shade = 0.07 * reading.light;
    let ink = |color: &Lab, l: f32| {
        color
            .with_lightness(l + shade)
            .saturate(1.15 + 0.3 * reading.vivid)
    };
    match named.as_slice() {
        [] => vec![
            (ink(&palette.accent, 0.72), 0.0),
            (ink(&palette.colors[0], 0.26), 0.3),
        ],
        [only] => vec![
            (ink(only, only.l.clamp(0.45, 0.82)), 0.0),
            (ink(only, (only.l - 0.25).clamp(0.22, 0.5)), 0.4),
        ],
        several => several
            .iter()
            .enumerate()
            .map(|(i, color)| {
                let from = 0.55 * i as f32 / several.len() as f32;
                (ink(color, color.l.clamp(0.2, 0.82)), from)
            })
            .collect(),
    }
}

/// Imitates brush strokes: each pixel becomes the mean of the most uniform of the four areas around it (a Kuwahara
/// filter).
pub fn oil(source: &Canvas, strength: f32, rng: &mut Rng) -> Canvas {
    let (w, h) = (source.width as usize, source.height as usize);
    let radius = (source.unit() * lerp(0.002, 0.0085, strength))
        .round()
        .max(1.0) as i64;
    let sums = Sums::new(source);
    let lift = rng.range(0.98, 1.06);
    let mut canvas = source.clone();
    for y in 0..h as i64 {
        for x in 0..w as i64 {
            let areas = [
                sums.area(x - radius, y - radius, x, y),
                sums.area(x, y - radius, x + radius, y),
                sums.area(x - radius, y, x, y + radius),
                sums.area(x, y, x + radius, y + radius),
            ];
            let mut calmest = areas[0];
            for area in &areas[1..] {
                if area.1 < calmest.1 {
                    calmest = *area;
                }
            }
            canvas.pixels[y as usize * w + x as usize] = calmest.0;
        }
    }
    // Adds highlights along the edges of the strokes.
    let flat = canvas.clone();
    for y in 0..h as i64 {
        for x in 0..w as i64 {
            let relief = flat.get(x + 1, y + 1).luminance() - flat.get(x - 1, y - 1).luminance();
            let pixel = &mut canvas.pixels[y as usize * w + x as usize];
            let lab = pixel.lab().saturate(1.12);
            *pixel = lab
                .with_lightness(lab.l * lift + relief.clamp(-0.2, 0.2) * 0.35)
                .rgb();
        }
    }
    canvas
}

/// Sorts vertical runs of medium brightness, so that light seems to drip.
pub fn pixel_sort(source: &Canvas, strength: f32, rng: &mut Rng) -> Canvas {
    let mut canvas = source.clone();
    let (w, h) = (source.width as usize, source.height as usize);
    let mut lights: Vec<f32> = source.pixels.iter().map(|p| p.lab().l).collect();
    lights.sort_by(f32::total_cmp);
    let at = |share: f32| lights[((lights.len() - 1) as f32 * share) as usize];
    let (from, to) = (
        at(lerp(0.35, 0.08, strength)),
        at(lerp(0.7, 0.97, strength)),
    );
    let mut longest = 0.0f32;
    for x in 0..w {
        // The maximum length varies smoothly between columns.
        longest = (longest + rng.normal() * 0.25).clamp(-1.0, 1.0);
        let most = (h as f32 * lerp(0.1, 0.7, strength) * (1.0 + 0.6 * longest)).max(4.0) as usize;
        let mut y = 0;
        while y < h {
            let run = (y..h.min(y + most))
                .take_while(|row| (from..=to).contains(&source.pixels[row * w + x].lab().l))
                .count();
            let mut column: Vec<Rgb> = (y..y + run).map(|row| source.pixels[row * w + x]).collect();
            column.sort_by(|a, b| a.luminance().total_cmp(&b.luminance()));
            for (i, pixel) in column.into_iter().enumerate() {
                canvas.pixels[(y + i) * w + x] = pixel;
            }
            y += run.max(1);
        }
    }
    canvas
}

/// Mirrors a wedge of the image around the center.
pub fn kaleidoscope(source: &Canvas, strength: f32, rng: &mut Rng) -> Canvas {
    let (w, h) = (source.width as f32, source.height as f32);
    let folds = (3.0 + strength * 9.0).round();
    let wedge = std::f32::consts::PI / folds;
    let (cx, cy) = (w * rng.range(0.35, 0.65), h * rng.range(0.35, 0.65));
    let turn = rng.range(0.0, std::f32::consts::TAU);
    let zoom = rng.range(0.75, 1.0);
    Canvas::paint(source.width, source.height, |x, y| {
        let (dx, dy) = (x - w / 2.0, y - h / 2.0);
        let angle = (dy.atan2(dx) + std::f32::consts::PI).rem_euclid(2.0 * wedge);
        let angle = if angle > wedge {
            2.0 * wedge - angle
        } else {
            angle
        } + turn;
        let radius = dx.hypot(dy) * zoom;
        source.sample(
            bounce(cx + angle.cos() * radius, w),
            bounce(cy + angle.sin() * radius, h),
        )
    })
}

/// Reflects a coordinate at the edges.
fn bounce(v: f32, size: f32) -> f32 {
    let t = v.rem_euclid(2.0 * size);
    if t > size { 2.0 * size - t } else { t }
}

/// A summed-area table: the mean of any area takes four look-ups.
struct Sums {
    width: i64,
    height: i64,
    sums: Vec<[f64; 4]>,
}

impl Sums {
    fn new(source: &Canvas) -> Self {
        let (w, h) = (source.width as usize, source.height as usize);
        let mut sums = vec![[0.0; 4]; (w + 1) * (h + 1)];
        for y in 0..h {
            let mut row = [0.0; 4];
            for x in 0..w {
                let p = source.pixels[y * w + x];
                let l = f64::from(p.luminance());
                let values = [f64::from(p.r), f64::from(p.g), f64::from(p.b), l * l];
                for (sum, value) in row.iter_mut().zip(values) {
                    *sum += value;
                }
                for c in 0..4 {
                    sums[(y + 1) * (w + 1) + x + 1][c] = sums[y * (w + 1) + x + 1][c] + row[c];
                }
            }
        }
        Self {
            width: w as i64,
            height: h as i64,
            sums,
        }
    }

    /// Returns the mean color and the variance of the area between two corners, both included.
    fn area(&self, x0: i64, y0: i64, x1: i64, y1: i64) -> (Rgb, f64) {
        let (x0, y0) = (x0.max(0), y0.max(0));
        let (x1, y1) = ((x1 + 1).min(self.width), (y1 + 1).min(self.height));
        let at = |x: i64, y: i64| self.sums[(y * (self.width + 1) + x) as usize];
        let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
        let count = ((x1 - x0) * (y1 - y0)).max(1) as f64;
        let mean = |i: usize| (d[i] - b[i] - c[i] + a[i]) / count;
        let color = Rgb {
            r: mean(0).max(0.0) as f32,
            g: mean(1).max(0.0) as f32,
            b: mean(2).max(0.0) as f32,
        };
        let l = f64::from(color.luminance());
        (color, mean(3) - l * l)
    }
}
