//! Which rows can be sent, what becomes of those that are, and what is to be sent once more.

use atelier_contract::{Draft, Schema};

use super::{Row, Table};
use crate::compose::plan::Plan;
use crate::compose::sweep::GridLabels;
use crate::output;
use crate::seed::{self, Seeded};
use crate::{BatchKey, BatchPlace};

impl Table {
    fn to_send(&self) -> impl Iterator<Item = &Row> {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
        unsent.filter(|row| row.problems.is_empty())
    }

    /// Rows that can be sent, and are not yet.
    pub fn good(&self) -> usize {
        self.to_send().count()
    }

    /// What sending these will take.
    pub fn plan(&self, schema: &Schema) -> Plan {
        let outputs = self
            .to_send()
            .map(|row| output::expected_count_of(&row.draft, schema));
        Plan {
            items: self.good(),
            outputs: outputs.sum(),
        }
    }

    /// Rows that can't be sent, each with where it stands.
    pub fn bad(&self) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.sent.is_none() && !row.problems.is_empty())
    }

    /// Rows that were sent as they stand here.
    pub fn sent(&self) -> usize {
        self.rows.iter().filter(|row| row.sent.is_some()).count()
    }

    /// A person wants a row that was sent to be sent once more.
    pub fn send_again(&mut self, id: u64) {
        if let Some(at) = self.place(id) {
            self.rows[at].sent = None;
            self.grid = None;
        }
    }

    /// A person wants all that was sent to be sent once more.
    pub fn send_all_again(&mut self) {
        for row in &mut self.rows {
            if row.sent.take().is_some() {
                self.grid = None;
            }
        }
    }

    /// Takes out what was sent.
    pub fn clear_sent(&mut self) {
        self.rows.retain(|row| row.sent.is_none());
    }

    /// What was not sent after all is to be sent again: as it was typed where its row is still here,
    /// else as a new row.
    ///
    /// # Errors
    ///
    /// A sentence, where the new rows are too many; the others are taken back all the same.
    pub fn take_back(
        &mut self,
        items: Vec<(BatchPlace, Draft)>,
        schema: &Schema,
    ) -> Result<(), String> {
        let mut gone = Vec::new();
        for (place, draft) in items {
            let row = self
                .rows
                .iter_mut()
                .find(|row| row.sent.as_ref() == Some(&place));
            match row {
                Some(row) => row.sent = None,
                None => gone.push(draft),
            }
        }
        self.grid = None;
        self.append(gone, schema)
    }

    /// The rows that can be sent, in order, with the grid that they fill. From now on they count as
    /// sent, as items of this batch. A seed that was left alone is drawn from `random`.
    pub fn send_good(
        &mut self,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
    ) -> (Vec<Seeded>, Option<GridLabels>) {
        let mut inputs = Vec::new();
        let mut sent = Vec::new();
        let unsent = self.rows.iter_mut().filter(|row| row.sent.is_none());
        for (at, row) in unsent.enumerate() {
            let settled = seed::settled(&row.draft, schema, random());
            match schema.validate(&settled, send_defaults) {
                Ok(input) => {
                    row.sent = Some(BatchPlace {
                        batch: batch.clone(),
                        index: inputs.len(),
                    });
                    inputs.push(Seeded {
                        input,
                        is_chosen: seed::entry(&row.draft, schema).is_some(),
                    });
                    sent.push(at);
                }
                Err(problems) => row.problems = problems,
            }
        }
        let grid = self.grid.take().map(|grid| GridLabels {
            cells: sent,
            ..grid
        });
        (inputs, grid)
    }
}
