//! Account limits, connection tests, and the cache of a service's replies about its models.

pub mod account_status;
pub mod cached_replies;
pub mod verdict;
