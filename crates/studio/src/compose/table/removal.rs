//! Removes rows, and undoes the last removal. The removed rows are not stored, so each tab has its own.

use std::ops::Range;
use std::sync::Arc;

use atelier_contract::{Draft, Schema};
use atelier_engine::BatchPlace;

use super::{Axis, Combine, GridLabels, Row, SentBefore, Table};
use crate::compose::MAX_ROWS;
use crate::text::plural::counted;

/// The place of new rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Below the existing rows.
    Append,
    /// In place of all rows.
    ReplaceAll,
    /// In place of the waiting rows; sent rows stay.
    ReplaceWaiting,
}

/// The last removal. Its rows are unchanged, so that a restored row has the same task key as before, and a sent row
/// stays sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Removal {
    number: u64,
    /// The rows with their indexes.
    rows: Vec<(usize, Row)>,
    /// The ids of the rows that replaced them.
    replacements: Range<u64>,
    added: Vec<String>,
    grid: Option<GridLabels>,
}

impl Table {
    /// Replaces all rows with those of an imported table.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn replace_by_imported(
        &mut self,
        rows: Vec<(usize, Draft)>,
        schema: &Schema,
    ) -> Result<(), String> {
        let put = |table: &mut Self| table.append_imported(rows, schema);
        self.replace_with(|row| !row.is_aside, put)
    }

    /// Inserts the rows of a sweep.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append_sweep`]; the table is unchanged.
    pub fn insert_sweep(
        &mut self,
        place: Placement,
        base: &Draft,
        axes: &[Axis],
        combine: Combine,
        schema: &Schema,
    ) -> Result<(), String> {
        let put = |table: &mut Self| table.append_sweep(base, axes, combine, schema);
        match place {
            Placement::Append => put(self),
            Placement::ReplaceAll => self.replace_with(|row| !row.is_aside, put),
            Placement::ReplaceWaiting => self.replace_with(|row| row.is_waiting(), put),
        }
    }

    fn replace_with(
        &mut self,
        is_removed: impl Fn(&Row) -> bool,
        put: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut new = self.clone();
        new.remove_where(is_removed);
        new.added.clear();
        let first = new.next_id + 1;
        put(&mut new)?;
        if let Some(removal) = &mut new.removal {
            let removal = Arc::make_mut(removal);
            removal.replacements = first..new.next_id + 1;
            let before = SentBefore::of(removal.rows.iter().map(|(_, row)| row));
            for row in new
                .rows
                .iter_mut()
                .filter(|row| removal.is_replacement(row))
            {
                row.earlier = row.earlier.take().or_else(|| before.find(&row.draft));
            }
        }
        *self = new;
        Ok(())
    }

    /// Removes the rows for which `is_removed` is true, so that the removal can be undone.
    pub(super) fn remove_where(&mut self, is_removed: impl Fn(&Row) -> bool) {
        let grid = self.grid.take();
        let all = std::mem::take(&mut self.rows).into_iter().enumerate();
        let (rows, rest): (Vec<_>, Vec<_>) = all.partition(|(_, row)| is_removed(row));
        // Rows that stay may be put aside later. The removed rows alone are not the grid.
        let grid = grid.filter(|_| !rest.iter().any(|(_, row)| row.is_waiting()));
        self.rows = rest.into_iter().map(|(_, row)| row).collect();
        self.removals += 1;
        self.removal = Some(Arc::new(Removal {
            number: self.removals,
            rows,
            replacements: 0..0,
            added: self.added.clone(),
            grid,
        }));
    }

    /// Returns the number of the last removal.
    pub fn last_removal(&self) -> Option<u64> {
        let removal = self.removal.as_ref()?;
        Some(removal.number)
    }

    /// Returns the number of the last removal and its message, such as `Replaced 30 rows by 1.` `None` if it can't be
    /// undone.
    pub fn removal_message(&self) -> Option<(u64, String)> {
        let removal = self.removal.as_ref()?;
        let count = removal.rows.len();
        let remaining = self.rows.iter().filter(|row| !removal.is_replacement(row));
        if count == 0 || remaining.count() + count > MAX_ROWS {
            return None;
        }
        let rows = counted(count, "row");
        let message = match removal.replacements.end - removal.replacements.start {
            0 => format!("Removed {rows}."),
            new => format!("Replaced {rows} by {new}."),
        };
        Some((removal.number, message))
    }

    /// Returns the rows of the last removal.
    pub(super) fn removed_rows(&self) -> impl Iterator<Item = &Row> {
        let removal = self.removal.iter();
        removal.flat_map(|removal| removal.rows.iter().map(|(_, row)| row))
    }

    /// Undoes the last removal. The rows that replaced the removed ones are removed.
    pub fn undo_removal(&mut self) {
        let Some(removal) = self.removal.take() else {
            return;
        };
        self.rows.retain(|row| !removal.is_replacement(row));
        let removal = Arc::unwrap_or_clone(removal);
        if self.unsent() == 0 && removal.rows.iter().any(|(_, row)| row.is_waiting()) {
            self.grid = removal.grid;
        } else if removal.rows.iter().any(|(_, row)| row.is_waiting()) {
            self.grid = None;
        }
        for (at, row) in removal.rows {
            self.rows.insert(at.min(self.rows.len()), row);
        }
        for name in removal.added {
            self.add_column(&name);
        }
    }

    /// Does what [`Table::settle`] does, for rows that were removed while the batch was being stored and may be
    /// restored.
    pub(super) fn settle_removed(&mut self, is_lost: impl Fn(&BatchPlace) -> bool) {
        if let Some(removal) = &mut self.removal {
            for (_, row) in &mut Arc::make_mut(removal).rows {
                if row.sent.as_ref().is_some_and(&is_lost) {
                    row.sent = None;
                }
            }
        }
    }
}

impl Removal {
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut().map(|(_, row)| row)
    }

    fn is_replacement(&self, row: &Row) -> bool {
        row.is_waiting() && self.replacements.contains(&row.id)
    }
}
