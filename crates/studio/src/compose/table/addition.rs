//! Rows that were put behind others from elsewhere: a person is told, and may take them out again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use atelier_contract::{Draft, Schema};

use super::{Row, Source, Table};
use crate::compose::plan::Plan;
use crate::compose::sweep::WrittenSweep;
use crate::text::plural::counted;

/// The rows that were added last, and how many were to be sent before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Addition {
    /// Their ids: those of rows that come together follow each other.
    ids: Range<u64>,
    drafts: Arc<Vec<Draft>>,
    before: usize,
}

impl Table {
    /// As [`Table::append`], and remembers it: with rows that were here already more would be sent than the person who
    /// adds some has in sight.
    ///
    /// # Errors
    ///
    /// The same sentence; the table stays as it was.
    pub fn add(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        self.remember(|table| table.append(drafts, schema))
    }

    /// The same with the rows of a sweep that was sent before; see [`Table::append_sweep`].
    ///
    /// # Errors
    ///
    /// The same sentence; the table stays as it was.
    pub fn add_sweep(&mut self, sweep: &WrittenSweep, schema: &Schema) -> Result<(), String> {
        let (base, axes) = (sweep.base_with_seed(schema), sweep.read_axes(schema)?);
        self.remember(|table| table.append_sweep(&base, &axes, sweep.combine, schema))
    }

    fn remember(
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

    /// `Added 2 rows to the 3 that were here.`, for as long as all of them are here and none is sent.
    pub fn addition_message(&self) -> Option<String> {
        let addition = self.addition.as_ref()?;
        let Addition { ids, before, .. } = addition;
        let is_one = |row: &&Row| row.is_waiting() && ids.contains(&row.id);
        let there = self.rows.iter().filter(is_one).count();
        let is_all = there as u64 == ids.end - ids.start;
        if *before == 0 || !is_all || !self.rows.iter().any(|row| addition.holds(row)) {
            return None;
        }
        let others = match before {
            1 => "the one that was".to_owned(),
            before => format!("the {before} that were"),
        };
        Some(format!("Added {} to {others} here.", counted(there, "row")))
    }

    /// What sending the rows that were added last will take, where Generate would send others with them.
    pub fn added_plan(&self, schema: &Schema) -> Option<Plan> {
        let addition = self.addition.as_ref()?;
        let added = self.to_send().filter(|row| addition.ids.contains(&row.id));
        let plan = Plan::of(added.map(|row| &row.draft), schema);
        (1..self.good()).contains(&plan.items).then_some(plan)
    }

    /// Acts on the table while the rows that wait are not in it, but for those that were added last.
    pub fn with_added_alone<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let ids = self.addition.as_ref().map_or(0..0, |it| it.ids.clone());
        // They have the numbers that they are shown with.
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

    /// Takes out the rows that were added last, but for those that were changed or sent since.
    pub fn undo_addition(&mut self) {
        if let Some(addition) = self.addition.take() {
            self.take_out(|row| addition.holds(row));
        }
    }
}

impl Addition {
    /// It is one of them, as it came.
    fn holds(&self, row: &Row) -> bool {
        let place = row.id.checked_sub(self.ids.start);
        let draft = place.and_then(|at| self.drafts.get(at as usize));
        row.is_waiting() && draft == Some(&row.draft)
    }
}
