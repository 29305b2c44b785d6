//! A validated input of a model.

use serde_json::{Map, Value};

use crate::json::Record;
use crate::{ModelId, serde_through_value};

/// An input that has passed validation. Only [`crate::Schema::validate`] creates new inputs. [`Input::from_value`]
/// reads stored inputs, which were validated before.
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

    /// Returns the parameters as they are sent, in the schema's order.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the text that distinguishes this input from others of the same model: its prompt, or its first non-empty
    /// text; empty if there is none.
    pub fn title(&self) -> &str {
        self.titled().map_or("", |(_, text)| text)
    }

    /// Returns the name of the parameter that contains the title.
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
