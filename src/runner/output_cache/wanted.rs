//! Remembers the tasks whose outputs must still be copied, for the next leader. This page may be closed right after a task
//! has finished, and the user may look at the output only after its address has expired.
//!
//! Uses `localStorage`, because its writes are synchronous.

use atelier_engine::TaskKey;
use atelier_studio::output::output_cache::CopyRequest;

use crate::browser::local::LocalStore;

const WANTED: &str = "atelier.copies.wanted";

/// How many tasks are remembered. Outputs of further tasks are copied when they are shown.
const MAX_REMEMBERED: usize = 1_000;

/// Remembers the tasks among these requests. Requests for single outputs are not remembered, because they are made again
/// when the output is shown.
pub(super) fn remember<'a>(requests: impl Iterator<Item = &'a CopyRequest>) {
    let of_tasks = requests.filter(|request| matches!(request, CopyRequest::Task(_)));
    let texts = of_tasks.take(MAX_REMEMBERED).map(CopyRequest::to_text);
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        forget();
    } else {
        // If the browser refuses, the outputs are copied when they are shown.
        LocalStore::Browser.write(WANTED, &texts.join("\n"));
    }
}

/// Forgets all remembered tasks.
pub(super) fn forget() {
    LocalStore::Browser.remove(WANTED);
}

/// Returns the remembered tasks, in order.
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
    fn stored_tasks_are_read_and_written_in_the_same_format() {
        let stored = || LocalStore::Browser.read("atelier.copies.wanted");
        LocalStore::Browser.write("atelier.copies.wanted", "a/\nb/");
        let task = |key: &str| TaskKey(key.to_owned());
        assert_eq!(remembered(), [task("a"), task("b")]);
        // Requests for single outputs are not remembered.
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
