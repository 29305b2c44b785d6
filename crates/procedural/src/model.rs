//! The interface of the models, and a single run.

use atelier_contract::{ModelId, Schema};
use serde_json::{Map, Value};

use crate::Input;
use crate::draw::canvas::Canvas;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::vocabulary::Sense;

/// A prompt with this text fails on purpose, to demonstrate a failure.
pub const FAIL_WORD: &str = "[fail]";

/// A model that makes files from an input.
pub trait Model: Send + Sync {
    /// Returns the name, the identity and the texts of the model.
    fn about(&self) -> About<'_>;

    /// Returns the model's input schema.
    fn schema(&self) -> Schema;

    /// Returns the input of the preview; missing parameters use their defaults.
    fn sample(&self) -> Value;

    /// Returns the model whose preview is the input image of the sample.
    fn sample_source(&self) -> Option<ModelId> {
        None
    }

    /// Returns the extension of the model's files, without the dot.
    fn extension(&self) -> &'static str;

    /// Returns the duration of a run at speed 1, in seconds: long enough to watch its progress.
    fn seconds(&self, input: &Map<String, Value>) -> f64;

    /// Returns whether a word with this meaning in the prompt affects the output.
    fn understands(&self, sense: &Sense) -> bool;

    /// Paints a preview image of the output, for a card.
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error>;

    /// Makes the files. The same input always yields the same bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] with a message if the input is not usable; any error from `job.open` and `job.progress`.
    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error>;
}

/// The name and the descriptions of a model.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub name: &'a str,
    pub category: &'a str,
    pub subcategory: &'a str,
    /// One or two sentences for the list.
    pub description: &'a str,
    /// The paragraphs of the documentation page.
    pub details: &'a [&'a str],
}

/// A file that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The extension without the dot; determines the MIME type.
    pub extension: &'static str,
    pub bytes: Vec<u8>,
}

/// Why a run ended without files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The input is not usable; contains a message for the user.
    Failed(String),
    /// An input file can't be read at present; contains a message for the log. The run may be retried.
    Unavailable(String),
    /// The caller has stopped the run.
    Stopped,
}

/// A run of a model.
pub struct Job<'a> {
    pub input: Input<'a>,
    /// The parsed prompt.
    pub reading: Reading,
    /// Called with the completed fraction of the run, 0 to 1. An error ends the run.
    pub progress: &'a dyn Fn(f64) -> Result<(), Error>,
    /// Reads an earlier output by its URL.
    pub open: &'a dyn Fn(&str) -> Result<Vec<u8>, Error>,
    /// The frame of a poster; `None` for a normal run.
    pub frame: Option<Frame>,
    /// A factor for the width and height of images and videos.
    pub scale: f64,
}

/// The size of a poster in pixels, and the input image for models that need one.
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub original: Option<Canvas>,
}

impl<'a> Job<'a> {
    /// Creates a run of a complete input, without progress reports and earlier outputs.
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

    /// Creates a random number generator from the seed and the prompt. `stream` separates the variations of a task.
    pub(crate) fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.input.integer("seed") ^ self.reading.hash, stream)
    }

    /// Returns the size of an image in pixels, with `long` on its longer side.
    pub(crate) fn size(&self, long: u32) -> (u32, u32) {
        match &self.frame {
            Some(frame) => (frame.width, frame.height),
            None => self.input.size((f64::from(long) * self.scale) as u32),
        }
    }
}

impl dyn Model + '_ {
    /// Runs the model, or fails if the prompt asks for it.
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
