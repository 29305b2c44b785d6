use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ModelId;

/// A model's input that has passed validation. [`crate::Schema::validate`] makes it, and nothing
/// else does; it is deserialised only to read back what was validated before it was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    model: ModelId,
    values: Map<String, Value>,
}

impl Input {
    pub(crate) fn new(model: ModelId, values: Map<String, Value>) -> Self {
        Self { model, values }
    }

    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// The parameters as they will be sent, in the schema's order.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The text that tells this input from others of the same model: its prompt, else its first
    /// non-empty text; empty if it has none.
    pub fn title(&self) -> &str {
        let texts = || {
            self.values
                .iter()
                .filter_map(|(name, value)| Some((name, value.as_str()?.trim())))
                .filter(|(_, text)| !text.is_empty())
        };
        texts()
            .find(|(name, _)| *name == "prompt")
            .or_else(|| texts().find(|(name, _)| name.contains("prompt") || name.contains("text")))
            .or_else(|| texts().next())
            .map_or("", |(_, text)| text)
    }
}
