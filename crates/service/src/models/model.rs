//! The interface of every model, and the material that it is given for a run.

use atelier_contract::{Media, ModelId, Schema};
use serde_json::{Map, Value};

use super::{Ended, Input, Pace};
use crate::art::canvas::Canvas;
use crate::art::prompt::Reading;
use crate::art::rng::Rng;
use crate::art::vocabulary::Sense;
use crate::outputs::{Artifact, Outputs};

/// A prompt that contains this fails on purpose, to show what a failure looks like.
pub const FAIL_WORD: &str = "[fail]";

/// Something that makes files from an input.
pub trait Model: Send + Sync {
    /// Name, identity and words for people.
    fn about(&self) -> About<'_>;

    /// Gives the model's input schema.
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
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Ended>;

    /// Does the work. Same input, same bytes.
    ///
    /// # Errors
    ///
    /// [`Ended::Failed`] with a sentence if the input can't be worked on, for instance because an earlier
    /// output that it names is gone; [`Ended::Stopped`] when the service stops.
    fn run(&self, job: &Job<'_>) -> Result<Vec<Artifact>, Ended>;
}

/// The name of a model and a description of it.
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
    /// The prompt, as it was read.
    pub reading: Reading,
    pub pace: Pace,
    pub outputs: &'a Outputs,
    /// The frame that a poster is painted into.
    pub frame: Option<Frame>,
    /// Multiplies the sides of pictures and films.
    pub scale: f64,
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
            scale: 1.0,
        }
    }

    /// The dice of the seed and the prompt. `stream` tells apart the variations of a task.
    pub(super) fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.input.integer("seed") ^ self.reading.hash, stream)
    }

    /// The size of a picture in pixels, `long` on its longer side.
    pub(super) fn size(&self, long: u32) -> (u32, u32) {
        match &self.frame {
            Some(frame) => (frame.width, frame.height),
            None => self.input.size((f64::from(long) * self.scale) as u32),
        }
    }
}

impl dyn Model + '_ {
    pub fn id(&self) -> ModelId {
        let about = self.about();
        ModelId::new(about.category, about.subcategory)
    }

    /// Gives the medium of the model's files.
    pub fn makes(&self) -> Option<Media> {
        match self.extension() {
            "png" => Some(Media::Image),
            "webm" => Some(Media::Video),
            "wav" => Some(Media::Audio),
            _ => None,
        }
    }

    /// Runs the model, or fails where the prompt asks for it.
    ///
    /// # Errors
    ///
    /// As for [`Model::run`]; also [`Ended::Failed`] if the prompt contains [`FAIL_WORD`].
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
