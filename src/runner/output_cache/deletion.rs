//! Marks the last deletion of all copies, for all tabs: the leading tab makes the copies, and the user may delete them in
//! another tab.

use crate::browser::clock;
use crate::browser::local::LocalStore;

const PLACE: &str = "atelier.copies.deleted";

/// The last deletion of all copies when a copy was requested.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Deletion(Option<String>);

impl Deletion {
    /// Returns the last deletion so far.
    pub fn last() -> Self {
        Self(LocalStore::Browser.read(PLACE))
    }

    /// Records that all copies are deleted now.
    pub fn mark() {
        LocalStore::Browser.write(PLACE, &clock::now().to_string());
    }

    /// Returns whether the user has deleted all copies since.
    pub fn is_outdated(&self) -> bool {
        *self != Self::last()
    }
}
