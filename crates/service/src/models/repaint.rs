//! Repaint: an earlier picture in another manner.

use std::io::ErrorKind;
use std::path::PathBuf;

use atelier_contract::{ModelId, Schema};
use serde_json::{Map, Value, json};

use super::input::Input;
use super::{About, Ended, Job, Model, Picture, schema};
use crate::art::canvas::Canvas;
use crate::art::color::gradient;
use crate::art::palette::Palette;
use crate::art::prompt::Reading;
use crate::art::rng::Rng;
use crate::outputs::Artifact;

mod styles;

pub struct Repaint;

const ABOUT: About = About {
    name: "Repaint",
    category: "image",
    subcategory: "repaint",
    description: "Takes a picture made here and does it over: duotone, halftone, oil, sorted pixels or a kaleidoscope. Procedural, no AI.",
    details: &[
        "A procedural restyler for pictures that this service has made: give it the address of an earlier output. It reads the file from its own disk and fetches nothing, so any other address is refused. There is no AI in it.",
        "The prompt chooses the colours of the styles that have their own: duotone and halftone.",
    ],
};

impl Model for Repaint {
    fn about(&self) -> About {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![
                schema::text(
                    "image_url",
                    2_000,
                    "The address of a PNG image that this service made. Any other address is refused.",
                ),
                schema::prompt("Colours and a mood for the new picture."),
            ],
            vec![
                schema::choice(
                    "style",
                    &["duotone", "halftone", "oil", "pixel-sort", "kaleidoscope"],
                    "duotone",
                    "The manner to paint in.",
                ),
                schema::float(
                    "strength",
                    0.7,
                    0.0,
                    1.0,
                    "How far to go: size of dots, of strokes, of folds.",
                ),
                schema::float(
                    "keep",
                    0.0,
                    0.0,
                    1.0,
                    "How much of the original shows through.",
                ),
                schema::boolean("invert", false, "Turns light and dark around first."),
                schema::num_outputs(),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "indigo and coral", "style": "halftone", "strength": 0.6, "seed": 4})
    }

    fn sample_source(&self) -> Option<ModelId> {
        Some(ModelId::new("image", "strata"))
    }

    fn extension(&self) -> &'static str {
        "png"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        1.5 + 0.75 * Input(input).integer("num_outputs") as f64
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<Artifact>, Ended> {
        let gone = || Ended::Failed("The input image is no longer there.".to_owned());
        let file: PathBuf = job
            .outputs
            .own_file(Input(job.input).text("image_url"))
            .ok_or_else(gone)?;
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(gone()),
            Err(error) => return Err(Ended::Hindered(format!("{}: {error}", file.display()))),
        };
        let original = Canvas::read(&bytes)
            .map_err(|error| Ended::Failed(format!("The input image can't be read: {error}.")))?;
        super::variations(job, |input, reading, rng| {
            paint(&original, input, reading, rng)
        })
    }
}

fn paint(original: &Canvas, input: Input<'_>, reading: &Reading, rng: &mut Rng) -> Picture {
    let palette = Palette::of(reading, rng);
    let mut source = original.clone();
    if input.flag("invert") {
        for pixel in &mut source.pixels {
            let lab = pixel.lab();
            *pixel = lab.with_lightness(1.0 - lab.l).rgb();
        }
    }
    let strength = input.number("strength");
    let mut canvas = match input.text("style") {
        "halftone" => styles::halftone(&source, &palette, strength, rng),
        "oil" => styles::oil(&source, strength, rng),
        "pixel-sort" => styles::pixel_sort(&source, strength, rng),
        "kaleidoscope" => styles::kaleidoscope(&source, strength, rng),
        _ => duotone(&source, &palette, strength, rng),
    };
    let keep = input.number("keep");
    for (pixel, original) in canvas.pixels.iter_mut().zip(&original.pixels) {
        *pixel = pixel.mix(*original, keep);
    }
    Picture { canvas, grain: 1.0 }
}

/// Shadows in one ink, lights in another.
fn duotone(source: &Canvas, palette: &Palette, strength: f32, rng: &mut Rng) -> Canvas {
    let shadow = palette.colors[0].with_lightness(0.2).saturate(1.4);
    let middle = palette.colors[2].saturate(1.25);
    let light = palette.accent.with_lightness(0.93).saturate(0.5);
    let ramp = [shadow, middle, palette.accent, light];
    let contrast = 1.0 + strength * 0.6;
    let lift = rng.range(-0.03, 0.03);
    Canvas::paint(source.width, source.height, |x, y| {
        let l = source.get(x as i64, y as i64).lab().l;
        let t = ((l - 0.5) * contrast + 0.5 + lift).clamp(0.0, 1.0);
        gradient(&ramp, t).rgb()
    })
}
