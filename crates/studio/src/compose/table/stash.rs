//! Rows that the user has put aside. They are not shown, sent or changed until the user brings them back. They are
//! stored with the table.

use super::{Table, too_many};
use crate::compose::MAX_ROWS;
use crate::text::plural::{agreeing, counted};

impl Table {
    /// Puts the waiting rows aside for which `is_selected` is true. Returns their number.
    pub fn put_aside(&mut self, is_selected: impl Fn(&super::Row) -> bool) -> usize {
        let mut count = 0;
        for row in self
            .rows
            .iter_mut()
            .filter(|row| row.is_waiting() && is_selected(row))
        {
            row.is_aside = true;
            count += 1;
        }
        if count > 0 {
            self.grid = None;
            self.addition = None;
        }
        count
    }

    /// Whether all valid rows of the batch were sent and only invalid ones are waiting.
    pub fn has_only_invalid_rows_left(&self) -> bool {
        self.sent() > 0 && self.good() == 0 && self.bad().next().is_some()
    }

    /// Brings back all rows that were put aside.
    ///
    /// # Errors
    ///
    /// A message if there would be too many waiting rows; the table is unchanged.
    pub fn bring_back(&mut self) -> Result<(), String> {
        let count = self.unsent() + self.aside();
        if count > MAX_ROWS {
            return Err(too_many(count));
        }
        for row in &mut self.rows {
            row.is_aside = false;
        }
        self.grid = None;
        Ok(())
    }

    /// Removes the rows that were put aside; see [`Table::undo_removal`].
    pub fn remove_aside(&mut self) {
        let grid = self.grid.clone();
        self.remove_where(|row| row.is_aside);
        self.grid = grid;
    }

    /// Returns the number of rows that were put aside.
    pub fn aside(&self) -> usize {
        self.rows.iter().filter(|row| row.is_aside).count()
    }

    /// Returns a message such as `2 rows are put aside.`; empty if there are none.
    pub fn aside_message(&self) -> String {
        match self.aside() {
            0 => String::new(),
            count => format!(
                "{} {} put aside.",
                counted(count, "row"),
                agreeing(count, "is", "are")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::Entry;

    use super::super::tests::{prompt, schema, send};
    use super::super::{Source, Table, Writer};

    /// Guards against losing, sending or changing rows that were put aside.
    #[test]
    fn rows_put_aside_wait_to_be_brought_back() {
        let schema = schema();
        let mut table = Table::default();
        let mut bad = prompt("b");
        bad.set("steps", Entry::Text("many".into()));
        let rows = vec![(3, prompt("c")), (7, bad), (8, prompt("d"))];
        table.append_imported(rows, &schema).unwrap();
        table.draw_nonces(&mut || 5);
        let before = table.rows().to_vec();
        assert_eq!(table.put_aside(|row| row.source == Source::File(3)), 1);
        assert_eq!((table.unsent(), table.aside()), (2, 1));
        assert_eq!(table.aside_message(), "1 row is put aside.");
        assert_eq!(send(&mut table, "one").0.len(), 1);
        assert!(table.has_only_invalid_rows_left(), "row 7 can't be sent");
        assert_eq!(table.put_aside(|_| true), 1);
        assert!(table.shown().is_empty() && !table.has_only_invalid_rows_left());
        table.clear();
        assert_eq!(table.aside_message(), "2 rows are put aside.");

        let written = Writer::new(table.clone()).finish();
        assert_eq!(written, table.to_value().to_string());
        let mut read = Table::from_value(table.to_value(), &schema).unwrap();
        assert_eq!(read.aside(), 2);
        read.bring_back().unwrap();
        assert_eq!(read.numbers(), [3, 7]);
        let drafts = read.rows().iter().map(|row| &row.draft);
        assert!(drafts.eq(before[..2].iter().map(|row| &row.draft)));

        table.remove_aside();
        assert_eq!((table.aside(), table.rows().len()), (0, 0));
        table.undo_removal();
        assert_eq!(table.aside(), 2);
    }
}
