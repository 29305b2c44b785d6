//! Finds the parts in which long texts of a table differ, if they have the same beginning.

use std::collections::HashMap;

use atelier_contract::Entry;

use super::Table;
use crate::text::diff::shortened_texts;

/// The maximum number of rows to compare, because each key press compares them again.
const MAX_ROWS: usize = 200;

impl Table {
    /// Returns an excerpt with the distinguishing part for each long text of these rows that has such a part. `rows`
    /// are indexes.
    pub fn shortened_texts(&self, columns: &[String], rows: &[usize]) -> HashMap<String, String> {
        if rows.len() > MAX_ROWS {
            return HashMap::new();
        }
        let texts = |column: &String| {
            let rows = rows.iter().filter_map(|at| self.rows.get(*at));
            let entries = rows.filter_map(|row| row.draft.get(column));
            entries.map(Entry::to_text).collect::<Vec<_>>()
        };
        let excerpts = columns
            .iter()
            .flat_map(|column| shortened_texts(&texts(column)));
        excerpts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::{Draft, Schema};
    use serde_json::json;

    /// Guards against rows that look the same because the difference is truncated.
    #[test]
    fn long_texts_that_begin_alike_are_shown_by_their_ends() {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [{"name": "prompt", "type": "string"}], "optional": []}
        });
        let schema = Schema::from_value(schema).unwrap();
        let long = |time: &str| {
            format!("a wide valley under heavy clouds, seen from a high ridge at {time}")
        };
        let rows = |count: usize| {
            (0..count).map(|at| {
                let mut draft = Draft::default();
                let text = if at % 2 == 0 {
                    long("dawn")
                } else {
                    long("dusk")
                };
                draft.set("prompt", Entry::Text(text));
                draft
            })
        };
        let excerpts = |count: usize| {
            let mut table = Table::default();
            table.append(rows(count).collect(), &schema).unwrap();
            let places: Vec<usize> = (0..count).collect();
            table.shortened_texts(&["prompt".to_owned()], &places)
        };
        let two = excerpts(2);
        assert!(two[&long("dusk")].ends_with("dusk") && two[&long("dusk")].starts_with('…'));
        assert_eq!(excerpts(MAX_ROWS).len(), 2);
        assert!(excerpts(MAX_ROWS + 1).is_empty());
    }
}
