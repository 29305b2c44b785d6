use serde::{Deserialize, Serialize};

/// What every reply is wrapped in (INTERFACE "Envelope of v2 single calls", "Errors" 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    pub success: bool,
    pub data: T,
    /// Present on discovery replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl<T> Envelope<T> {
    /// A successful reply.
    pub fn success(data: T) -> Self {
        Self {
            success: true,
            data,
            message: None,
        }
    }
}
