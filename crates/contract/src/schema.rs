use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{ApiError, ModelId, Parameter};

/// Names that every generate request gives a meaning of its own (INTERFACE "Common request
/// fields"). A schema that lists one of them lists what Atelier fills in.
pub const RESERVED_NAMES: [&str; 3] = ["uid", "category", "subcategory"];

/// The input schema of a model (INTERFACE "Schema").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    #[serde(flatten)]
    pub model: ModelId,
    #[serde(default)]
    pub parameters: Parameters,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Parameters that must be sent.
    #[serde(default, deserialize_with = "readable")]
    pub required: Vec<Parameter>,
    /// Parameters that may be sent.
    #[serde(default, deserialize_with = "readable")]
    pub optional: Vec<Parameter>,
}

impl Schema {
    /// Reads the whole body of `GET /api/schema/...`.
    pub fn from_body(mut body: Value) -> Result<Self, ApiError> {
        let data = body.get_mut("data").map(Value::take).unwrap_or_default();
        serde_json::from_value(data).map_err(|_| ApiError::malformed("the reply has no schema"))
    }

    /// Every parameter that a person fills in, required ones first, each with whether it is
    /// required. A name listed twice counts once.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        let required = self.parameters.required.iter().map(|p| (p, true));
        let optional = self.parameters.optional.iter().map(|p| (p, false));
        let mut seen = std::collections::HashSet::new();
        required.chain(optional).filter(move |(p, _)| {
            !RESERVED_NAMES.contains(&p.name.as_str()) && seen.insert(p.name.as_str())
        })
    }

    /// The parameter of this name and whether it is required.
    pub fn parameter(&self, name: &str) -> Option<(&Parameter, bool)> {
        self.parameters().find(|(p, _)| p.name == name)
    }
}

/// Entries that are no parameter (no name, no object) are passed over: a form of what can be read
/// beats none.
fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Parameter>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(entries) => entries
            .into_iter()
            .filter_map(|entry| serde_json::from_value(entry).ok())
            .collect(),
        _ => Vec::new(),
    })
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
