//! The interface of every model, and one run of it.

use atelier_contract::{ModelId, Schema};
use serde_json::{Map, Value};

use crate::Input;
use crate::draw::canvas::Canvas;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::Sense;

/// A prompt that contains this fails on purpose, to show what a failure looks like.
pub const FAIL_WORD: &str = "[fail]";

/// Something that makes files from an input.
pub trait Model: Send + Sync {
    /// Name, identity and words for people.
    fn about(&self) -> About<'_>;

    /// Returns the model's input schema.
    fn schema(&self) -> Schema;

    /// The input that its preview shows; parameters left out take their defaults.
    fn sample(&self) -> Value;

    /// The model whose preview the sample takes as its input image.
    fn sample_source(&self) -> Option<ModelId> {
        None
    }

    /// The extension of the files it makes, without the dot.
    fn extension(&self) -> &'static str;

    /// The duration of a run at speed 1, in seconds: long enough to watch its progress.
    fn seconds(&self, input: &Map<String, Value>) -> f64;

    /// Returns whether a word with this meaning in the prompt changes what the model makes.
    fn understands(&self, sense: &Sense) -> bool;

    /// A picture of what it makes of the input, for a card.
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error>;

    /// Does the work. Same input, same bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] with a sentence if the input can't be worked on; what `job.open` and `job.progress` return.
    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error>;
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

/// One file that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Extension without the dot; decides the type it is served with.
    pub extension: &'static str,
    pub bytes: Vec<u8>,
}

/// Why a run ended without files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The input can't be worked on; a sentence for the user.
    Failed(String),
    /// An input file can't be read at present; for the log. The run is worth repeating.
    Unavailable(String),
    /// The caller has stopped the run.
    Stopped,
}

/// One run of a model.
pub struct Job<'a> {
    pub input: Input<'a>,
    /// The prompt, as it was read.
    pub reading: Reading,
    /// Is called with the part of the run that is done, 0 to 1. Its error ends the run.
    pub progress: &'a dyn Fn(f64) -> Result<(), Error>,
    /// Reads an earlier output by its address.
    pub open: &'a dyn Fn(&str) -> Result<Vec<u8>, Error>,
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
    /// A run of a complete input: every parameter of the schema is there. Without progress or earlier outputs.
    pub fn new(input: &'a Map<String, Value>) -> Self {
        let input = Input(input);
        Self {
            input,
            reading: Reading::of(input.text("prompt")),
            progress: &|_| Ok(()),
            open: &|_| Err(Error::Failed("There are no earlier outputs.".to_owned())),
            frame: None,
            scale: 1.0,
        }
    }

    /// Random numbers of the seed and the prompt. `stream` tells apart the variations of a task.
    pub(crate) fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.input.integer("seed") ^ self.reading.hash, stream)
    }

    /// The size of a picture in pixels, `long` on its longer side.
    pub(crate) fn size(&self, long: u32) -> (u32, u32) {
        match &self.frame {
            Some(frame) => (frame.width, frame.height),
            None => self.input.size((f64::from(long) * self.scale) as u32),
        }
    }
}

impl dyn Model + '_ {
    /// Runs the model, or fails where the prompt asks for it.
    ///
    /// # Errors
    ///
    /// As for [`Model::run`]; also [`Error::Failed`] if the prompt contains [`FAIL_WORD`].
    pub fn make(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        if job.input.text("prompt").contains(FAIL_WORD) {
            (job.progress)(0.6)?;
            return Err(Error::Failed(format!(
                "The prompt contains {FAIL_WORD}, so this task failed on purpose, after the model had started."
            )));
        }
        self.run(job)
    }
}
