//! Until when a service wants no calls.

use crate::Millis;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// The address of the service.
    pub address: String,
    /// When it wants calls again, in ms since 1970.
    pub until: Millis,
    /// When the service said so, in ms since 1970. An earlier version has not kept it.
    pub since: Option<Millis>,
}
