//! What an account may have of a service, and how much of it is used.

use serde::{Deserialize, Serialize};

/// `GET /api/account`: which account an access token is of, and what that account takes of what it
/// may have. Additional to INTERFACE; a service that has it says so in its list of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// The name of the account: the `uid` of its calls.
    pub uid: String,
    /// How many of its tasks wait.
    #[serde(default)]
    pub waiting: usize,
    /// How many of its tasks are worked on.
    #[serde(default)]
    pub running: usize,
    /// How many may wait; without a number, as many as come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_waiting: Option<usize>,
    /// How many may be worked on at once; without a number, as many as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_running: Option<usize>,
    /// The bytes that its tasks take on the service's disk, inputs and outputs.
    #[serde(default)]
    pub bytes: u64,
    /// How many bytes they may take; without a number, as many as there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}
