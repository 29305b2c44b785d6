//! Which rows can be sent, what becomes of those that are, and what is to be sent once more.

use std::collections::{HashMap, HashSet};

use atelier_contract::{Draft, Input, Schema};

use super::{Row, Table};
use crate::compose::plan::Plan;
use crate::compose::sweep::GridLabels;
use crate::compose::way::Way;
use crate::output;
use crate::plural::{agreeing, counted};
use crate::seed;
use crate::{BatchKey, BatchPlace, Millis, TaskKey};

/// An item of a stopped batch.
#[derive(Debug, Clone)]
pub struct TakenBack {
    pub task: TaskKey,
    /// When its task was: one that is retried again has the same key as before.
    pub created: Millis,
    pub place: BatchPlace,
    pub draft: Draft,
}

impl TakenBack {
    fn mark(&self) -> (TaskKey, Millis) {
        (self.task.clone(), self.created)
    }
}

/// A row that is sent.
#[derive(Debug, Clone)]
pub struct Item {
    pub key: TaskKey,
    pub input: Input,
    /// A person has chosen its seed.
    pub seed_chosen: bool,
}

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
        let rows = self.to_send();
        let outputs = rows.map(|row| output::count_of_draft(&row.draft, schema));
        Plan {
            items: self.good(),
            outputs: outputs.fold(0, usize::saturating_add),
        }
    }

    /// Rows that can't be sent as they were filled in, each with where it stands.
    pub fn bad(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.unfit().filter(|(_, row)| !row.is_blank())
    }

    fn unfit(&self) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.sent.is_none() && !row.problems.is_empty())
    }

    /// What Generate would send, or what is to be done before; `offered`: items of a sweep that would be all of it.
    pub fn said(&self, schema: &Schema, offered: usize, way: Way) -> String {
        match (self.good(), offered) {
            (0, 0) if self.is_empty() => way.first_step().to_owned(),
            (0, 0) if self.unsent() == 0 => "Every row has been sent.".to_owned(),
            (0, 0) => String::new(),
            (0, _) => format!("{} of this sweep.", counted(offered, "item")),
            _ => self.plan(schema).user_message(),
        }
    }

    /// What Generate would leave in the table. Where nothing can be sent, it is said elsewhere what is wrong.
    pub fn said_of_rest(&self) -> String {
        let bad = self.bad().count();
        let blank = self.unfit().count() - bad;
        let bad = if self.good() == 0 { 0 } else { bad };
        let stay = |count: usize, what: &str| {
            let verb = agreeing(count, "stays", "stay");
            (count > 0).then(|| format!("{} {verb}.", counted(count, what)))
        };
        let said = [stay(bad, "row"), stay(blank, "empty row")];
        said.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Rows that were sent as they stand here.
    pub fn sent(&self) -> usize {
        self.rows.iter().filter(|row| row.sent.is_some()).count()
    }

    /// Rows that are yet to be sent, whether they can be or not.
    pub fn unsent(&self) -> usize {
        self.rows.len() - self.sent()
    }

    /// A person wants a row that was sent to be sent once more.
    pub fn send_again(&mut self, id: u64) {
        if let Some(at) = self.place(id) {
            self.rows[at].unsend();
            self.grid = None;
        }
    }

    /// A person wants all that was sent to be sent once more.
    pub fn send_all_again(&mut self) {
        for row in &mut self.rows {
            if row.unsend() {
                self.grid = None;
            }
        }
    }

    /// Takes out what was sent.
    pub fn clear_sent(&mut self) {
        self.rows.retain(|row| row.sent.is_none());
    }

    /// What was not sent after all is to be sent again: as it was typed where its row is still here,
    /// else as a new row. What another tab has put back already is left alone.
    ///
    /// # Errors
    ///
    /// A sentence, where the new rows are too many; the others are taken back all the same.
    pub fn take_back(&mut self, items: Vec<TakenBack>, schema: &Schema) -> Result<(), String> {
        let known: HashSet<(TaskKey, Millis)> = self.put_back.drain(..).collect();
        let (done, items): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|item| known.contains(&item.mark()));
        // All others have long lost their records.
        self.put_back = done.iter().map(TakenBack::mark).collect();
        let places = self.rows.iter().enumerate();
        let places: HashMap<BatchPlace, usize> = places
            .filter_map(|(at, row)| Some((row.sent.clone()?, at)))
            .collect();
        let (here, gone): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|item| places.contains_key(&item.place));
        for item in &here {
            self.rows[places[&item.place]].unsend();
        }
        self.put_back.extend(here.iter().map(TakenBack::mark));
        let marks: Vec<_> = gone.iter().map(TakenBack::mark).collect();
        self.grid = None;
        self.append(gone.into_iter().map(|item| item.draft).collect(), schema)?;
        self.put_back.extend(marks);
        Ok(())
    }

    /// Batches of which it is not known yet whether their tasks are stored.
    pub fn sending(&self) -> &[BatchKey] {
        &self.sending
    }

    /// It has rows of this batch, and all of its tasks are stored.
    pub fn is_stored(&self, batch: &BatchKey) -> bool {
        let is_of_it = |row: &Row| row.sent.as_ref().is_some_and(|place| place.batch == *batch);
        !self.sending.contains(batch) && self.rows.iter().any(is_of_it)
    }

    /// All tasks of a batch are stored.
    pub fn mark_stored(&mut self, batch: &BatchKey) {
        self.sending.retain(|other| other != batch);
    }

    /// The page that sent a batch is gone, and of its tasks only these items were stored: the other rows
    /// are yet to be sent, each as the task that it was to be: where that was stored after all, nothing is sent twice.
    /// How many these are.
    pub fn settle(&mut self, batch: &BatchKey, stored: &HashSet<usize>) -> usize {
        self.mark_stored(batch);
        let is_lost = |place: &BatchPlace| place.batch == *batch && !stored.contains(&place.index);
        let mut count = 0;
        for row in &mut self.rows {
            if row.sent.as_ref().is_some_and(is_lost) {
                row.sent = None;
                count += 1;
            }
        }
        count
    }

    /// The rows that can be sent, in order, with the grid that they fill. From now on they count as
    /// sent, as items of this batch; until [`Table::mark_stored`], only as far as their tasks are stored. A seed
    /// that was left alone is drawn from `random`.
    pub fn send_good(
        &mut self,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
    ) -> (Vec<Item>, Option<GridLabels>) {
        self.draw_nonces(random);
        let mut items = Vec::new();
        let mut sent = Vec::new();
        let unsent = self.rows.iter_mut().filter(|row| row.sent.is_none());
        for (at, row) in unsent.enumerate() {
            let settled = seed::settled(&row.draft, schema, random());
            match schema.validate(&settled, send_defaults) {
                Ok(input) => {
                    row.sent = Some(BatchPlace {
                        batch: batch.clone(),
                        index: items.len(),
                    });
                    items.push(Item {
                        key: row.task_key(),
                        input,
                        seed_chosen: seed::entry(&row.draft, schema).is_some(),
                    });
                    sent.push(at);
                }
                Err(problems) => row.problems = problems,
            }
        }
        if !items.is_empty() {
            self.sending.push(batch.clone());
        }
        let grid = self.grid.take().map(|grid| GridLabels {
            cells: sent,
            ..grid
        });
        (items, grid)
    }
}
