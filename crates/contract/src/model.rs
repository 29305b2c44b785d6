//! A model of the service, and its identity.

use std::fmt;

use serde_json::Value;

use crate::json::Record;
use crate::serde_through_value;

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

    /// Reads the identity from the fields of a record.
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

serde_through_value!(ModelId);

/// An entry of `GET /api/models` (INTERFACE "Model entry"). Only the identity is required; all other fields read as
/// empty if they are absent or of another type. The paths in `endpoint` are the same for all models and are not read.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub name: String,
    pub id: ModelId,
    pub description: String,
    pub documentation: String,
    pub preview: String,
    /// The URL of a small picture for the model's card, if there is one. An extension of the interface.
    pub poster: String,
    /// The reason why the model is unavailable at present, if the service reports that; otherwise empty. An extension
    /// of the interface.
    pub unavailable_reason: String,
}

impl Model {
    /// Returns the name to show: the model's own, or its subcategory if it has none.
    pub fn display_name(&self) -> &str {
        match self.name.trim() {
            "" => &self.id.subcategory,
            name => name,
        }
    }
}
