//! Two tabs have changed the same table without seeing each other's change. One version is shown, and the rows of the
//! other are put aside, so that nothing is lost without a word.

use super::Table;
use crate::text::plural::counted;

/// Rows that were put aside.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    pub table: Table,
    pub why: Why,
}

/// Why rows were put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// They stood in this tab, and another tab has changed the table later.
    Replaced,
    /// They stood in another tab, and this one has changed the table later.
    Replacing,
    /// An earlier version of Atelier has left them.
    Earlier,
    /// A person has chosen the other rows.
    Chosen,
}

impl Conflict {
    /// Puts a table aside where another one is shown; `None` where nothing would be lost.
    pub fn beside(shown: &Table, table: Table, why: Why) -> Option<Self> {
        let is_missed = !table.is_empty() && !table.looks_like(shown);
        is_missed.then_some(Self { table, why })
    }

    /// What a person is told of it.
    pub fn user_message(&self) -> String {
        let rows = counted(self.table.rows().len(), "row");
        match self.why {
            Why::Replaced => format!(
                "Another tab changed this table later than this one, so its rows are shown. What stood \
             here was put aside: {rows}."
            ),
            Why::Replacing => format!(
                "Another tab had changed this table, too, but earlier than this one. What stood there \
             was put aside: {rows}."
            ),
            Why::Earlier => {
                format!("An earlier Atelier has left other rows for this model: {rows}.")
            }
            Why::Chosen => format!("What stood here before was put aside: {rows}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::Schema;
    use serde_json::json;

    use super::*;

    fn table(prompts: &[&str]) -> Table {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": { "required": [{"name": "prompt", "type": "string"}] }
        }))
        .unwrap();
        let rows: Vec<_> = prompts
            .iter()
            .map(|prompt| json!({ "entries": { "prompt": { "text": prompt } } }))
            .collect();
        Table::from_value(json!({ "rows": rows, "added": [] }), &schema).unwrap()
    }

    #[test]
    fn only_rows_that_would_be_missed_are_put_aside() {
        let shown = table(&["a"]);
        for (other, is_put_aside) in [(&[][..], false), (&["a"], false), (&["b"], true)] {
            let conflict = Conflict::beside(&shown, table(other), Why::Replaced);
            assert_eq!(conflict.is_some(), is_put_aside, "{other:?}");
        }
    }

    #[test]
    fn a_person_is_told_how_many_rows_were_put_aside() {
        for why in [Why::Replaced, Why::Replacing, Why::Earlier, Why::Chosen] {
            let conflict = Conflict::beside(&Table::default(), table(&["a", "b"]), why);
            let message = conflict.unwrap().user_message();
            assert!(message.ends_with(": 2 rows."), "{message}");
        }
    }
}
