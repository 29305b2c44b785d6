use atelier_contract::json;
use serde_json::Value;

use super::Task;
use crate::Phase;

impl Task {
    /// Decodes a record. `None` if a known field is invalid; partial records are rejected. A state of a later release becomes
    /// a status of the service, so that the service is asked about the task.
    pub fn from_value(mut value: Value) -> Option<Self> {
        if let Some(state) = value.get_mut("state") {
            read_later_state(state);
        }
        json::decode(value)
    }

    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// Encodes the record for storage, without the progress. This is much faster than [`Task::to_value`], because a
    /// thousand records may be stored at once.
    pub fn to_text(&self) -> String {
        if self.has_progress() {
            let mut task = self.clone();
            task.clear_progress();
            return json::to_text(&task);
        }
        json::to_text(self)
    }
}

/// Replaces a state that this release doesn't know, if the service has an id for the task.
fn read_later_state(state: &mut Value) {
    let word = state.get("state").and_then(Value::as_str);
    let is_known = |word: &str| {
        let mut known = Phase::ALL.iter();
        // Stored as a failure.
        known.any(|phase| *phase != Phase::Canceled && phase.word() == word)
    };
    let Some(word) = word.filter(|word| !is_known(word)).map(Value::from) else {
        return;
    };
    if state.get("id").is_some_and(Value::is_string) {
        state["word"] = word;
        state["state"] = "running".into();
    }
}

/// The default for records of earlier releases.
pub(super) fn is_watched() -> bool {
    true
}

#[cfg(test)]
mod tests;
