//! Finds the inputs that are the same in all rows. They are said once and need no column.

use super::Table;
use crate::text::excerpt::excerpt;

/// A parameter and its value in all rows, as a text.
pub type Alike = (String, String);

impl Table {
    /// Gives the inputs that are the same in all rows that are shown, if there are several rows and they differ in
    /// something.
    pub fn alike(&self, columns: &[String]) -> Vec<Alike> {
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
        let alike: Vec<Alike> = columns.iter().filter_map(shared).collect();
        match others.is_empty() || alike.len() == columns.len() {
            true => Vec::new(),
            false => alike,
        }
    }
}

/// `prompt: a lake at dawn · seed: 7, in all rows.`
pub fn alike_message(alike: &[Alike]) -> String {
    const LONGEST: usize = 60;
    let said = |(name, value): &Alike| format!("{name}: {}", excerpt(value, LONGEST));
    let said: Vec<String> = alike.iter().map(said).collect();
    format!("{}, in all rows.", said.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::{Draft, Entry, Schema};
    use serde_json::json;

    #[test]
    fn what_all_rows_share_is_said_once() {
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
        let alike = |rows: Vec<Draft>| {
            let mut table = Table::default();
            table.append(rows, &schema).unwrap();
            table.alike(&columns)
        };
        let lake = ("prompt".to_owned(), "a lake".to_owned());
        let rows = vec![row(["a lake", "dawn", ""]), row(["a lake", "noon", ""])];
        assert_eq!(alike(rows), std::slice::from_ref(&lake));
        assert_eq!(alike_message(&[lake]), "prompt: a lake, in all rows.");
        assert_eq!(alike(vec![row(["a lake", "dawn", ""])]), [], "one row");
        assert_eq!(alike(Vec::new()), []);
    }
}
