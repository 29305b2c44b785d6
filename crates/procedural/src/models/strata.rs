//! Strata: layered landscapes with atmospheric perspective.

use atelier_contract::{Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::{Feature, Sense, Time};
use crate::pictures::{Picture, variations};
use crate::{About, Error, File, Input, Job, Model, schema};

mod land;
mod mist;
mod sky;
mod water;

pub struct Strata;

const ABOUT: About<'static> = About {
    name: "Strata",
    category: "image",
    subcategory: "strata",
    description: "Layered landscapes: ridges fading into the air, sun or moon, stars, mist and water. Procedural, no AI.",
    details: &[
        "A procedural landscape painter: it computes ridge after ridge from noise and paints them through air, from the far ones, which take the color of the sky, to the near, dark ones. There is no AI in it.",
        "Words it knows set the scene: dawn, sunset, night, ocean, lake, forest, desert, winter, mist, stars, moon, storm, calm, and the names of colors. Any other word still changes the picture.",
    ],
};

/// The parameters of a landscape.
pub(super) struct Scene {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    pub reading: Reading,
    pub time: Time,
    /// 0 clear to 1, where the far ridges are hidden.
    pub mist: f32,
    /// The number of ridges, one behind the other.
    pub layers: usize,
    /// The y coordinate of the horizon, in pixels from the top.
    pub horizon: f32,
    pub water: bool,
}

impl Model for Strata {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![schema::prompt(
                self,
                "The landscape: a place, a time of day, a mood, colors.",
            )],
            vec![
                schema::aspect_ratio("3:2"),
                Parameter::choice(
                    "time_of_day",
                    &["auto", "dawn", "day", "sunset", "night"],
                    "auto",
                    "The light. With auto the prompt decides, or chance.",
                ),
                Parameter::integer(
                    "layers",
                    6,
                    2,
                    12,
                    "How many ridges stand behind each other.",
                ),
                Parameter::float(
                    "mist",
                    0.4,
                    0.0,
                    1.0,
                    "How much mist lies between the ridges and on the water. At 0 the air is clear, at 1 the far ridges vanish.",
                ),
                Parameter::choice(
                    "water",
                    &["auto", "still", "none"],
                    "auto",
                    "Whether the land is mirrored in water. With auto the prompt decides.",
                ),
                Parameter::boolean("grain", true, "Adds fine film grain."),
                schema::num_outputs(),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({
            "prompt": "forest lake at dawn, teal and peach, mist",
            "aspect_ratio": "3:2",
            "seed": 4
        })
    }

    fn extension(&self) -> &'static str {
        "png"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        2.0 + Input(input).integer("num_outputs") as f64
    }

    fn understands(&self, sense: &Sense) -> bool {
        match sense {
            Sense::Ground(_) | Sense::Dense(_) => false,
            // Joy and sadness affect light and energy instead.
            Sense::Feature(feature) => !matches!(
                feature,
                Feature::Mirrored | Feature::Joyful | Feature::Sad | Feature::Fire | Feature::Rain
            ),
            _ => true,
        }
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        variations(job, paint)
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        Ok(paint(job, &mut job.rng(0)).canvas)
    }
}

/// Paints one landscape.
fn paint(job: &Job<'_>, rng: &mut Rng) -> Picture {
    let (input, reading) = (job.input, &job.reading);
    let (width, height) = job.size(1024);
    let time = match input.text("time_of_day") {
        "dawn" => Time::Dawn,
        "day" => Time::Day,
        "sunset" => Time::Sunset,
        "night" => Time::Night,
        _ => reading.time.unwrap_or_else(|| {
            [
                Time::Dawn,
                Time::Day,
                Time::Sunset,
                Time::Sunset,
                Time::Night,
            ][rng.below(5)]
        }),
    };
    let water = match input.text("water") {
        "still" => true,
        "none" => false,
        _ => reading.has(Feature::Water),
    };
    let fog = if reading.has(Feature::Mist) { 0.3 } else { 0.0 };
    let scene = Scene {
        width,
        height,
        reading: reading.clone(),
        time,
        mist: (input.number("mist") + fog).min(1.0),
        layers: input.integer("layers") as usize,
        horizon: height as f32
            * if water {
                rng.range(0.56, 0.64)
            } else {
                rng.range(0.42, 0.52)
            },
        water,
    };
    let sky = sky::Sky::new(&scene, rng);
    let mut canvas = sky.paint(&scene, rng);
    land::paint(&mut canvas, &scene, &sky, rng);
    if water {
        water::paint(&mut canvas, &scene, &sky, rng);
    }
    let radius = (canvas.unit() * 0.012) as usize;
    canvas.bloom(0.75, radius, 0.35);
    Picture {
        canvas,
        grain: if input.flag("grain") { 1.6 } else { 0.0 },
    }
}
