use std::fmt;

use serde_json::Value;

use crate::json::{self, Record};
use crate::{ApiError, Guest, serde_through_value};

/// A model's identity: the pair `category` + `subcategory` (INTERFACE "What the service does").
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    pub fn from_value(value: Value) -> Option<Self> {
        Self::take(&mut Record::read(value)?)
    }

    /// The identity among the fields of a record.
    pub(crate) fn take(record: &mut Record) -> Option<Self> {
        Some(Self {
            category: record.text("category")?,
            subcategory: record.text("subcategory")?,
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        self.put(&mut record);
        record.into_value()
    }

    pub(crate) fn put(&self, record: &mut Record) {
        record.put("category", self.category.as_str().into());
        record.put("subcategory", self.subcategory.as_str().into());
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.category, self.subcategory)
    }
}

/// One entry of `GET /api/models` (INTERFACE "Model entry"). Only the identity is demanded;
/// every other field that is absent or of another type reads as empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub name: String,
    pub id: ModelId,
    pub description: String,
    pub endpoint: Endpoints,
    pub documentation: String,
    pub preview: String,
    /// The address of a small picture of what the model makes. No part of INTERFACE.
    pub poster: Option<String>,
}

serde_through_value!(ModelId, Model);

impl Model {
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let id = ModelId::take(&mut record)?;
        let mut text = |name| record.text(name).unwrap_or_default();
        Some(Self {
            name: text("name"),
            id,
            description: text("description"),
            documentation: text("documentation"),
            preview: text("preview"),
            poster: Some(text("poster")).filter(|poster| !poster.is_empty()),
            endpoint: record
                .take("endpoint")
                .and_then(Endpoints::from_value)
                .unwrap_or_default(),
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("name", self.name.as_str().into());
        self.id.put(&mut record);
        record.put("description", self.description.as_str().into());
        record.put("endpoint", self.endpoint.to_value());
        record.put("documentation", self.documentation.as_str().into());
        record.put("preview", self.preview.as_str().into());
        record.put_some("poster", self.poster.as_deref().map(Value::from));
        record.into_value()
    }

    /// The name to show: the model's own, or its identity where it has none.
    pub fn display_name(&self) -> &str {
        match self.name.trim() {
            "" => &self.id.subcategory,
            name => name,
        }
    }
}

/// The three v2 paths of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Endpoints {
    pub generate: String,
    pub status: String,
    pub response: String,
}

impl Endpoints {
    /// Paths that are absent are empty; one that is no text spoils them all.
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let mut path = |name| match record.take(name) {
            None => Some(String::new()),
            Some(value) => json::text(value),
        };
        Some(Self {
            generate: path("generate")?,
            status: path("status")?,
            response: path("response")?,
        })
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("generate", self.generate.as_str().into());
        record.put("status", self.status.as_str().into());
        record.put("response", self.response.as_str().into());
        record.into_value()
    }
}

/// `GET /api/models`, whole. Entries without an identity are counted, not dropped in silence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    pub models: Vec<Model>,
    /// Entries that could not be read.
    pub unreadable: usize,
    /// Credentials for anyone, where the service offers them.
    pub guest: Option<Guest>,
    /// How many milliseconds the service honours the key of a submission, where it says that it
    /// honours keys.
    pub idempotent_for_ms: Option<u64>,
    /// What the service has beside INTERFACE to take its models elsewhere; see [`Integration`].
    pub integrations: Vec<String>,
}

/// Words for what a service may have beside INTERFACE, in the `integrations` of its list of models.
pub struct Integration;

impl Integration {
    pub const COMFYUI_NODES: &str = "comfyui-nodes";
    pub const OPENAI_FUNCTIONS: &str = "openai-functions";
    pub const MCP: &str = "mcp";
}

impl ModelList {
    /// Reads the whole body of the reply.
    pub fn from_body(mut body: Value) -> Result<Self, ApiError> {
        let Some(Value::Array(entries)) = body.get_mut("data").map(Value::take) else {
            return Err(ApiError::malformed("the reply has no list of models"));
        };
        let guest = body
            .get_mut("guest")
            .and_then(|guest| Guest::from_value(guest.take()));
        let idempotent_for_ms = body
            .pointer("/idempotency_key/ttl_seconds")
            .and_then(Value::as_f64)
            .map(|seconds| (seconds * 1_000.0) as u64);
        let integrations = match body.get_mut("integrations").map(Value::take) {
            Some(Value::Array(words)) => words.into_iter().filter_map(json::text).collect(),
            _ => Vec::new(),
        };
        let total = entries.len();
        let models: Vec<Model> = entries.into_iter().filter_map(Model::from_value).collect();
        Ok(Self {
            unreadable: total - models.len(),
            models,
            guest,
            idempotent_for_ms,
            integrations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_service_says_of_keys_is_read_with_care() {
        let said = |said: Value| {
            let body = json!({"success": true, "data": [], "idempotency_key": said});
            ModelList::from_body(body).unwrap().idempotent_for_ms
        };
        assert_eq!(said(json!({"ttl_seconds": 86400})), Some(86_400_000));
        assert_eq!(said(json!({"ttl_seconds": 1.5, "more": 1})), Some(1_500));
        // How long is what matters: without it nothing is known.
        for odd in [
            json!(true),
            json!({}),
            json!(null),
            json!({"ttl_seconds": "1"}),
        ] {
            assert_eq!(said(odd), None);
        }
        assert_eq!(said(json!({"ttl_seconds": -5})), Some(0));
    }

    #[test]
    fn what_a_service_says_of_integrations_is_read_with_care() {
        let said = |said: Value| {
            let body = json!({"success": true, "data": [], "integrations": said});
            ModelList::from_body(body).unwrap().integrations
        };
        assert_eq!(said(json!(["mcp", 1, "new"])), ["mcp", "new"]);
        for odd in [json!(null), json!("mcp"), json!({"mcp": true})] {
            assert!(said(odd).is_empty());
        }
    }

    #[test]
    fn an_entry_with_fields_missing_or_of_other_types_is_still_a_model() {
        let list = ModelList::from_body(json!({"success": true, "data": [
            {"category": "image", "subcategory": "a", "name": null, "endpoint": "none", "poster": 1,
             "new": 1},
            {"category": "image"},
            7
        ]}))
        .unwrap();
        assert_eq!(list.models.len(), 1);
        assert_eq!(list.unreadable, 2);
        assert_eq!(list.models[0].display_name(), "a");
        assert_eq!(list.models[0].poster, None);
    }
}
