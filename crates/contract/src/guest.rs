//! Credentials that a service offers to any client.

/// Credentials that a service offers to any client, next to the model list. The local service does,
/// when it accepts every token, so that a first run needs no typing. Not part of INTERFACE: a
/// service that does not know it leaves it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub uid: String,
    pub token: String,
}
