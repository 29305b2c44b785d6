//! The results of each model for its own sample input, rendered when first asked for: previews, as the model makes
//! them, and posters, small pictures of them for cards.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use image_webp::{ColorType, EncoderParams, WebPEncoder};

use crate::art::canvas::Canvas;
use crate::models::sample_path::{self, file_name};
use crate::models::{Ended, Frame, Job, Model, Models, Pace, Stop};
use crate::outputs::{Outputs, POSTERS, PREVIEWS};

/// The width of a poster, in pixels: enough for a card of 320 on a sharp screen.
const WIDTH: u32 = 512;
const HEIGHT: u32 = 320;

/// No poster takes more bytes than this.
const MAX: usize = 20_000;

/// Renders previews and posters, each once.
pub struct Samples {
    models: Arc<Models>,
    outputs: Arc<Outputs>,
    /// One at a time: the first visit asks for all posters at once, and tasks want to run, too.
    rendering: Mutex<()>,
}

impl Samples {
    pub fn new(models: Arc<Models>, outputs: Arc<Outputs>) -> Self {
        Self {
            models,
            outputs,
            rendering: Mutex::default(),
        }
    }

    /// Sees to it that the preview or poster of this path exists; does nothing for any other path.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// The model can't make it, it can't be encoded, or it can't be written for want of room or rights.
    pub fn prepare(&self, path: &str) -> io::Result<()> {
        let is_poster = |model: &dyn Model| sample_path::poster(model) == path;
        let wanted = |model: &dyn Model| sample_path::preview(model) == path || is_poster(model);
        let Some(model) = self.models.here().find(|model| wanted(*model)) else {
            return Ok(());
        };
        let _one_at_a_time = self
            .rendering
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if is_poster(model) {
            self.poster(model)
        } else {
            self.preview(model)
        }
    }

    fn preview(&self, model: &dyn Model) -> io::Result<()> {
        let name = file_name(model, model.extension());
        if self.outputs.has_sample(PREVIEWS, &name)? {
            return Ok(());
        }
        // A sample may be made from another model's preview.
        if let Some(source) = self.source(model) {
            self.preview(source)?;
        }
        let input = self.models.sample_input(model).map_err(io::Error::other)?;
        let job = Job::new(&input, Pace::new(0.0, &Stop::default()), &self.outputs);
        let artifacts = model.make(&job).map_err(as_io_error)?;
        match artifacts.first() {
            Some(artifact) => self.outputs.save_sample(PREVIEWS, &name, &artifact.bytes),
            None => Err(io::Error::other("the sample has no output")),
        }
    }

    fn poster(&self, model: &dyn Model) -> io::Result<()> {
        let name = file_name(model, "webp");
        if self.outputs.has_sample(POSTERS, &name)? {
            return Ok(());
        }
        let bytes = encode(&self.picture(model)?)?;
        self.outputs.save_sample(POSTERS, &name, &bytes)
    }

    fn picture(&self, model: &dyn Model) -> io::Result<Canvas> {
        let original = self.source(model).map(|source| self.picture(source));
        let input = self.models.sample_input(model).map_err(io::Error::other)?;
        let job = Job {
            frame: Some(Frame {
                width: WIDTH,
                height: HEIGHT,
                original: original.transpose()?,
            }),
            ..Job::new(&input, Pace::new(0.0, &Stop::default()), &self.outputs)
        };
        model.poster(&job).map_err(as_io_error)
    }

    fn source(&self, model: &dyn Model) -> Option<&dyn Model> {
        self.models.find(&model.sample_source()?)
    }
}

/// Encodes the picture as well as the format allows.
fn encode(picture: &Canvas) -> io::Result<Vec<u8>> {
    let rgb: Vec<u8> = picture.pixels.iter().flat_map(|p| p.bytes(0.0)).collect();
    let mut file = Vec::new();
    for quality in [85, 70, 55, 40, 25] {
        file.clear();
        let mut params = EncoderParams::default();
        params.use_lossy = true;
        params.lossy_quality = quality;
        let mut encoder = WebPEncoder::new(&mut file);
        encoder.set_params(params);
        encoder
            .encode(&rgb, picture.width, picture.height, ColorType::Rgb8)
            .map_err(io::Error::other)?;
        if file.len() <= MAX {
            break;
        }
    }
    Ok(file)
}

fn as_io_error(ended: Ended) -> io::Error {
    io::Error::other(match ended {
        Ended::Failed(message) | Ended::Hindered(message) => message,
        Ended::Stopped => "stopped".to_owned(),
    })
}
