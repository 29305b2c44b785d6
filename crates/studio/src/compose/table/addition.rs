//! Records which rows were appended from outside the table, so that the user is informed and can undo it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use atelier_contract::{Draft, Schema};

use super::{Row, Source, Table};
use crate::compose::plan::Plan;
use crate::compose::sweep::WrittenSweep;
use crate::text::plural::counted;

/// The rows that were added last.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Addition {
    /// The ids of the added rows, which are consecutive.
    ids: Range<u64>,
    drafts: Arc<Vec<Draft>>,
    /// The number of rows that were waiting before.
    before: usize,
}

impl Table {
    /// Like [`Table::append`], but records the addition, because the user may not see the earlier rows, which would be
    /// sent, too.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn add(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        self.record_addition(|table| table.append(drafts, schema))
    }

    /// Adds the rows of a sweep that was sent before; see [`Table::append_sweep`].
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append_sweep`]; the table is unchanged.
    pub fn add_sweep(&mut self, sweep: &WrittenSweep, schema: &Schema) -> Result<(), String> {
        let (base, axes) = (sweep.base_with_seed(schema), sweep.read_axes(schema)?);
        self.record_addition(|table| table.append_sweep(&base, &axes, sweep.combine, schema))
    }

    fn record_addition(
        &mut self,
        append: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = self.unsent();
        let first = self.next_id + 1;
        append(self)?;
        let ids = first..self.next_id + 1;
        let added = self.rows.iter().filter(|row| ids.contains(&row.id));
        let drafts: Vec<Draft> = added.map(|row| row.draft.clone()).collect();
        self.addition = (!ids.is_empty()).then(|| Addition {
            ids,
            drafts: Arc::new(drafts),
            before,
        });
        Ok(())
    }

    /// Returns a message such as `Added 2 rows to the 3 existing rows.` `None` if no rows were waiting before, once an
    /// added row is removed or sent, or once all of them are changed.
    pub fn addition_message(&self) -> Option<String> {
        let addition = self.addition.as_ref()?;
        let Addition { ids, before, .. } = addition;
        let is_added = |row: &&Row| row.is_waiting() && ids.contains(&row.id);
        let waiting = self.rows.iter().filter(is_added).count();
        let is_all = waiting as u64 == ids.end - ids.start;
        if *before == 0 || !is_all || !self.rows.iter().any(|row| addition.has_unchanged(row)) {
            return None;
        }
        let others = match before {
            1 => "the existing row".to_owned(),
            before => format!("the {before} existing rows"),
        };
        Some(format!("Added {} to {others}.", counted(waiting, "row")))
    }

    /// Plans sending only the added rows, if Generate would send others with them.
    pub fn added_plan(&self, schema: &Schema) -> Option<Plan> {
        let plan = Plan::of(self.added_to_send(), schema);
        (1..self.good()).contains(&plan.items).then_some(plan)
    }

    /// Returns the drafts of the rows of the last addition that can be sent.
    pub fn added_to_send(&self) -> impl Iterator<Item = &Draft> {
        let ids = self.addition.as_ref().map_or(0..0, |it| it.ids.clone());
        let added = self.to_send().filter(move |row| ids.contains(&row.id));
        added.map(|row| &row.draft)
    }

    /// Runs `act` on the table without the waiting rows that don't belong to the last addition.
    pub fn with_only_added_rows<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let ids = self.addition.as_ref().map_or(0..0, |it| it.ids.clone());
        // The rows keep the numbers that are shown to the user.
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        let numbers: HashMap<u64, usize> = waiting.map(|row| row.id).zip(self.numbers()).collect();
        let sources: HashMap<u64, Source> = (self.rows.iter())
            .filter(|row| ids.contains(&row.id))
            .map(|row| (row.id, row.source))
            .collect();
        for row in self.rows.iter_mut().filter(|row| ids.contains(&row.id)) {
            if let Some(number) = numbers.get(&row.id) {
                row.source = Source::File(*number);
            }
        }
        let all = std::mem::take(&mut self.rows).into_iter().enumerate();
        let (aside, rows): (Vec<_>, Vec<_>) =
            all.partition(|(_, row)| row.is_waiting() && !ids.contains(&row.id));
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
        let done = act(self);
        for row in &mut self.rows {
            if let Some(source) = sources.get(&row.id) {
                row.source = *source;
            }
        }
        for (at, row) in aside {
            self.rows.insert(at.min(self.rows.len()), row);
        }
        done
    }

    /// Removes the rows of the last addition, except those that were changed or sent since.
    pub fn undo_addition(&mut self) {
        if let Some(addition) = self.addition.take() {
            self.remove_where(|row| addition.has_unchanged(row));
        }
    }
}

impl Addition {
    /// Changes the recorded drafts like their rows.
    pub fn change(&mut self, change: impl FnMut(&mut Draft)) {
        Arc::make_mut(&mut self.drafts).iter_mut().for_each(change);
    }

    /// Whether the row was added and is unchanged.
    fn has_unchanged(&self, row: &Row) -> bool {
        let place = row.id.checked_sub(self.ids.start);
        let draft = place.and_then(|at| self.drafts.get(at as usize));
        row.is_waiting() && draft == Some(&row.draft)
    }
}
