//! What a service says of an account and its models: account limits, the verdict of a connection test,
//! and how many replies are cached.

pub mod account_status;
pub mod cached_replies;
pub mod verdict;
