//! Repaint: an earlier image in another style.

use atelier_contract::{ModelId, Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::color::gradient;
use crate::draw::palette::Palette;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::Sense;
use crate::draw::{lerp, smoothstep};
use crate::pictures::{Picture, variations};
use crate::{About, Error, File, Input, Job, Model, schema};

mod styles;

pub struct Repaint;

const ABOUT: About<'static> = About {
    name: "Repaint",
    category: "image",
    subcategory: "repaint",
    description: "Takes a picture and does it over: duotone, halftone, oil, sorted pixels or a kaleidoscope. Procedural, no AI.",
    details: &[
        "A procedural restyler for pictures that this service has made or that were uploaded to it: give it the address of one. It reads the file from its own disk and fetches nothing, so any other address is refused. There is no AI in it.",
        "It takes PNG, JPEG, WebP and GIF, upright as their EXIF orientation says. Images with more than 1536 pixels on a side are scaled down; transparent pixels become white.",
        "The prompt chooses the colors of the styles that have their own: duotone and halftone.",
    ],
};

impl Model for Repaint {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![
                Parameter::text(
                    "image_url",
                    2_000,
                    "The address of an image that this service made or that was uploaded to it: PNG, JPEG, WebP or GIF. Any other address is refused.",
                ),
                schema::prompt(self, "Colours and a mood for the new picture."),
            ],
            vec![
                Parameter::choice(
                    "style",
                    &["duotone", "halftone", "oil", "pixel-sort", "kaleidoscope"],
                    "duotone",
                    "The manner to paint in.",
                ),
                Parameter::float(
                    "strength",
                    0.7,
                    0.0,
                    1.0,
                    "How far to go: size of dots, of strokes, of folds.",
                ),
                Parameter::float(
                    "keep",
                    0.0,
                    0.0,
                    1.0,
                    "How much of the original shows through.",
                ),
                Parameter::boolean("invert", false, "Turns light and dark around first."),
                schema::num_outputs(),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "navy, coral and cream", "style": "duotone", "seed": 1})
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

    fn understands(&self, sense: &Sense) -> bool {
        matches!(
            sense,
            Sense::Colour(..) | Sense::Hue(_) | Sense::Vivid(_) | Sense::Light(_)
        )
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        let original = original(job)?;
        variations(job, |job, rng| paint(&original, job, rng))
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        Ok(paint(&original(job)?, job, &mut job.rng(0)).canvas)
    }
}

/// Returns the image to repaint.
fn original(job: &Job<'_>) -> Result<Canvas, Error> {
    if let Some(original) = job.frame.as_ref().and_then(|frame| frame.original.as_ref()) {
        return Ok(original.clone());
    }
    let bytes = (job.open)(job.input.text("image_url"))?;
    Canvas::read(&bytes)
        .map_err(|error| Error::Failed(format!("The input image can't be read: {error}.")))
}

fn paint(original: &Canvas, job: &Job<'_>, rng: &mut Rng) -> Picture {
    let (input, reading) = (job.input, &job.reading);
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
        "halftone" => styles::halftone(&source, reading, &palette, strength, rng),
        "oil" => styles::oil(&source, strength, rng),
        "pixel-sort" => styles::pixel_sort(&source, strength, rng),
        "kaleidoscope" => styles::kaleidoscope(&source, strength, rng),
        _ => duotone(&source, reading, &palette, strength, rng),
    };
    let keep = input.number("keep");
    for (pixel, original) in canvas.pixels.iter_mut().zip(&original.pixels) {
        *pixel = pixel.mix(*original, keep);
    }
    Picture { canvas, grain: 1.0 }
}

/// Maps shadows and highlights to two inks.
fn duotone(
    source: &Canvas,
    reading: &Reading,
    palette: &Palette,
    strength: f32,
    rng: &mut Rng,
) -> Canvas {
    let contrast = 1.0 + strength * 0.6;
    let lift = rng.range(-0.03, 0.03) + 0.14 * reading.light;
    if !reading.named.is_empty() {
        return in_colours(source, reading, contrast, lift);
    }
    let vivid = 1.0 + 0.3 * reading.vivid;
    let shadow = palette.colors[0].with_lightness(0.2).saturate(1.4 * vivid);
    let middle = palette.colors[2].saturate(1.25 * vivid);
    let light = palette.accent.with_lightness(0.93).saturate(0.5 * vivid);
    let ramp = [shadow, middle, palette.accent, light];
    Canvas::paint(source.width, source.height, |x, y| {
        let l = source.get(x as i64, y as i64).lab().l;
        let t = ((l - 0.5) * contrast + 0.5 + lift).clamp(0.0, 1.0);
        gradient(&ramp, t).rgb()
    })
}

/// Maps the image to the named colors, from the darkest to the lightest, each for the same area.
fn in_colours(source: &Canvas, reading: &Reading, contrast: f32, lift: f32) -> Canvas {
    let mut lights: Vec<f32> = source.pixels.iter().map(|pixel| pixel.lab().l).collect();
    lights.sort_by(f32::total_cmp);
    let mut colors = reading.named.clone();
    colors.sort_by(|a, b| a.l.total_cmp(&b.l));
    let count = colors.len();
    let borders: Vec<f32> = (1..count)
        .map(|i| lights[i * lights.len() / count])
        .collect();
    let vivid = 1.15 + 0.3 * reading.vivid;
    Canvas::paint(source.width, source.height, |x, y| {
        let l = source.get(x as i64, y as i64).lab().l;
        let color = borders
            .iter()
            .zip(&colors[1..])
            .fold(colors[0], |mixed, (border, next)| {
                mixed.mix(*next, smoothstep(border - 0.06, border + 0.06, l))
            });
        // Preserves the image's own light and shadow within each color.
        let shaded = 0.5 + (l - 0.5) * contrast + lift;
        let own = if count == 1 { 0.1 } else { 0.4 };
        let shaded = lerp(shaded, color.l, own).clamp(0.1, 0.97);
        color.with_lightness(shaded).saturate(vivid).rgb()
    })
}
