//! The usage and limits of an account at a service.

use serde::{Deserialize, Serialize};

/// The response to `GET /api/account`: the account of an access token, its usage and its limits. An extension of
/// INTERFACE. A service that supports it announces it in its model list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    /// The name of the account, which is the `uid` of its calls.
    pub uid: String,
    /// The number of queued tasks.
    #[serde(default)]
    pub waiting: usize,
    /// The number of running tasks.
    #[serde(default)]
    pub running: usize,
    /// The maximum number of queued tasks; `None`: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_waiting: Option<usize>,
    /// The maximum number of running tasks; `None`: limited only by the service's capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_running: Option<usize>,
    /// The disk usage of the account's inputs and outputs at the service, in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// The maximum disk usage in bytes; `None`: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}
