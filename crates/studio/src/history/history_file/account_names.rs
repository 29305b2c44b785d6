//! Random names of accounts, by which a browser recognizes its own tasks in an exported history. Unlike a checksum, a
//! random name neither reveals the User ID nor allows a reader to test guesses.

use std::collections::BTreeMap;

use atelier_engine::Account;
use serde::{Deserialize, Serialize};

/// The names of accounts in one browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountNames(BTreeMap<String, String>);

impl AccountNames {
    /// Adds a name from `draw` for an account with a User ID, unless the account has a name. `origin`: the page's
    /// origin.
    pub fn add(&mut self, account: &Account, origin: &str, draw: impl FnOnce() -> String) {
        if !account.uid.is_empty() {
            self.0.entry(key(account, origin)).or_insert_with(draw);
        }
    }

    pub(super) fn get(&self, account: &Account, origin: &str) -> Option<&str> {
        self.0.get(&key(account, origin)).map(String::as_str)
    }
}

/// Returns a unique key for the account. It is unambiguous because addresses have no line breaks.
fn key(account: &Account, origin: &str) -> String {
    format!("{}\n{}", absolute(&account.address, origin), account.uid)
}

/// Returns the absolute address without a trailing slash; an empty one is the page's origin.
pub(super) fn absolute(address: &str, origin: &str) -> String {
    let address = match address.trim() {
        "" => origin,
        address => address,
    };
    address.trim_end_matches('/').to_owned()
}
