//! Which files of rows must be checked before the rows are sent: the service may have deleted them.

use std::collections::{BTreeMap, BTreeSet};

use atelier_contract::Draft;
use atelier_engine::Millis;

use crate::form::media_list;
use crate::text::plural::counted;

/// How long the result of a check is used, in milliseconds.
const VALID_MS: Millis = 600_000;

/// Returns the texts in items that may be addresses of files, each once.
pub fn addresses(items: &[Draft]) -> BTreeSet<String> {
    let entries = items.iter().flat_map(Draft::iter);
    let addresses = entries.flat_map(|(_, entry)| {
        let list = media_list::addresses(Some(entry));
        list.unwrap_or_else(|| vec![entry.to_text()])
    });
    let addresses = addresses.map(|address| address.trim().to_owned());
    addresses.filter(|address| !address.is_empty()).collect()
}

/// The files that were checked, by their addresses.
#[derive(Debug, Default)]
pub struct FileChecks {
    checked: BTreeMap<String, Millis>,
}

impl FileChecks {
    /// Records that the service has replied whether it has a file.
    pub fn record(&mut self, address: &str, now: Millis) {
        self.checked.insert(address.to_owned(), now);
    }

    /// Whether a file must be checked before it is used.
    pub fn is_due(&self, address: &str, now: Millis) -> bool {
        let checked = self.checked.get(address);
        checked.is_none_or(|at| now.saturating_sub(*at) >= VALID_MS || now < *at)
    }
}

/// Returns the message while Generate waits for the checks of `count` files.
pub fn checking_message(count: usize) -> String {
    format!(
        "Checking that the service still has {}. Generate follows.",
        counted(count, "file")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;
    use serde_json::json;

    /// Guards against rows that are sent with a file that was never checked, or was checked long ago.
    #[test]
    fn files_are_due_until_the_service_replied_and_again_later() {
        let mut checks = FileChecks::default();
        assert!(checks.is_due("a", 5));
        checks.record("a", 5);
        assert!(!checks.is_due("a", 5 + VALID_MS - 1));
        assert!(checks.is_due("b", 5));
        assert!(checks.is_due("a", 5 + VALID_MS));
        // The clock was set back.
        assert!(checks.is_due("a", 4));
    }

    #[test]
    fn addresses_are_those_of_cells_and_lists() {
        let mut draft = Draft::default();
        draft.set("image", Entry::Text(" https://a/1.png ".into()));
        draft.set(
            "more",
            Entry::Value(json!(["https://a/2.png", "https://a/1.png"])),
        );
        draft.set("text", Entry::Text(" ".into()));
        let all = addresses(&[draft.clone(), draft]);
        assert_eq!(
            all.into_iter().collect::<Vec<_>>(),
            ["https://a/1.png", "https://a/2.png"]
        );
    }

    #[test]
    fn the_message_counts_the_files() {
        let message = "Checking that the service still has 1 file. Generate follows.";
        assert_eq!(checking_message(1), message);
    }
}
