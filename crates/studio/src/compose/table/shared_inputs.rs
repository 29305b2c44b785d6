//! Finds the inputs that all rows share. They are shown once, without a column.

use super::Table;
use crate::text::excerpt::excerpt;

/// The name of a parameter, and the text of the value that all rows share.
pub type SharedInput = (String, String);

impl Table {
    /// Returns the inputs that all shown rows share. Empty if there is only one row, or if all rows are equal.
    pub fn shared_inputs(&self, columns: &[String]) -> Vec<SharedInput> {
        let mut rows = self.rows.iter().filter(|row| row.is_waiting());
        let Some(first) = rows.next() else {
            return Vec::new();
        };
        let others: Vec<_> = rows.collect();
        let shared = |name: &String| {
            let entry = first.draft.get(name)?;
            let is_shared = others.iter().all(|row| row.draft.get(name) == Some(entry));
            let text = entry.to_text();
            (is_shared && !text.trim().is_empty()).then(|| (name.clone(), text))
        };
        let shared_inputs: Vec<SharedInput> = columns.iter().filter_map(shared).collect();
        match others.is_empty() || shared_inputs.len() == columns.len() {
            true => Vec::new(),
            false => shared_inputs,
        }
    }
}

/// Returns a message such as `prompt: a lake at dawn · seed: 7, in all rows.`
pub fn shared_inputs_message(shared_inputs: &[SharedInput]) -> String {
    const LONGEST: usize = 60;
    let format = |(name, value): &SharedInput| format!("{name}: {}", excerpt(value, LONGEST));
    let texts: Vec<String> = shared_inputs.iter().map(format).collect();
    format!("{}, in all rows.", texts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::{Draft, Entry, Schema};
    use serde_json::json;

    #[test]
    fn inputs_that_all_rows_share_are_listed_once() {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [], "optional": []}
        });
        let schema = Schema::from_value(schema).unwrap();
        let row = |values: [&str; 3]| {
            let mut draft = Draft::default();
            for (name, value) in ["prompt", "time", "mist"].into_iter().zip(values) {
                draft.set(name, Entry::Text(value.into()));
            }
            draft
        };
        let columns = ["prompt", "time", "mist", "seed"].map(str::to_owned);
        let shared_inputs = |rows: Vec<Draft>| {
            let mut table = Table::default();
            table.append(rows, &schema).unwrap();
            table.shared_inputs(&columns)
        };
        let lake = ("prompt".to_owned(), "a lake".to_owned());
        let rows = vec![row(["a lake", "dawn", ""]), row(["a lake", "noon", ""])];
        assert_eq!(shared_inputs(rows), std::slice::from_ref(&lake));
        assert_eq!(
            shared_inputs_message(&[lake]),
            "prompt: a lake, in all rows."
        );
        assert_eq!(
            shared_inputs(vec![row(["a lake", "dawn", ""])]),
            [],
            "one row"
        );
        assert_eq!(shared_inputs(Vec::new()), []);
    }
}
