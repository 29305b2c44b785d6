//! The input schema of a model.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json::Record;
use crate::{ApiError, ModelId, Parameter, serde_through_value};

/// Names that every generate request gives a meaning of its own (INTERFACE "Common request
/// fields"). A schema that lists one of them lists what Atelier fills in.
pub const RESERVED_NAMES: [&str; 3] = ["uid", "category", "subcategory"];

/// The input schema of a model (INTERFACE "Schema").
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub model: ModelId,
    pub parameters: Parameters,
}

/// In the order of the form (INTERFACE "Schema").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// Parameters that must be sent.
    pub required: Vec<Parameter>,
    /// Parameters that may be sent.
    pub optional: Vec<Parameter>,
}

serde_through_value!(Schema);

impl Schema {
    /// Reads the whole body of `GET /api/schema/...` that was asked for this model. Whatever model
    /// the reply names: what is sent, and paid, is the one that a person chose.
    ///
    /// # Errors
    /// [`ApiError::Malformed`] if it has no parameters that can be read.
    pub fn from_body(mut body: Value, model: ModelId) -> Result<Self, ApiError> {
        let data = body.get_mut("data").map(Value::take).unwrap_or_default();
        let schema = Record::read(data).and_then(|mut record| Self::take(&mut record, model));
        schema.ok_or_else(|| ApiError::malformed("the reply has no schema"))
    }

    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let model = ModelId::take(&mut record)?;
        Self::take(&mut record, model)
    }

    fn take(record: &mut Record, model: ModelId) -> Option<Self> {
        Some(Self {
            model,
            parameters: match record.take("parameters") {
                None => Parameters::default(),
                Some(parameters) => Parameters::from_value(parameters)?,
            },
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        self.model.put(&mut record);
        record.put("parameters", self.parameters.to_value());
        record.into_value()
    }

    /// Every parameter that a person fills in, required ones first, each with whether it is
    /// required. A name listed twice counts once.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        let required = self.parameters.required.iter().map(|p| (p, true));
        let optional = self.parameters.optional.iter().map(|p| (p, false));
        let mut seen = BTreeSet::new();
        required.chain(optional).filter(move |(p, _)| {
            let name = p.name.as_str();
            !RESERVED_NAMES.contains(&name) && seen.insert(name)
        })
    }

    /// The parameter of this name and whether it is required.
    pub fn parameter(&self, name: &str) -> Option<(&Parameter, bool)> {
        self.parameters().find(|(p, _)| p.name == name)
    }
}

impl Parameters {
    fn from_value(value: Value) -> Option<Self> {
        // Services in languages that have one word for lists and objects write "none" as a list.
        if value.as_array().is_some_and(Vec::is_empty) {
            return Some(Self::default());
        }
        let mut record = Record::read(value)?;
        Some(Self {
            required: readable(record.take("required")),
            optional: readable(record.take("optional")),
        })
    }

    fn to_value(&self) -> Value {
        let list = |parameters: &[Parameter]| parameters.iter().map(Parameter::to_value).collect();
        let mut record = Record::new();
        record.put("required", Value::Array(list(&self.required)));
        record.put("optional", Value::Array(list(&self.optional)));
        record.into_value()
    }
}

/// Entries that are no parameter (no name, no object) are passed over: a form of what can be read
/// beats none.
fn readable(value: Option<Value>) -> Vec<Parameter> {
    match value {
        Some(Value::Array(entries)) => entries
            .into_iter()
            .filter_map(Parameter::from_value)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn odd_lists_give_what_can_be_read() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}, 5, {"type": "string"},
                             {"name": "uid", "type": "string"}],
                "optional": null
            }
        }))
        .unwrap();
        let names: Vec<_> = schema
            .parameters()
            .map(|(p, r)| (p.name.as_str(), r))
            .collect();
        assert_eq!(names, [("prompt", true)]);
    }
}
