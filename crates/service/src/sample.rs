//! The results of each model for its own sample input, rendered when first asked for: previews, as the model makes
//! them, and posters, small pictures of them for cards.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    making: Making,
    /// One at a time: the first visit asks for all posters at once, and tasks want to run, too. Held while one is
    /// drawn, not while it is looked for or saved, for which a bucket may take long.
    rendering: Mutex<()>,
}

impl Samples {
    pub fn new(models: Arc<Models>, outputs: Arc<Outputs>) -> Self {
        Self {
            models,
            outputs,
            making: Making::default(),
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
        match self.models.here().find(|model| wanted(*model)) {
            None => Ok(()),
            Some(model) if is_poster(model) => self.poster(model),
            Some(model) => self.preview(model),
        }
    }

    fn preview(&self, model: &dyn Model) -> io::Result<()> {
        self.once(PREVIEWS, &file_name(model, model.extension()), || {
            // A sample may be made from another model's preview.
            if let Some(source) = self.source(model) {
                self.preview(source)?;
            }
            let input = self.models.sample_input(model).map_err(io::Error::other)?;
            let job = Job::new(&input, Pace::new(0.0, &Stop::default()), &self.outputs);
            let _one_at_a_time = lock(&self.rendering);
            let artifacts = model.make(&job).map_err(as_io_error)?;
            let first = artifacts.into_iter().next();
            let first = first.ok_or_else(|| io::Error::other("the sample has no output"))?;
            Ok(first.bytes)
        })
    }

    fn poster(&self, model: &dyn Model) -> io::Result<()> {
        self.once(POSTERS, &file_name(model, "webp"), || {
            let _one_at_a_time = lock(&self.rendering);
            encode(&self.picture(model)?)
        })
    }

    fn once(
        &self,
        folder: &str,
        name: &str,
        draw: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let is_there = || self.outputs.has_sample(folder, name);
        self.making.once(&format!("{folder}/{name}"), is_there, || {
            self.outputs.save_sample(folder, name, &draw()?)
        })
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

/// What is being made at present, by name.
#[derive(Default)]
struct Making(Mutex<HashMap<String, Arc<Mutex<()>>>>);

impl Making {
    /// Makes what is not there, once. Nothing waits but for the making of the same thing.
    fn once(
        &self,
        name: &str,
        is_there: impl Fn() -> io::Result<bool>,
        make: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if is_there()? {
            return Ok(());
        }
        let mine = lock(&self.0).entry(name.to_owned()).or_default().clone();
        let _making = lock(&mine);
        // Another call may have made it meanwhile.
        if is_there()? { Ok(()) } else { make() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ended::Failed(message)
        | Ended::Unknown(message)
        | Ended::Hindered(message)
        | Ended::Blocked(message) => message,
        Ended::Stopped => "stopped".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Guards against posters that all wait while a bucket is asked for one of them, or takes one.
    #[test]
    fn one_sample_waits_for_no_other_and_is_made_once() {
        let making = Making::default();
        let made = AtomicUsize::new(0);
        let (go_on, waiting) = channel::<()>();
        let is_there = || Ok(made.load(Ordering::SeqCst) > 0);
        let make = || {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        std::thread::scope(|scope| {
            let (begun, has_begun) = channel();
            let making = &making;
            scope.spawn(move || {
                let save = || {
                    begun.send(()).unwrap();
                    waiting.recv_timeout(Duration::from_secs(60)).unwrap();
                    Ok(())
                };
                making.once("slow", || Ok(false), save).unwrap();
            });
            has_begun.recv_timeout(Duration::from_secs(60)).unwrap();
            // In this thread: what waited for the slow one would wait for ever.
            making.once("quick", is_there, make).unwrap();
            let others: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| making.once("quick", is_there, make).unwrap()))
                .collect();
            assert!(others.into_iter().all(|other| other.join().is_ok()));
            go_on.send(()).unwrap();
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
