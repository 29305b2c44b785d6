use serde::{Deserialize, Serialize};

use super::FieldProblem;

/// The body of a failing response of the local service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub success: bool,
    /// A short code, e.g. `invalid_input`.
    pub error: String,
    /// A sentence for the user.
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldProblem>,
}

impl ErrorBody {
    pub fn new(error: &str, message: impl Into<String>) -> Self {
        Self {
            success: false,
            error: error.to_owned(),
            message: message.into(),
            fields: Vec::new(),
        }
    }
}
