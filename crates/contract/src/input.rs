//! A model's input after it was checked: only this can be sent.

use serde_json::{Map, Value};

use crate::json::Record;
use crate::{ModelId, serde_through_value};

/// A model's input that has passed validation. [`crate::Schema::validate`] makes it, and nothing
/// else does; [`Input::from_value`] is only for reading back what was validated before it was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    model: ModelId,
    values: Map<String, Value>,
}

serde_through_value!(Input);

impl Input {
    pub(crate) fn new(model: ModelId, values: Map<String, Value>) -> Self {
        Self { model, values }
    }

    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let model = ModelId::from_value(record.take("model")?)?;
        match record.take("values")? {
            Value::Object(values) => Some(Self { model, values }),
            _ => None,
        }
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("model", self.model.to_value());
        record.put("values", Value::Object(self.values.clone()));
        record.into_value()
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
        self.titled().map_or("", |(_, text)| text)
    }

    /// The parameter that has the title.
    pub fn title_name(&self) -> Option<&str> {
        self.titled().map(|(name, _)| name)
    }

    fn titled(&self) -> Option<(&str, &str)> {
        let texts = || {
            self.values
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?.trim())))
                .filter(|(_, text)| !text.is_empty())
        };
        texts()
            .find(|(name, _)| *name == "prompt")
            .or_else(|| texts().find(|(name, _)| name.contains("prompt") || name.contains("text")))
            .or_else(|| texts().next())
    }
}
