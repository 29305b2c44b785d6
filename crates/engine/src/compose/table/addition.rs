//! Rows that were put behind others from elsewhere: a person is told, and may take them out again.

use std::ops::Range;

use atelier_contract::{Draft, Schema};

use super::{Row, Table};
use crate::plural::counted;

/// The rows that were added last, and how many were to be sent before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Addition {
    /// Their ids: those of rows that come together follow each other.
    ids: Range<u64>,
    before: usize,
}

impl Table {
    /// As [`Table::append`], and remembers it where rows were here already: with them more would be sent than
    /// the person who adds some has in sight.
    ///
    /// # Errors
    ///
    /// The same sentence; the table stays as it was.
    pub fn add(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        let before = self.rows.len() - self.sent();
        let first = self.next_id + 1;
        self.append(drafts, schema)?;
        let ids = first..self.next_id + 1;
        self.addition = (before > 0 && !ids.is_empty()).then_some(Addition { ids, before });
        Ok(())
    }

    /// `Added 2 rows to the 3 that were here.`, for as long as all of them are here and none is sent.
    pub fn said_of_addition(&self) -> Option<String> {
        let Addition { ids, before } = self.addition.as_ref()?;
        let is_one = |row: &&Row| row.sent.is_none() && ids.contains(&row.id);
        let there = self.rows.iter().filter(is_one).count();
        if there as u64 != ids.end - ids.start {
            return None;
        }
        let others = match before {
            1 => "the one that was".to_owned(),
            before => format!("the {before} that were"),
        };
        Some(format!("Added {} to {others} here.", counted(there, "row")))
    }

    /// Takes out the rows that were added last.
    pub fn undo_addition(&mut self) {
        if let Some(Addition { ids, .. }) = self.addition.take() {
            self.rows
                .retain(|row| row.sent.is_some() || !ids.contains(&row.id));
        }
    }
}
