//! Fluxfield: ink strokes that follow a flow field.

use atelier_contract::{Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, lch};
use crate::draw::noise::Noise;
use crate::draw::palette::Palette;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::{Feature, Ground, Sense, Time};
use crate::draw::{lerp, smoothstep};
use crate::pictures::{Picture, variations};
use crate::{About, Error, File, Input, Job, Model, schema};

pub struct Fluxfield;

const ABOUT: About<'static> = About {
    name: "Fluxfield",
    category: "image",
    subcategory: "fluxfield",
    description: "Thousands of ink strokes carried by invisible currents, on paper or glowing in the dark. Procedural, no AI.",
    details: &[
        "A procedural flow-field painter: strokes follow a swirling field of noise and leave ink behind. There is no AI in it.",
        "Colors named in the prompt become the inks; storm and calm change the currents; mandala, mirror or symmetry fold the picture.",
    ],
};

impl Model for Fluxfield {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![schema::prompt(
                self,
                "Colors and a mood, such as: gold and indigo, a quiet storm.",
            )],
            vec![
                schema::aspect_ratio("1:1"),
                Parameter::choice(
                    "ground",
                    &["auto", "paper", "dark"],
                    "auto",
                    "What is painted on: warm paper, or the dark. With auto the prompt decides.",
                ),
                Parameter::integer("strokes", 2400, 200, 8000, "How many strokes are drawn."),
                Parameter::float(
                    "turbulence",
                    0.5,
                    0.0,
                    1.0,
                    "From long, calm streams (0) to whirls (1).",
                ),
                Parameter::number_choice(
                    "symmetry",
                    &[1, 2, 3, 4, 5, 6, 8],
                    1,
                    "How many times the picture repeats around its center; 1 for not at all.",
                ),
                schema::num_outputs(),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "cobalt and coral on paper", "seed": 2, "strokes": 1800})
    }

    fn extension(&self) -> &'static str {
        "png"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        2.0 + Input(input).integer("num_outputs") as f64
    }

    fn understands(&self, sense: &Sense) -> bool {
        matches!(
            sense,
            Sense::Colour(..)
                | Sense::Hue(_)
                | Sense::Ground(_)
                | Sense::AtNight
                | Sense::Time(Time::Night)
                | Sense::Vivid(_)
                | Sense::Light(_)
                | Sense::Energy(_)
                | Sense::Feature(Feature::Mirrored)
        )
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        variations(job, paint)
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        Ok(paint(job, &mut job.rng(0)).canvas)
    }
}

fn paint(job: &Job<'_>, rng: &mut Rng) -> Picture {
    let (input, reading) = (job.input, &job.reading);
    let (width, height) = job.size(1024);
    let dark = match (input.text("ground"), reading.ground) {
        ("paper", _) => false,
        ("dark", _) => true,
        (_, Some(ground)) => ground == Ground::Dark,
        _ => {
            reading.light < -0.2
                || reading.time == Some(Time::Night)
                || (reading.hash & 3 == 0 && reading.light < 0.2)
        }
    };
    let palette = Palette::of(reading, rng);
    let tone = |color: &&Lab| color.is_grey() && (color.l < 0.3 || color.l > 0.85);
    let ground = match reading.named.iter().find(tone) {
        // A named black or white is used for the ground.
        Some(black) if dark && black.l < 0.3 => black.with_lightness(0.12),
        Some(white) if !dark && white.l > 0.85 => *white,
        _ if dark => palette.colors[0].with_lightness(0.15).saturate(0.75),
        _ => lch(0.955, 0.014, 85.0),
    };
    let mut canvas = Canvas::new(width, height, ground.rgb());
    shade(&mut canvas, ground, dark);

    let mut folds = input.integer("symmetry").max(1) as usize;
    if folds == 1 && reading.has(Feature::Mirrored) {
        folds = 6;
    }
    let current = Current::new(&canvas, input.number("turbulence"), folds, reading, rng);
    // Strokes also start outside the image, so that its edges are as dense as its center.
    let strokes = input.integer("strokes") as usize * 3 / 2 / folds;
    let inks = Inks::new(reading, palette, ground, dark);
    for i in 0..strokes {
        // Broad, faint strokes first, fine ones on top.
        let fine = i as f32 / strokes.max(1) as f32;
        let stroke = current.stroke(&canvas, fine, &inks, rng);
        stroke.draw(&mut canvas, folds, dark);
    }
    if dark {
        let radius = (canvas.unit() * 0.01) as usize;
        canvas.bloom(0.3, radius, 0.4);
    }
    Picture { canvas, grain: 1.0 }
}

/// Brightens the middle of the ground slightly.
fn shade(canvas: &mut Canvas, ground: Lab, dark: bool) {
    let (w, h) = (canvas.width as f32, canvas.height as f32);
    let by = if dark { 0.07 } else { 0.035 };
    *canvas = Canvas::paint(canvas.width, canvas.height, |x, y| {
        let d = ((x / w - 0.5).powi(2) + (y / h - 0.5).powi(2)).sqrt();
        ground.with_lightness(ground.l + by * (0.45 - d)).rgb()
    });
}

/// The colors of the strokes.
struct Inks {
    /// The named colors that are distinguishable from the ground.
    named: Vec<Lab>,
    palette: Palette,
    dark: bool,
    vivid: f32,
    light: f32,
}

impl Inks {
    fn new(reading: &Reading, palette: Palette, ground: Lab, dark: bool) -> Self {
        let is_distinguishable = |color: &Lab| (color.l - ground.l).abs() > 0.2 || !color.is_grey();
        let (from, to) = if dark { (0.46, 0.95) } else { (0.15, 0.83) };
        Self {
            named: reading
                .colours()
                .into_iter()
                .filter(is_distinguishable)
                .map(|color| {
                    let l = (color.l + 0.12 * reading.light).clamp(from, to);
                    // Thin lines look less saturated next to their surroundings.
                    let fuller = if color.is_grey() {
                        1.0
                    } else {
                        (0.14 / color.chroma()).max(1.0)
                    };
                    color
                        .with_lightness(l)
                        .saturate(fuller * (1.0 + 0.4 * reading.vivid))
                })
                .collect(),
            palette,
            dark,
            vivid: reading.vivid,
            light: reading.light,
        }
    }

    /// Chooses the ink of a stroke. `gather` is about -0.5 to 0.5 and similar for neighbors.
    fn choose(&self, fine: f32, gather: f32, rng: &mut Rng) -> Lab {
        if let count @ 1.. = self.named.len() {
            // Each ink has the same share; half of the strokes are grouped by ink.
            let place = if rng.chance(0.5) {
                gather * 1.4 + 0.5 + rng.normal() * 0.12
            } else {
                rng.unit()
            };
            let ink = self.named[((place.rem_euclid(1.0) * count as f32) as usize).min(count - 1)];
            let shade = rng.normal() * 0.05 + if self.dark { 0.04 } else { -0.04 } * fine;
            return ink.with_lightness((ink.l + shade).clamp(0.12, 0.96));
        }
        let t = rng.unit();
        if rng.chance(0.1) {
            let l = if self.dark { 0.8 } else { 0.62 };
            return self.palette.accent.with_lightness(l);
        }
        let (from, to) = if self.dark {
            (0.38, 0.92)
        } else {
            (0.24, 0.78)
        };
        self.palette
            .at(t)
            .with_lightness(lerp(from, to, t * 0.75 + fine * 0.2) + 0.1 * self.light)
            .saturate(1.2 + 0.5 * self.vivid)
    }
}

/// The flow field that strokes follow.
struct Current {
    noise: Noise,
    scale: f32,
    swirl: f32,
    heading: f32,
    centre: (f32, f32),
    spin: f32,
    folds: usize,
    unit: f32,
}

struct Stroke {
    points: Vec<(f32, f32)>,
    width: f32,
    alpha: f32,
    color: Lab,
    centre: (f32, f32),
}

impl Current {
    fn new(
        canvas: &Canvas,
        turbulence: f32,
        folds: usize,
        reading: &Reading,
        rng: &mut Rng,
    ) -> Self {
        let unit = canvas.unit();
        let turbulence = (turbulence + 0.3 * reading.energy).clamp(0.0, 1.0);
        Self {
            noise: Noise::new(rng),
            scale: lerp(0.9, 2.6, turbulence) / unit,
            swirl: lerp(0.9, 3.6, turbulence),
            heading: rng.range(0.0, std::f32::consts::TAU),
            centre: (canvas.width as f32 / 2.0, canvas.height as f32 / 2.0),
            spin: if reading.has(Feature::Mirrored) {
                0.9
            } else {
                rng.range(-0.5, 0.5)
            },
            folds,
            unit,
        }
    }

    fn angle(&self, x: f32, y: f32) -> f32 {
        if self.folds > 1 {
            return self.folded_angle(x, y);
        }
        let n = self.noise.fbm(x * self.scale, y * self.scale, 3);
        let around = (y - self.centre.1).atan2(x - self.centre.0) + std::f32::consts::FRAC_PI_2;
        let middle =
            (-((x - self.centre.0).hypot(y - self.centre.1) / self.unit).powi(2) * 5.0).exp();
        self.heading
            + n * self.swirl * 2.2
            + self.spin * middle * (around - self.heading).sin() * 2.0
    }

    /// Returns the direction in a field with rotational symmetry, so that its parts join smoothly: the mean of the
    /// field over all rotations, relative to the tangent.
    fn folded_angle(&self, x: f32, y: f32) -> f32 {
        let (dx, dy) = (x - self.centre.0, y - self.centre.1);
        let n: f32 = (0..self.folds)
            .map(|fold| {
                let turn = fold as f32 / self.folds as f32 * std::f32::consts::TAU;
                let (sin, cos) = turn.sin_cos();
                let (u, v) = (dx * cos - dy * sin, dx * sin + dy * cos);
                self.noise
                    .fbm(u * self.scale + 60.0, v * self.scale + 60.0, 2)
            })
            .sum();
        let n = n / (self.folds as f32).sqrt();
        dy.atan2(dx) + self.heading + n * self.swirl * 2.4
    }

    fn stroke(&self, canvas: &Canvas, fine: f32, inks: &Inks, rng: &mut Rng) -> Stroke {
        let (w, h) = (canvas.width as f32, canvas.height as f32);
        let margin = self.unit * if self.folds > 1 { 0.0 } else { 0.3 };
        let (mut x, mut y) = (
            rng.range(-margin, w + margin),
            rng.range(-margin, h + margin),
        );
        let width = self.unit * lerp(0.011, 0.0012, fine.powf(0.45)) * rng.range(0.5, 1.4);
        let step = (width * 0.55).max(0.9);
        let length = self.unit * rng.range(0.12, 0.5);
        // Groups inks in streams.
        let stream = self
            .noise
            .fbm(x * self.scale * 0.7 + 90.0, y * self.scale * 0.7, 2);
        let gather = self
            .noise
            .fbm(x * self.scale * 0.6 + 30.0, y * self.scale * 0.6 + 170.0, 2);
        let color = inks.choose(fine, gather, rng);
        let mut points = Vec::new();
        for _ in 0..(length / step) as usize {
            points.push((x, y));
            let angle = self.angle(x, y);
            x += angle.cos() * step;
            y += angle.sin() * step;
        }
        Stroke {
            points,
            width,
            alpha: lerp(0.35, 0.85, fine) * (0.75 + 0.5 * stream).clamp(0.25, 1.0),
            color: color
                .with_lightness(color.l + stream * if inks.named.is_empty() { 0.3 } else { 0.12 }),
            centre: self.centre,
        }
    }
}

impl Stroke {
    fn draw(&self, canvas: &mut Canvas, folds: usize, dark: bool) {
        let color = self.color.rgb();
        let color = if dark { color.scale(1.15) } else { color };
        let count = self.points.len().max(1) as f32;
        for fold in 0..folds {
            let (sin, cos) = (fold as f32 / folds as f32 * std::f32::consts::TAU).sin_cos();
            for (i, (x, y)) in self.points.iter().enumerate() {
                let along = i as f32 / count;
                let taper = smoothstep(0.0, 0.3, along) * (1.0 - smoothstep(0.55, 1.0, along));
                let (dx, dy) = (x - self.centre.0, y - self.centre.1);
                let radius = (self.width * taper).max(0.35);
                canvas.disc(
                    self.centre.0 + dx * cos - dy * sin,
                    self.centre.1 + dx * sin + dy * cos,
                    radius,
                    color,
                    self.alpha * (taper * 0.7 + 0.05),
                );
            }
        }
    }
}
