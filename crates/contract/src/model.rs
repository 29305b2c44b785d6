use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{ApiError, Guest};

/// A model's identity: the pair `category` + `subcategory` (INTERFACE "What the service does").
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelId {
    pub category: String,
    pub subcategory: String,
}

impl ModelId {
    pub fn new(category: impl Into<String>, subcategory: impl Into<String>) -> Self {
        Self {
            category: category.into(),
            subcategory: subcategory.into(),
        }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.category, self.subcategory)
    }
}

/// One entry of `GET /api/models` (INTERFACE "Model entry"). Only the identity is demanded;
/// every other field that is absent or of another type reads as empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    #[serde(default, deserialize_with = "text_or_empty")]
    pub name: String,
    #[serde(flatten)]
    pub id: ModelId,
    #[serde(default, deserialize_with = "text_or_empty")]
    pub description: String,
    #[serde(default, deserialize_with = "default_on_other_shape")]
    pub endpoint: Endpoints,
    #[serde(default, deserialize_with = "text_or_empty")]
    pub documentation: String,
    #[serde(default, deserialize_with = "text_or_empty")]
    pub preview: String,
}

impl Model {
    /// The name to show: the model's own, or its identity where it has none.
    pub fn display_name(&self) -> &str {
        match self.name.trim() {
            "" => &self.id.subcategory,
            name => name,
        }
    }
}

/// The three v2 paths of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Endpoints {
    #[serde(default)]
    pub generate: String,
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub response: String,
}

/// `GET /api/models`, whole. Entries without an identity are counted, not dropped in silence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    pub models: Vec<Model>,
    /// Entries that could not be read.
    pub unreadable: usize,
    /// Credentials for anyone, where the service offers them.
    pub guest: Option<Guest>,
}

impl ModelList {
    /// Reads the whole body of the reply.
    pub fn from_body(mut body: Value) -> Result<Self, ApiError> {
        let Some(Value::Array(entries)) = body.get_mut("data").map(Value::take) else {
            return Err(ApiError::malformed("the reply has no list of models"));
        };
        let guest = body
            .get_mut("guest")
            .and_then(|guest| serde_json::from_value(guest.take()).ok());
        let total = entries.len();
        let models: Vec<Model> = entries
            .into_iter()
            .filter_map(|entry| serde_json::from_value(entry).ok())
            .collect();
        Ok(Self {
            unreadable: total - models.len(),
            models,
            guest,
        })
    }
}

fn text_or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        _ => String::new(),
    })
}

fn default_on_other_shape<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Endpoints, D::Error> {
    let map = Map::deserialize(deserializer).unwrap_or_default();
    Ok(serde_json::from_value(Value::Object(map)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_with_fields_missing_or_of_other_types_is_still_a_model() {
        let list = ModelList::from_body(json!({"success": true, "data": [
            {"category": "image", "subcategory": "a", "name": null, "endpoint": "none", "new": 1},
            {"category": "image"},
            7
        ]}))
        .unwrap();
        assert_eq!(list.models.len(), 1);
        assert_eq!(list.unreadable, 2);
        assert_eq!(list.models[0].display_name(), "a");
    }
}
