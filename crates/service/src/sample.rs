//! Renders the sample input of each model at the first request: as a preview, and as a poster, which is a small picture
//! for a card.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_procedural::draw::canvas::Canvas;
use atelier_procedural::{Error, Frame, Job, POSTER_BYTES, POSTER_HEIGHT, POSTER_WIDTH};

use crate::model::{BuiltIn, Model};
use crate::models::sample_path::{self, file_name};
use crate::models::{Models, open_output};
use crate::outputs::{Outputs, POSTERS, PREVIEWS};

/// Renders previews and posters, each once.
pub struct Samples {
    models: Arc<Models>,
    outputs: Arc<Outputs>,
    making: Making,
    /// Renders one sample at a time: the first visit requests all posters at once, and would delay tasks. Locked only
    /// during rendering, not during access to a bucket, which may be slow.
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

    /// Renders the preview or poster at this path if it is missing; does nothing for other paths. Blocks.
    ///
    /// # Errors
    ///
    /// The model can't make it, it can't be encoded, or it can't be written.
    pub fn prepare(&self, path: &str) -> io::Result<()> {
        let is_poster = |model: &dyn Model| sample_path::poster(model) == path;
        let wanted = |model: &dyn Model| sample_path::preview(model) == path || is_poster(model);
        match self
            .models
            .built_in_models()
            .iter()
            .find(|model| wanted(*model))
        {
            None => Ok(()),
            Some(model) if is_poster(model) => self.poster(model),
            Some(model) => self.preview(model),
        }
    }

    fn preview(&self, model: &BuiltIn) -> io::Result<()> {
        self.once(PREVIEWS, &file_name(model, model.extension()), || {
            // A sample may be made from another model's preview.
            if let Some(source) = self.source(model) {
                self.preview(source)?;
            }
            let input = self.models.sample_input(model).map_err(io::Error::other)?;
            let job = Job {
                open: &open_output(&self.outputs),
                ..Job::new(&input)
            };
            let _one_at_a_time = lock(&self.rendering);
            let files = model.procedural().make(&job).map_err(as_io_error)?;
            let first = files.into_iter().next();
            let first = first.ok_or_else(|| io::Error::other("the sample has no output"))?;
            Ok(first.bytes)
        })
    }

    fn poster(&self, model: &BuiltIn) -> io::Result<()> {
        self.once(POSTERS, &file_name(model, "webp"), || {
            let _one_at_a_time = lock(&self.rendering);
            self.picture(model)?
                .webp(POSTER_BYTES)
                .map_err(io::Error::other)
        })
    }

    fn once(
        &self,
        folder: &str,
        name: &str,
        draw: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let exists = || self.outputs.has_sample(folder, name);
        self.making.once(&format!("{folder}/{name}"), exists, || {
            self.outputs.save_sample(folder, name, &draw()?)
        })
    }

    fn picture(&self, model: &BuiltIn) -> io::Result<Canvas> {
        let original = self.source(model).map(|source| self.picture(source));
        let input = self.models.sample_input(model).map_err(io::Error::other)?;
        let job = Job {
            frame: Some(Frame {
                width: POSTER_WIDTH,
                height: POSTER_HEIGHT,
                original: original.transpose()?,
            }),
            ..Job::new(&input)
        };
        model.procedural().poster(&job).map_err(as_io_error)
    }

    fn source(&self, model: &BuiltIn) -> Option<&BuiltIn> {
        self.models.find_built_in(&model.sample_source()?)
    }
}

/// The samples in progress, by name.
#[derive(Default)]
struct Making(Mutex<HashMap<String, Arc<Mutex<()>>>>);

impl Making {
    /// Runs `make` once if the sample is missing. Calls only wait for the same sample.
    fn once(
        &self,
        name: &str,
        exists: impl Fn() -> io::Result<bool>,
        make: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if exists()? {
            return Ok(());
        }
        let mine = lock(&self.0).entry(name.to_owned()).or_default().clone();
        let _making = lock(&mine);
        // Another call may have rendered it meanwhile.
        if exists()? { Ok(()) } else { make() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn as_io_error(error: Error) -> io::Error {
    io::Error::other(match error {
        Error::Failed(message) | Error::Unavailable(message) => message,
        Error::Stopped => "stopped".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Guards against posters that wait while a bucket is slow to look up or save another one.
    #[test]
    fn each_sample_is_rendered_once_and_waits_for_no_other() {
        let making = Making::default();
        let made = AtomicUsize::new(0);
        let (go_on, waiting) = channel::<()>();
        let exists = || Ok(made.load(Ordering::SeqCst) > 0);
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
            // Runs in this thread, which would block forever if it waited for the slow sample.
            making.once("quick", exists, make).unwrap();
            let others: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| making.once("quick", exists, make).unwrap()))
                .collect();
            assert!(others.into_iter().all(|other| other.join().is_ok()));
            go_on.send(()).unwrap();
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
