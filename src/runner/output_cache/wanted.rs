//! Remembers for the page that leads next which tasks' outputs are still to be copied. This page may be closed the
//! moment after a task has finished, and no person may look at the output until its address is dead.
//!
//! In `localStorage`, because that is written by the time the call returns.

use atelier_engine::TaskKey;
use atelier_studio::output::output_cache::CopyRequest;

use crate::browser::local::LocalStore;

const WANTED: &str = "atelier.copies.wanted";

/// So many tasks are remembered. The outputs of further ones are copied when they are looked at.
const MAX_REMEMBERED: usize = 1_000;

/// Remembers the tasks among these requests; an output that was only looked at will be looked at again.
pub(super) fn remember<'a>(requests: impl Iterator<Item = &'a CopyRequest>) {
    let of_tasks = requests.filter(|request| matches!(request, CopyRequest::Task(_)));
    let texts = of_tasks.take(MAX_REMEMBERED).map(CopyRequest::to_text);
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        forget();
    } else {
        // If the browser refuses, they are copied when they are looked at.
        LocalStore::Browser.write(WANTED, &texts.join("\n"));
    }
}

/// Forgets all of them.
pub(super) fn forget() {
    LocalStore::Browser.remove(WANTED);
}

/// The tasks that were remembered, in their order.
pub(super) fn remembered() -> Vec<TaskKey> {
    let texts = LocalStore::Browser.read(WANTED).unwrap_or_default();
    let requests = texts.lines().map(CopyRequest::read);
    let task = |request| match request {
        CopyRequest::Task(key) => Some(key),
        _ => None,
    };
    requests.filter_map(task).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_names_are_read_and_written_as_they_were() {
        let stored = || LocalStore::Browser.read("atelier.copies.wanted");
        LocalStore::Browser.write("atelier.copies.wanted", "a/\nb/");
        let task = |key: &str| TaskKey(key.to_owned());
        assert_eq!(remembered(), [task("a"), task("b")]);
        // What was looked at will be looked at again.
        remember(["a/", "c/0", "", "b/"].map(CopyRequest::read).iter());
        assert_eq!(stored().as_deref(), Some("a/\nb/"));
        remember([].iter());
        assert_eq!(stored(), None);
        assert!(remembered().is_empty());
        let many: Vec<_> = (0..=MAX_REMEMBERED).map(|n| task(&n.to_string())).collect();
        let requests = many.iter().cloned().map(CopyRequest::Task);
        remember(requests.collect::<Vec<_>>().iter());
        assert_eq!(remembered(), many[..MAX_REMEMBERED]);
        remember([].iter());
    }
}
