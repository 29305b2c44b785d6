//! Reverie: short generated pieces of music.

use atelier_contract::{Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::{Feature, Sense, Time};
use crate::{About, Error, File, Input, Job, Model, schema};

mod score;
mod sound;
mod wave;

pub struct Reverie;

const ABOUT: About<'static> = About {
    name: "Reverie",
    category: "audio",
    subcategory: "reverie",
    description: "Small ambient pieces: soft chords, plucked melodies, a bass, a room. Procedural, no AI.",
    details: &[
        "A procedural composer: it chooses a scale and chords by the prompt's mood, lets a melody wander over them and plays them on synthesised strings. There is no AI in it.",
        "Calm and storm, joy and sadness, light and dark, night, rain and sea are heard. The result is a stereo WAV file.",
    ],
};

/// The sample rate, in samples per second.
const RATE: u32 = 44_100;

impl Model for Reverie {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![schema::prompt(
                self,
                "A mood or a scene, such as: rain at night, hopeful.",
            )],
            vec![
                Parameter::integer("duration", 12, 4, 60, "Length in seconds."),
                Parameter::integer("tempo", 84, 40, 180, "Beats per minute."),
                Parameter::choice(
                    "scale",
                    &[
                        "auto",
                        "major",
                        "minor",
                        "dorian",
                        "lydian",
                        "pentatonic",
                        "hirajoshi",
                    ],
                    "auto",
                    "The notes to choose from. With auto the prompt decides.",
                ),
                Parameter::float(
                    "density",
                    0.55,
                    0.0,
                    1.0,
                    "How many notes the melody plays.",
                ),
                Parameter::float(
                    "room",
                    0.5,
                    0.0,
                    1.0,
                    "The size of the room: how long sounds linger.",
                ),
                Parameter::boolean("bass", true, "Plays a bass below the chords."),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "a calm night by the sea, hopeful", "duration": 10, "seed": 9})
    }

    fn extension(&self) -> &'static str {
        "wav"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        2.0 + (Input(input).integer("duration") as f64 / 10.0).min(4.0)
    }

    fn understands(&self, sense: &Sense) -> bool {
        match sense {
            Sense::Light(_) | Sense::Energy(_) | Sense::AtNight => true,
            Sense::Time(time) => *time == Time::Night,
            Sense::Feature(feature) => matches!(
                feature,
                Feature::Joyful
                    | Feature::Sad
                    | Feature::Rain
                    | Feature::Water
                    | Feature::Stars
                    | Feature::Mist
                    | Feature::Snow
                    | Feature::Fire
            ),
            _ => false,
        }
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        let tape = perform(job, &mut job.rng(0))?;
        let (width, height) = job.size(640);
        Ok(wave::paint(&tape, width, height, &job.reading))
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        let tape = perform(job, &mut job.rng(0))?;
        let bytes = tape
            .wav()
            .map_err(|error| Error::Failed(format!("The sound could not be encoded: {error}.")))?;
        (job.progress)(1.0)?;
        Ok(vec![File {
            extension: "wav",
            bytes,
        }])
    }
}

/// Composes and plays the piece.
fn perform(job: &Job<'_>, rng: &mut Rng) -> Result<sound::Tape, Error> {
    let (input, reading) = (job.input, &job.reading);
    let seconds = input.integer("duration") as f32;
    let style = score::Style {
        scale: score::Scale::of(input.text("scale"), reading, rng),
        tempo: input.integer("tempo") as f32 * (1.0 + 0.08 * reading.energy),
        density: input.number("density"),
        bass: input.flag("bass"),
        bright: reading.light
            - if reading.time == Some(Time::Night) {
                0.3
            } else {
                0.0
            },
        energy: reading.energy,
    };
    let notes = score::compose(&style, seconds, rng);
    (job.progress)(0.2)?;
    let mut tape = sound::Tape::new(seconds, RATE);
    let count = notes.len().max(1);
    for (i, note) in notes.iter().enumerate() {
        tape.play(note, rng);
        (job.progress)(0.2 + 0.5 * (i + 1) as f64 / count as f64)?;
    }
    if reading.has(Feature::Water) || reading.has(Feature::Rain) {
        tape.shore(reading.has(Feature::Rain), rng);
    }
    tape.room(input.number("room"));
    (job.progress)(0.9)?;
    tape.master();
    Ok(tape)
}
