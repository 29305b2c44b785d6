//! The account that a task belongs to.

use atelier_contract::{ApiError, ServiceAddress};
use serde::{Deserialize, Serialize};

/// The service and the user that a task was submitted as. A task is only ever polled with the same account.
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
