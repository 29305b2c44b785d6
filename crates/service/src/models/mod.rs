//! The models: the procedural ones, one file each, all deterministic by their seed; and, beside or
//! instead of them, those that run elsewhere ([`crate::runner`]).

use std::sync::Arc;

use atelier_contract::{Draft, Media, ModelId, Parameter, Problem, Schema};
use serde_json::{Map, Number, Value};

mod fluxfield;
mod input;
mod pace;
mod repaint;
mod reverie;
pub mod schema;
mod silk;
mod strata;
mod tessera;

pub use input::Input;
pub use pace::{Pace, Stop};

use crate::art::canvas::Canvas;
use crate::art::grain::Grain;
use crate::art::prompt::Reading;
use crate::art::rng::Rng;
use crate::art::vocabulary::Sense;
use crate::outputs::{Artifact, Outputs};
use crate::runner::Remote;

/// A prompt that contains this fails on purpose, to show what a failure looks like.
pub const FAIL_WORD: &str = "[fail]";

/// Something that makes files from an input.
pub trait Model: Send + Sync {
    /// Name, identity and words for people.
    fn about(&self) -> About<'_>;

    /// Its input schema.
    fn schema(&self) -> Schema;

    /// The input that its preview shows; parameters left out take their defaults.
    fn sample(&self) -> Value;

    /// The model whose preview the sample takes as its input image.
    fn sample_source(&self) -> Option<ModelId> {
        None
    }

    /// The extension of the files it makes, without the dot.
    fn extension(&self) -> &'static str;

    /// How long a run takes to be watched, in seconds.
    fn seconds(&self, input: &Map<String, Value>) -> f64;

    /// Whether a word of the prompt that says this changes what it makes.
    fn hears(&self, sense: &Sense) -> bool;

    /// A picture of what it makes of the input, for a card.
    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Ended>;

    /// Does the work. Same input, same bytes.
    fn run(&self, job: &Job<'_>) -> Result<Vec<Artifact>, Ended>;

    /// The model itself, if it runs elsewhere: then nothing is made of it here, no sample either.
    fn remote(&self) -> Option<&Remote> {
        None
    }
}

/// What a model is called and what it does.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub name: &'a str,
    pub category: &'a str,
    pub subcategory: &'a str,
    /// One or two sentences for a list.
    pub description: &'a str,
    /// Paragraphs for its documentation page.
    pub details: &'a [&'a str],
}

/// One run: a complete input, the pace to keep, and earlier outputs to read from.
pub struct Job<'a> {
    pub input: Input<'a>,
    /// What the prompt says.
    pub reading: Reading,
    pub pace: Pace,
    pub outputs: &'a Outputs,
    /// What a poster is painted into.
    pub frame: Option<Frame>,
}

/// The size of a poster in pixels, and what a model paints over that needs an image.
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub original: Option<Canvas>,
}

impl<'a> Job<'a> {
    pub fn new(input: &'a Map<String, Value>, pace: Pace, outputs: &'a Outputs) -> Self {
        let input = Input(input);
        Self {
            input,
            reading: Reading::of(input.text("prompt")),
            pace,
            outputs,
            frame: None,
        }
    }

    /// The dice of the seed and the prompt. `stream` tells apart the variations of a task.
    fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.input.integer("seed") ^ self.reading.hash, stream)
    }

    /// The size of a picture in pixels, `long` on its longer side.
    fn size(&self, long: u32) -> (u32, u32) {
        match &self.frame {
            Some(frame) => (frame.width, frame.height),
            None => self.input.size(long),
        }
    }
}

/// Why a run ended without output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The task failed; a sentence for its owner.
    Failed(String),
    /// Something that may pass is in the way, for the log; the task is to be run again.
    Hindered(String),
    /// The service is stopping; the task is to be run again.
    Stopped,
}

impl dyn Model + '_ {
    pub fn id(&self) -> ModelId {
        let about = self.about();
        ModelId::new(about.category, about.subcategory)
    }

    /// What its files are.
    pub fn makes(&self) -> Option<Media> {
        match self.extension() {
            "png" => Some(Media::Image),
            "webm" => Some(Media::Video),
            "wav" => Some(Media::Audio),
            _ => None,
        }
    }

    /// Runs the model, or fails where the prompt asks for it.
    pub fn make(&self, job: &Job<'_>) -> Result<Vec<Artifact>, Ended> {
        if job.input.text("prompt").contains(FAIL_WORD) {
            job.pace.reach(0.6)?;
            return Err(Ended::Failed(format!(
                "The prompt contains {FAIL_WORD}, so this task failed on purpose, after the model had started."
            )));
        }
        self.run(job)
    }
}

/// Every model that this service offers.
pub struct Models(Vec<Arc<dyn Model>>);

impl Models {
    /// The procedural ones.
    pub fn built_in() -> Self {
        Self(vec![
            Arc::new(strata::Strata),
            Arc::new(fluxfield::Fluxfield),
            Arc::new(tessera::Tessera),
            Arc::new(repaint::Repaint),
            Arc::new(silk::Silk),
            Arc::new(reverie::Reverie),
        ])
    }

    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Those that run elsewhere come first: somebody has set them up.
    pub fn add(&mut self, remotes: &[Arc<Remote>]) {
        let remotes = remotes
            .iter()
            .map(|remote| remote.clone() as Arc<dyn Model>);
        self.0.splice(0..0, remotes);
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn Model> {
        self.0.iter().map(Arc::as_ref)
    }

    pub fn find(&self, id: &ModelId) -> Option<&dyn Model> {
        self.iter().find(|model| model.id() == *id)
    }

    /// The complete input of a model's sample.
    pub fn sample_input(&self, model: &dyn Model) -> Result<Map<String, Value>, String> {
        let mut sample = model.sample();
        if let Some(source) = model.sample_source().and_then(|id| self.find(&id)) {
            sample["image_url"] = crate::sample::path(source).into();
        }
        let sample = sample.as_object().cloned().unwrap_or_default();
        complete(&model.schema(), &sample).map_err(|problems| {
            let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
            messages.join("; ")
        })
    }
}

/// Checks the values given and adds what was left out: the defaults, and a seed if there is one
/// to choose. The result says all that decides the output.
pub fn complete(
    schema: &Schema,
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Problem>> {
    let input = schema.validate(&Draft::from_values(values), true)?;
    let mut complete = input.values().clone();
    for (parameter, _) in schema.parameters() {
        if parameter.is_seed() && !complete.contains_key(&parameter.name) {
            let seed = random_within(parameter);
            complete.extend(seed.map(|seed| (parameter.name.clone(), seed.into())));
        }
    }
    Ok(complete)
}

/// A number that the schema permits; none where it does not say which are: a model that runs elsewhere
/// may take fewer than there are.
fn random_within(parameter: &Parameter) -> Option<u64> {
    let most = parameter.maximum.as_ref()?.as_u64()?;
    let least = parameter.minimum.as_ref().and_then(Number::as_u64);
    let (least, random) = (least.unwrap_or(0), getrandom::u64().unwrap_or(0));
    Some(match most.checked_sub(least)?.checked_add(1) {
        Some(count) => least + random % count,
        None => random,
    })
}

/// A picture before it becomes a file.
struct Picture {
    canvas: Canvas,
    /// Strength of the grain, in steps of a byte.
    grain: f32,
}

/// Makes `num_outputs` pictures, each from a stream of random numbers of its own.
fn variations(
    job: &Job<'_>,
    paint: impl Fn(&Job<'_>, &mut Rng) -> Picture,
) -> Result<Vec<Artifact>, Ended> {
    let count = job.input.integer("num_outputs").max(1);
    job.pace.reach(0.1)?;
    (0..count)
        .map(|n| {
            let mut rng = job.rng(n);
            let picture = paint(job, &mut rng);
            let artifact = picture.file(&mut rng)?;
            job.pace.reach(0.1 + 0.9 * (n + 1) as f64 / count as f64)?;
            Ok(artifact)
        })
        .collect()
}

impl Picture {
    fn file(&self, rng: &mut Rng) -> Result<Artifact, Ended> {
        let bytes = self
            .canvas
            .png(&Grain::new(rng, self.grain))
            .map_err(|error| Ended::Failed(format!("The image could not be encoded: {error}.")))?;
        Ok(Artifact {
            extension: "png",
            bytes,
        })
    }
}

#[cfg(test)]
mod tests;
