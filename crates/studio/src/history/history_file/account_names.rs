//! Random names of accounts, by which a browser recognises its own tasks in an exported history: they say nothing of
//! the User ID, even to a reader who has a guess.

use std::collections::BTreeMap;

use atelier_engine::Account;
use serde::{Deserialize, Serialize};

/// The names that one browser has given, by account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountNames(BTreeMap<String, String>);

impl AccountNames {
    /// Gives the account a name that `draw` makes, if it has none; not without a User ID. `origin`: that of the page.
    pub fn add(&mut self, account: &Account, origin: &str, draw: impl FnOnce() -> String) {
        if !account.uid.is_empty() {
            self.0.entry(key(account, origin)).or_insert_with(draw);
        }
    }

    pub(super) fn get(&self, account: &Account, origin: &str) -> Option<&str> {
        self.0.get(&key(account, origin)).map(String::as_str)
    }
}

/// An address has no line break.
fn key(account: &Account, origin: &str) -> String {
    format!("{}\n{}", whole(&account.address, origin), account.uid)
}

/// The address without its last slash; an empty one means the page's own origin.
pub(super) fn whole(address: &str, origin: &str) -> String {
    let address = match address.trim() {
        "" => origin,
        address => address,
    };
    address.trim_end_matches('/').to_owned()
}
