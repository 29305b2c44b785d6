//! The guest credentials of a service.

/// Credentials that a service offers to all clients in its model list. The local service offers them if it accepts all
/// tokens, so that the first run needs no setup. An extension of INTERFACE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub uid: String,
    pub token: String,
}
