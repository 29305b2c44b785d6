//! Previews: what each model makes of its own sample input, rendered when first asked for.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use atelier_contract::ModelId;

use crate::models::{Ended, Job, Model, Models, Pace, Stop};
use crate::outputs::{Outputs, PREVIEWS, ROUTE};

/// Renders previews, each once.
pub struct Samples {
    models: Arc<Models>,
    outputs: Arc<Outputs>,
    /// One lock a model, so that two requests don't render the same preview twice.
    rendering: HashMap<ModelId, Mutex<()>>,
}

/// The path that a model's preview is served at.
pub fn path(model: &dyn Model) -> String {
    format!("{ROUTE}/{PREVIEWS}/{}", file_name(model))
}

fn file_name(model: &dyn Model) -> String {
    let ModelId {
        category,
        subcategory,
    } = model.id();
    // Bound to the program's version: another version may draw another picture.
    let version = env!("CARGO_PKG_VERSION").replace('.', "_");
    format!("{category}_{subcategory}_{version}.{}", model.extension())
}

impl Samples {
    pub fn new(models: Arc<Models>, outputs: Arc<Outputs>) -> Self {
        let rendering = models.iter().map(|m| (m.id(), Mutex::default())).collect();
        Self {
            models,
            outputs,
            rendering,
        }
    }

    /// Sees to it that the preview of this path exists; does nothing for any other path. Blocks.
    pub fn prepare(&self, path: &str) -> io::Result<()> {
        match self.models.iter().find(|model| self::path(*model) == path) {
            Some(model) => self.render(model).map(drop),
            None => Ok(()),
        }
    }

    fn render(&self, model: &dyn Model) -> io::Result<PathBuf> {
        let name = file_name(model);
        let file = self.outputs.preview_file(&name);
        let _one_at_a_time = self
            .rendering
            .get(&model.id())
            .map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
        if file.is_file() {
            return Ok(file);
        }
        // A sample may be made from another model's preview.
        if let Some(source) = model.sample_source().and_then(|id| self.models.find(&id)) {
            self.render(source)?;
        }
        let input = self.models.sample_input(model).map_err(io::Error::other)?;
        let job = Job {
            input: &input,
            pace: Pace::new(0.0, &Stop::default()),
            outputs: &self.outputs,
        };
        let artifact = match model.make(&job) {
            Ok(mut artifacts) if !artifacts.is_empty() => artifacts.swap_remove(0),
            Ok(_) => return Err(io::Error::other("the sample has no output")),
            Err(Ended::Failed(message) | Ended::Hindered(message)) => {
                return Err(io::Error::other(message));
            }
            Err(Ended::Stopped) => return Err(io::Error::other("stopped")),
        };
        self.outputs.save_preview(&name, &artifact.bytes)?;
        Ok(file)
    }
}
