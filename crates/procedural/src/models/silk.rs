//! Silk: videos of slowly folding cloth.

use atelier_contract::{Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, Rgb, gradient};
use crate::draw::grain::Grain;
use crate::draw::noise::Noise;
use crate::draw::palette::Palette;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::Sense;
use crate::draw::webm::Film;
use crate::draw::{lerp, smoothstep};
use crate::{About, Error, File, Input, Job, Model, schema};

pub struct Silk;

const ABOUT: About<'static> = About {
    name: "Silk",
    category: "video",
    subcategory: "silk",
    description: "A short, seamless loop of silk folding in slow light. Procedural, no AI.",
    details: &[
        "A procedural film maker: noise bends noise into folds, a light from the side gives them their sheen, and time runs in a circle, so that the end meets the beginning. There is no AI in it.",
        "The result is a WebM file (VP8) without sound, 480 pixels on the longer side. Colours and moods in the prompt choose the cloth; calm and storm its movement.",
    ],
};

impl Model for Silk {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![schema::prompt(
                self,
                "Colours and a mood for the cloth, such as: deep blue and gold, calm.",
            )],
            vec![
                Parameter::choice(
                    "aspect_ratio",
                    &["16:9", "1:1", "9:16"],
                    "16:9",
                    "Width to height. The longer side is 480 pixels.",
                ),
                Parameter::integer("duration", 3, 1, 6, "Length in seconds."),
                Parameter::number_choice("frame_rate", &[12, 24, 30], 24, "Frames per second."),
                Parameter::float(
                    "motion",
                    0.5,
                    0.0,
                    1.0,
                    "How far the folds travel within one loop.",
                ),
                Parameter::float("sheen", 0.6, 0.0, 1.0, "How much the cloth shines."),
                Parameter::boolean(
                    "boomerang",
                    false,
                    "Plays forwards, then backwards, instead of around.",
                ),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "rose and plum", "duration": 2, "seed": 3})
    }

    fn extension(&self) -> &'static str {
        "webm"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        2.5 + Input(input).integer("duration") as f64
    }

    fn understands(&self, sense: &Sense) -> bool {
        matches!(
            sense,
            Sense::Colour(..)
                | Sense::Hue(_)
                | Sense::Vivid(_)
                | Sense::Light(_)
                | Sense::Energy(_)
                | Sense::Dense(_)
        )
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        let input = job.input;
        let mut rng = job.rng(0);
        let (width, height) = job.size(480);
        let rate = input.integer("frame_rate") as u32;
        let count = (input.integer("duration") as u32 * rate).max(1);
        let cloth = Cloth::new(input, &job.reading, width, height, &mut rng);
        let grain = Grain::new(&mut rng, 0.4);
        let failed = |error| Error::Failed(format!("The film could not be encoded: {error}."));
        let mut film = Film::new(width as u16, height as u16, rate, 80);
        for frame in 0..count {
            let around = frame as f32 / count as f32;
            let time = if input.flag("boomerang") {
                0.5 - (around - 0.5).abs()
            } else {
                around
            };
            film.push(&cloth.frame(time).bytes(&grain))
                .map_err(failed)?;
            (job.progress)(f64::from(frame + 1) / f64::from(count))?;
        }
        Ok(vec![File {
            extension: "webm",
            bytes: film.finish(),
        }])
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        let (width, height) = job.size(480);
        let cloth = Cloth::new(job.input, &job.reading, width, height, &mut job.rng(0));
        Ok(cloth.frame(0.0))
    }
}

/// The properties that stay the same in all frames.
struct Cloth {
    width: u32,
    height: u32,
    noise: Noise,
    dye: Dye,
    accent: Rgb,
    scale: f32,
    orbit: f32,
    sheen: f32,
    /// The brightness of the light.
    light: f32,
    offset: (f32, f32),
    angle: f32,
}

impl Cloth {
    fn new(input: Input<'_>, reading: &Reading, width: u32, height: u32, rng: &mut Rng) -> Self {
        let palette = Palette::of(reading, rng);
        let shine = match reading.named.last() {
            Some(color) => *color,
            None => palette.colors[4],
        };
        let mut cloth = Self {
            width,
            height,
            noise: Noise::new(rng),
            dye: Dye::Ramp(Vec::new()),
            accent: shine.with_lightness(0.95).saturate(0.5).rgb(),
            scale: (1.25 + 0.35 * reading.dense) / width.min(height) as f32,
            orbit: lerp(0.05, 0.55, input.number("motion")) * (1.0 + 0.4 * reading.energy),
            sheen: input.number("sheen"),
            light: (0.75 * reading.light).exp2(),
            offset: (rng.range(0.0, 60.0), rng.range(0.0, 60.0)),
            angle: rng.range(0.0, std::f32::consts::TAU),
        };
        let vivid = 1.0 + 0.3 * reading.vivid;
        cloth.dye = if reading.named.is_empty() {
            let deep = palette.colors[0].with_lightness(0.16);
            Dye::Ramp(vec![
                deep,
                palette.colors[1].saturate(1.25 * vivid),
                palette.colors[2].saturate(1.3 * vivid),
                palette.accent.with_lightness(0.66),
                palette.colors[4],
            ])
        } else {
            Dye::shares(reading, &cloth)
        };
        cloth
    }

    /// Renders the frame at a time of the loop, 0 to 1. The folds are computed at half the resolution, because they are
    /// smooth.
    fn frame(&self, time: f32) -> Canvas {
        let (w, h) = (self.width.div_ceil(2) + 2, self.height.div_ceil(2) + 2);
        let (tx, ty) = (time * std::f32::consts::TAU).sin_cos();
        let (tx, ty) = (tx * self.orbit, ty * self.orbit);
        let mut folds = Vec::with_capacity((w * h) as usize);
        for y in 0..h {
            for x in 0..w {
                folds.push(self.fold(x as f32 * 2.0 - 1.0, y as f32 * 2.0 - 1.0, tx, ty));
            }
        }
        let at = |x: u32, y: u32| folds[(y * w + x) as usize];
        let (sin, cos) = self.angle.sin_cos();
        let small = Canvas::paint(w, h, |px, py| {
            let (x, y) = (px as u32, py as u32);
            let (height, hue) = at(x, y);
            let dx = at((x + 1).min(w - 1), y).0 - at(x.saturating_sub(1), y).0;
            let dy = at(x, (y + 1).min(h - 1)).0 - at(x, y.saturating_sub(1)).0;
            let steep = w.min(h) as f32 * 0.22;
            let (nx, ny) = (dx * steep, dy * steep);
            let up = 1.0 / (1.0 + nx * nx + ny * ny).sqrt();
            let facing = (nx * cos + ny * sin) * up;
            let light = 0.62 + 0.5 * facing;
            let gloss = smoothstep(0.35, 0.95, facing + 0.25 * up).powi(2);
            let color = self.dye.at(hue * 0.75 + height * 0.35 + 0.12).rgb();
            color
                .scale(light.max(0.06) * self.light)
                .plus(self.accent.scale(gloss * self.sheen * 0.55))
        });
        Canvas::paint(self.width, self.height, |x, y| {
            small.sample(x / 2.0 + 0.5, y / 2.0 + 0.5)
        })
    }

    /// Returns the height of the cloth at a point, and its position in the palette; about 0 to 1.
    fn fold(&self, x: f32, y: f32, tx: f32, ty: f32) -> (f32, f32) {
        let n = &self.noise;
        let (u, v) = (
            x * self.scale + self.offset.0,
            y * self.scale + self.offset.1,
        );
        let qx = n.fbm3(u + tx, v, ty, 2);
        let qy = n.fbm3(u + 5.2, v + ty, 1.3 + tx, 2);
        let rx = n.at3(u + 1.9 * qx + 1.7, v + 1.9 * qy + 9.2, 0.4 + ty);
        let ry = n.at3(u + 1.9 * qx + 8.3, v + 1.9 * qy + 2.8, 0.9 + tx);
        let height = n.at3(u + 2.1 * rx, v + 2.1 * ry, tx * 0.6 + 0.3);
        let crease = (height * 2.6 + rx * 1.5).sin() * 0.22;
        (height * 0.55 + crease + 0.35, (qx + ry) * 0.55 + 0.45)
    }
}

/// The colors of the cloth, by the value of the fold at each point.
enum Dye {
    /// A gradient.
    Ramp(Vec<Lab>),
    /// Colors that cover equal areas, each with the highest value that it covers.
    Shares(Vec<(f32, Lab)>),
}

impl Dye {
    /// Creates the colors from those in the prompt.
    fn shares(reading: &Reading, cloth: &Cloth) -> Self {
        let mut values = Vec::new();
        for y in 0..24 {
            for x in 0..24 {
                let (x, y) = (x as f32 / 24.0, y as f32 / 24.0);
                let at = (x * cloth.width as f32, y * cloth.height as f32);
                let (height, hue) = cloth.fold(at.0, at.1, 0.0, cloth.orbit);
                values.push(hue * 0.75 + height * 0.35 + 0.12);
            }
        }
        values.sort_by(f32::total_cmp);
        let colors = reading.colours();
        let count = colors.len();
        let shares = colors.into_iter().enumerate().map(|(i, color)| {
            let last = (i + 1) * values.len() / count - 1;
            // Compensates for the shadows.
            let l = (color.l * 1.12).clamp(0.14, 0.95);
            let color = color.with_lightness(l);
            (values[last], color.saturate(1.1 + 0.3 * reading.vivid))
        });
        Self::Shares(shares.collect())
    }

    fn at(&self, value: f32) -> Lab {
        match self {
            Self::Ramp(stops) => gradient(stops, value),
            Self::Shares(shares) => {
                let mut colors = shares.iter().map(|(_, color)| *color);
                let first = colors.next().unwrap_or_else(|| gradient(&[], 0.0));
                shares
                    .iter()
                    .zip(colors)
                    .fold(first, |mixed, ((border, _), next)| {
                        mixed.mix(next, smoothstep(border - 0.05, border + 0.05, value))
                    })
            }
        }
    }
}
