//! The files of rows that must be checked before the rows are sent: the service may have deleted them.

use std::collections::BTreeSet;

use atelier_contract::Draft;

use crate::form::media_list;

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

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;
    use serde_json::json;

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
}
