//! Which tasks' outputs are still to be copied, for the page that leads next: this one may be closed
//! the moment after a task has finished, and nobody may look at the output until its address is dead.
//!
//! In `localStorage`, because that is written by the time the call returns.

use crate::browser::local::LocalStore;

const WANTED: &str = "atelier.copies.wanted";

/// Those beyond are copied when they are looked at.
const MAX_REMEMBERED: usize = 1_000;

/// The names of those that finished tasks want (they end in `/`); what was only looked at will be
/// looked at again.
pub(super) fn remember<'a>(wanted: impl Iterator<Item = &'a String>) {
    let names = wanted.filter(|name| name.ends_with('/'));
    let names: Vec<&str> = names.take(MAX_REMEMBERED).map(String::as_str).collect();
    if names.is_empty() {
        LocalStore::Browser.remove(WANTED);
    } else {
        // Refused, they are copied when they are looked at.
        LocalStore::Browser.write(WANTED, &names.join("\n"));
    }
}

pub(super) fn remembered() -> Vec<String> {
    let names = LocalStore::Browser.read(WANTED).unwrap_or_default();
    names.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_names_are_read_and_written_as_they_were() {
        let stored = || LocalStore::Browser.read("atelier.copies.wanted");
        LocalStore::Browser.write("atelier.copies.wanted", "a/\nb/");
        let names = remembered();
        assert_eq!(names, ["a/", "b/"]);
        // What was looked at will be looked at again.
        remember(["a/", "c/0", "", "b/"].map(str::to_owned).iter());
        assert_eq!(stored().as_deref(), Some("a/\nb/"));
        remember([].iter());
        assert_eq!(stored(), None);
        assert!(remembered().is_empty());
        let many: Vec<_> = (0..=MAX_REMEMBERED).map(|n| format!("{n}/")).collect();
        remember(many.iter());
        assert_eq!(remembered(), many[..MAX_REMEMBERED]);
        remember([].iter());
    }
}
