use atelier_contract::json;
use serde_json::Value;

use super::Task;

impl Task {
    /// Decodes a record. `None` if a known field is invalid; partial records are rejected.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// Encodes the record as text. This is much faster than [`Task::to_value`], because a thousand records may be
    /// stored at once.
    pub fn to_text(&self) -> String {
        json::to_text(self)
    }
}

/// The default for records of earlier releases.
pub(super) fn is_watched() -> bool {
    true
}

#[cfg(test)]
mod tests;
