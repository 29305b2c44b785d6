//! The names of the user's files that were uploaded in this visit, for the lineage of new tasks.

use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    /// The names of files by the addresses of the uploads.
    static FILES: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Remembers the name of the file that was uploaded to an address.
pub fn remember(url: &str, name: &str) {
    FILES.with_borrow_mut(|files| files.insert(url.to_owned(), name.to_owned()));
}

/// Forgets all names.
pub fn clear() {
    FILES.take();
}

/// Calls a function with the names of the files by the addresses of the uploads.
pub fn with<T>(act: impl FnOnce(&HashMap<String, String>) -> T) -> T {
    FILES.with_borrow(act)
}
