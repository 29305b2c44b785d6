//! The account that a task belongs to.

use atelier_contract::{ApiError, ServiceAddress};
use serde::{Deserialize, Serialize};

/// A service and a user. A task is polled only with the account with which it was submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    /// The service's address; empty means the page's own origin.
    pub address: String,
    pub uid: String,
}

impl Account {
    /// Returns the message to show for a failed call to this service. `page_origin` is the origin of the page.
    pub fn user_message(&self, error: &ApiError, page_origin: &str) -> String {
        match ServiceAddress::parse(&self.address) {
            Ok(address) => error.user_message_of(&address, page_origin),
            Err(_) => error.user_message(),
        }
    }
}
