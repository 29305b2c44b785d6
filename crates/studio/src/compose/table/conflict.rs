//! Handles two tabs that have changed the same table without seeing each other's change. One version is shown, and the
//! rows of the other are put aside, so that none are lost.

use super::Table;
use crate::text::plural::counted;

/// Rows that were put aside.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    pub table: Table,
    pub reason: ConflictReason,
}

/// Why rows were put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictReason {
    /// The rows of this tab: another tab has changed the table later.
    Replaced,
    /// The rows of another tab: this tab has changed the table later.
    Replacing,
    /// The rows were stored by an earlier version of Atelier.
    Earlier,
    /// The user has chosen the other rows.
    Chosen,
}

impl Conflict {
    /// Puts a table aside in favor of the `shown` one; `None` if nothing would be lost.
    pub fn detect(shown: &Table, table: Table, reason: ConflictReason) -> Option<Self> {
        let is_lost = !table.is_empty() && !table.looks_like(shown);
        is_lost.then_some(Self { table, reason })
    }

    /// Returns the message for the user.
    pub fn user_message(&self) -> String {
        let rows = counted(self.table.rows().len(), "row");
        match self.reason {
            ConflictReason::Replaced => format!(
                "Another tab changed this table last, so its rows are shown. Put aside from this tab: {rows}."
            ),
            ConflictReason::Replacing => format!(
                "Another tab also changed this table, but earlier. Put aside from that tab: {rows}."
            ),
            ConflictReason::Earlier => {
                format!(
                    "An earlier version of Atelier has stored other rows for this model: {rows}."
                )
            }
            ConflictReason::Chosen => format!("The previous rows were put aside: {rows}."),
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
    fn a_table_is_put_aside_only_if_rows_would_be_lost() {
        let shown = table(&["a"]);
        for (other, is_put_aside) in [(&[][..], false), (&["a"], false), (&["b"], true)] {
            let conflict = Conflict::detect(&shown, table(other), ConflictReason::Replaced);
            assert_eq!(conflict.is_some(), is_put_aside, "{other:?}");
        }
    }

    #[test]
    fn the_message_counts_the_rows_that_were_put_aside() {
        for reason in [
            ConflictReason::Replaced,
            ConflictReason::Replacing,
            ConflictReason::Earlier,
            ConflictReason::Chosen,
        ] {
            let conflict = Conflict::detect(&Table::default(), table(&["a", "b"]), reason);
            let message = conflict.unwrap().user_message();
            assert!(message.ends_with(": 2 rows."), "{message}");
        }
    }
}
