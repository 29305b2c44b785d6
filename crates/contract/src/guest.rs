//! The guest credentials of a service.

/// Credentials that a service offers to every client in its model list. The local service does so if it accepts every
/// token, so that a first run needs no setup. An extension of INTERFACE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub uid: String,
    pub token: String,
}
