//! Fills cells with a range that was copied from a spreadsheet.

use atelier_contract::{Draft, Entry, Schema};

use super::{Row, Table};
use crate::compose::csv;
use crate::text::plural::counted;

/// Parses a range of cells that was copied from a spreadsheet: rows of the same length, whose cells are separated by tabs.
/// Returns `None` if `text` is not such a range, but belongs into one cell. `takes_lines`: whether the cell may contain line
/// breaks; then, several lines without tabs are one text.
pub fn copied_range(text: &str, takes_lines: bool) -> Option<Vec<Vec<String>>> {
    let rows = csv::read_tab_separated(text);
    let width = rows.first()?.len();
    let is_rectangle = rows.iter().all(|row| row.len() == width);
    let is_range = width > 1 || !takes_lines && rows.len() > 1;
    (is_rectangle && is_range).then_some(rows)
}

/// The cells that [`Table::paste`] has filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Pasted {
    /// The rows before and after.
    changed: Vec<(u64, Draft, Draft)>,
    /// The new rows with their contents.
    added: Vec<(u64, Draft)>,
    width: usize,
}

impl Pasted {
    /// Returns a message such as `Pasted 3 rows of 2 cells.`
    pub fn message(&self) -> String {
        let rows = self.changed.len() + self.added.len();
        format!(
            "Pasted {} of {}.",
            counted(rows, "row"),
            counted(self.width, "cell")
        )
    }
}

impl Table {
    /// Whether [`Self::paste`] adds no rows.
    pub fn has_rows_for(&self, id: u64, range: &[Vec<String>]) -> bool {
        self.waiting_from(id).count() >= range.len()
    }

    fn waiting_from(&self, id: u64) -> impl Iterator<Item = u64> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| row.id).skip_while(move |row| *row != id)
    }

    /// Fills the cells of `columns` with `range`, from the row with this id downwards. Rows are added if there are too few;
    /// `base`: their other values. An empty cell removes the value.
    ///
    /// # Errors
    ///
    /// A message if the range has more columns than `columns`, or if there would be too many rows; the table is unchanged.
    pub fn paste(
        &mut self,
        id: u64,
        columns: &[String],
        range: &[Vec<String>],
        base: &Draft,
        schema: &Schema,
    ) -> Result<Pasted, String> {
        let width = range.first().map_or(0, Vec::len);
        if width > columns.len() {
            return Err(format!(
                "The copied cells have {}, but the table has only {} from this cell on. Add columns, or use Import.",
                counted(width, "column"),
                counted(columns.len(), "column")
            ));
        }
        let ids: Vec<u64> = self.waiting_from(id).take(range.len()).collect();
        let first_added = self.next_id + 1;
        let missing = range.len() - ids.len();
        self.append(vec![base.clone(); missing], schema)?;
        let added: Vec<u64> = (first_added..=self.next_id).collect();
        let draft = |table: &Self, id| table.row(id).map(|(_, row)| row.draft.clone());
        let mut pasted = Pasted {
            changed: Vec::new(),
            added: Vec::new(),
            width,
        };
        for (id, cells) in ids.iter().chain(&added).copied().zip(range) {
            let Some(before) = draft(self, id) else {
                continue;
            };
            for (name, cell) in columns.iter().zip(cells) {
                let entry = (!cell.is_empty()).then(|| Entry::Text(cell.clone()));
                self.set(id, name, entry, schema);
            }
            let after = draft(self, id).unwrap_or_default();
            match added.contains(&id) {
                true => pasted.added.push((id, after)),
                false => pasted.changed.push((id, before, after)),
            }
        }
        Ok(pasted)
    }

    /// Undoes [`Self::paste`], except in rows that were changed or sent since.
    pub fn undo_paste(&mut self, pasted: &Pasted, schema: &Schema) {
        for (id, before, after) in &pasted.changed {
            let is_unchanged = |(_, row): (usize, &Row)| row.is_waiting() && row.draft == *after;
            if self.row(*id).is_some_and(is_unchanged) {
                let names = (before.iter().chain(after.iter())).map(|(name, _)| name.to_owned());
                for name in names.collect::<Vec<_>>() {
                    self.set_entry(*id, &name, before.get(&name).cloned(), schema);
                }
            }
        }
        let is_added = |row: &Row| {
            let mut added = pasted.added.iter();
            row.is_waiting() && added.any(|(id, draft)| *id == row.id && *draft == row.draft)
        };
        if self.rows.iter().any(is_added) {
            self.remove_where(is_added);
        }
    }
}
