//! What tells the long texts of a table's rows from each other, where that is not their beginning.

use std::collections::HashMap;

use atelier_contract::Entry;

use super::Table;
use crate::text::diff::told_by_less;

/// Of more rows not all are compared, and each key press would look at all.
const MAX_ROWS: usize = 200;

impl Table {
    /// Gives, for the texts of these rows that are told by less than all of them, by what. `rows`: their places.
    pub fn told_by_less(&self, columns: &[String], rows: &[usize]) -> HashMap<String, String> {
        if rows.len() > MAX_ROWS {
            return HashMap::new();
        }
        let texts = |column: &String| {
            let rows = rows.iter().filter_map(|at| self.rows.get(*at));
            let entries = rows.filter_map(|row| row.draft.get(column));
            entries.map(Entry::to_text).collect::<Vec<_>>()
        };
        let told = columns
            .iter()
            .flat_map(|column| told_by_less(&texts(column)));
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::{Draft, Schema};
    use serde_json::json;

    /// Guards against rows that look the same because what differs is cut off.
    #[test]
    fn long_texts_that_begin_alike_are_told_by_their_ends() {
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
        let told = |count: usize| {
            let mut table = Table::default();
            table.append(rows(count).collect(), &schema).unwrap();
            let places: Vec<usize> = (0..count).collect();
            table.told_by_less(&["prompt".to_owned()], &places)
        };
        let two = told(2);
        assert!(two[&long("dusk")].ends_with("dusk") && two[&long("dusk")].starts_with('…'));
        assert_eq!(told(MAX_ROWS).len(), 2);
        assert!(told(MAX_ROWS + 1).is_empty());
    }
}
