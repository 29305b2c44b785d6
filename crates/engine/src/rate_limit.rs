//! The rate limit of a service.

use crate::Millis;

/// A wait that a service has asked for, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// The service's address.
    pub address: String,
    /// When calls are allowed again, in ms since 1970-01-01 UTC.
    pub until: Millis,
    /// When the service set the limit, in ms since 1970-01-01 UTC. Earlier versions did not store it.
    pub since: Option<Millis>,
}
