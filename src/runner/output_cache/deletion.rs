//! Marks the last deletion of all copies, for all tabs: the leading tab makes the copies, and the user may delete them in
//! another tab.

use crate::browser::clock;
use crate::browser::local::LocalStore;

const KEY: &str = "atelier.copies.deleted";

/// The last deletion of all copies at the time of a request.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Deletion(Option<String>);

impl Deletion {
    /// Returns the last deletion so far.
    pub fn last() -> Self {
        Self(LocalStore::Browser.read(KEY))
    }

    /// Records that all copies are deleted now.
    pub fn mark() {
        LocalStore::Browser.write(KEY, &clock::now().to_string());
    }

    /// Returns whether the user has deleted all copies since this deletion.
    pub fn is_outdated(&self) -> bool {
        *self != Self::last()
    }
}
