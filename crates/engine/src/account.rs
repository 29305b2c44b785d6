//! The account that a task belongs to.

use atelier_contract::{ApiError, ServiceAddress};
use serde::{Deserialize, Serialize};

/// Where and as whom a task was submitted. A task is only ever polled there and as them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    /// The service's address; empty for the page's own origin.
    pub address: String,
    pub uid: String,
}

impl Account {
    /// Tells a person what an error of a call to this service means, for a page of this origin.
    pub fn user_message(&self, error: &ApiError, page_origin: &str) -> String {
        match ServiceAddress::parse(&self.address) {
            Ok(address) => error.user_message_of(&address, page_origin),
            Err(_) => error.user_message(),
        }
    }
}
