//! The interface of models, and the ways in which a run can end.

use atelier_contract::{Media, ModelId, Schema};
use serde_json::Value;

mod pace;

pub use atelier_procedural::About;
pub use pace::{Ended, Pace, RunStop, Stop};

/// A model, wherever it runs.
pub trait Model: Send + Sync {
    /// Returns the name, identity and description.
    fn about(&self) -> About<'_>;

    /// Returns the model's input schema.
    fn schema(&self) -> Schema;

    /// Returns a sample input for examples and the preview; omitted parameters take their defaults.
    fn sample(&self) -> Value;

    /// Returns the model whose preview is the input image of the sample.
    fn sample_source(&self) -> Option<ModelId> {
        None
    }

    /// Returns the extension of the output files, without the dot.
    fn extension(&self) -> &'static str;
}

impl dyn Model + '_ {
    pub fn id(&self) -> ModelId {
        let about = self.about();
        ModelId::new(about.category, about.subcategory)
    }

    /// Returns the medium of the model's files.
    pub fn makes(&self) -> Option<Media> {
        match self.extension() {
            "png" => Some(Media::Image),
            "webm" => Some(Media::Video),
            "wav" => Some(Media::Audio),
            _ => None,
        }
    }
}

/// A procedural model.
pub struct BuiltIn(Box<dyn atelier_procedural::Model>);

impl BuiltIn {
    /// Returns all built-in models.
    pub fn all() -> Vec<Self> {
        atelier_procedural::models().into_iter().map(Self).collect()
    }

    /// Returns the procedural model.
    pub fn procedural(&self) -> &dyn atelier_procedural::Model {
        self.0.as_ref()
    }
}

impl Model for BuiltIn {
    fn about(&self) -> About<'_> {
        self.0.about()
    }

    fn schema(&self) -> Schema {
        self.0.schema()
    }

    fn sample(&self) -> Value {
        self.0.sample()
    }

    fn sample_source(&self) -> Option<ModelId> {
        self.0.sample_source()
    }

    fn extension(&self) -> &'static str {
        self.0.extension()
    }
}
