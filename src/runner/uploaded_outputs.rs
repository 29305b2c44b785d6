//! Outputs whose files were uploaded in this visit to be the input of a model. The address of the upload differs from the
//! output's, so the lineage of new tasks needs both.

use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    /// The names of outputs by the addresses of the uploads.
    static OUTPUTS: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Remembers which output was uploaded to an address.
pub fn remember(url: String, output: String) {
    OUTPUTS.with_borrow_mut(|outputs| outputs.insert(url, output));
}

/// Calls a function with the names of the outputs by the addresses of the uploads.
pub fn with<T>(act: impl FnOnce(&HashMap<String, String>) -> T) -> T {
    OUTPUTS.with_borrow(act)
}
