//! Marks in the tab that Generate waits for files, so that the page can report what has interrupted the wait.

use std::cell::RefCell;

use crate::browser::local::LocalStore;

thread_local! {
    /// The keys of the marks that were set since the page was loaded.
    static OWN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What has interrupted a wait.
pub enum Interruption {
    /// The form was left, so that nothing was sent.
    Left,
    /// The page was reloaded. Or the tab was duplicated, and the other tab may send what Generate was pressed for.
    Reloaded,
}

/// Sets a mark, which survives a reload. A browser that refuses to store it reports nothing after a reload.
pub fn set(key: &str) {
    LocalStore::Tab.write(key, "true");
    OWN.with_borrow_mut(|own| own.push(key.to_owned()));
}

/// Removes a mark. Returns the interruption if there was one.
pub fn take(key: &str) -> Option<Interruption> {
    let is_stored = LocalStore::Tab.read(key).is_some();
    LocalStore::Tab.remove(key);
    let is_own = OWN.with_borrow_mut(|own| {
        let before = own.len();
        own.retain(|other| other != key);
        own.len() < before
    });
    match is_own {
        true => Some(Interruption::Left),
        false => is_stored.then_some(Interruption::Reloaded),
    }
}
