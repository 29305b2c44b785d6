//! Decides which rows can be sent, turns them into items, and returns unsent items to the table.

use std::collections::{HashMap, HashSet};

use atelier_contract::{Draft, Input, Schema};
use atelier_engine::derived_key::row_random;
use atelier_engine::{BatchKey, BatchPlace, Millis, TaskKey};

use super::{Row, Source, Table, files, problems, text};
use crate::compose::fill_method::FillMethod;
use crate::compose::plan::Plan;
use crate::compose::sweep::GridLabels;
use crate::form::seed;
use crate::text::plural::{agreeing, counted};

/// An item of a stopped batch that returns to the table.
#[derive(Debug, Clone)]
pub struct ReturnedItem {
    pub task: TaskKey,
    /// The creation time of the task, which distinguishes it from a retry with the same key.
    pub created: Millis,
    pub place: BatchPlace,
    pub draft: Draft,
}

impl ReturnedItem {
    fn mark(&self) -> (TaskKey, Millis) {
        (self.task.clone(), self.created)
    }
}

/// The rows that were sent, as items.
#[derive(Debug, Clone, Default)]
pub struct SentRows {
    /// The items, in the order of their rows.
    pub items: Vec<Item>,
    /// The labels of the grid, if the items are those of a sweep with two axes.
    pub grid: Option<GridLabels>,
    /// The number of rows that another tab has sent already. They belong to the batch of that tab.
    pub elsewhere: usize,
}

impl SentRows {
    /// Returns a message about rows that another tab has sent; empty if there are none.
    pub fn sent_elsewhere_message(&self) -> String {
        let count = self.elsewhere;
        match count {
            0 => String::new(),
            _ => format!(
                "{} {} been sent already, by another tab.",
                counted(count, "row"),
                agreeing(count, "has", "have"),
            ),
        }
    }
}

/// Returns the batch place of the task with this key, if the task exists.
pub type FindPlace<'a> = &'a dyn Fn(&TaskKey) -> Option<BatchPlace>;

/// A row that was sent.
#[derive(Debug, Clone)]
pub struct Item {
    pub key: TaskKey,
    /// The place in the batch, from 0: the row's number minus one; see [`Table::numbers`].
    pub index: usize,
    pub input: Input,
    /// Whether the user has chosen the seed.
    pub seed_chosen: bool,
}

impl Table {
    /// Returns the rows that Generate sends.
    pub fn to_send(&self) -> impl Iterator<Item = &Row> {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        unsent.filter(|row| row.problems.is_empty())
    }

    /// Returns how many rows can be sent.
    pub fn good(&self) -> usize {
        self.to_send().count()
    }

    /// Plans sending all rows that can be sent.
    pub fn plan(&self, schema: &Schema) -> Plan {
        Plan::of(self.to_send().map(|row| &row.draft), schema)
    }

    /// Returns the invalid rows that are not blank, each with its index.
    pub fn bad(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.invalid_rows().filter(|(_, row)| !row.is_blank())
    }

    /// Returns the id of the newest row, for [`Table::has_bad_since`].
    pub fn last_id(&self) -> u64 {
        self.next_id
    }

    /// Whether a row that is newer than this id is invalid and not blank.
    pub fn has_bad_since(&self, last_id: u64) -> bool {
        self.bad().any(|(_, row)| row.id > last_id)
    }

    fn invalid_rows(&self) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.is_waiting() && !row.problems.is_empty())
    }

    /// Returns a message about what Generate would send, or about what the user must do first. `offered`: the items of
    /// the panel, which Generate adds to the table before it sends.
    pub fn status_message(
        &self,
        schema: &Schema,
        offered: Option<Plan>,
        method: FillMethod,
    ) -> String {
        match (self.good(), offered) {
            (rows, Some(plan)) if rows > 0 => {
                format!("{}.", self.plan(schema).together_message(plan, method))
            }
            (0, Some(plan)) => format!("{}.", plan.offer_message(method)),
            (0, None) if self.sent() == 0 && self.unsent() == 0 => method.first_step().to_owned(),
            (0, None) if self.is_all_sent() => {
                format!("All rows are in a batch. {}", method.next_step())
            }
            // The problems of invalid rows are shown next to the rows.
            (0, None) if self.bad().next().is_none() => "Fill in a row to send it.".to_owned(),
            (0, None) => "Correct a row to send it.".to_owned(),
            _ => self.plan(schema).user_message(),
        }
    }

    /// Returns a message about the rows that Generate would not send. If no row can be sent, it omits the invalid rows,
    /// because [`Table::status_message`] mentions them.
    pub fn unsent_rest_message(&self) -> String {
        let bad = self.bad().count();
        let blank = self.invalid_rows().count() - bad;
        let bad = if self.good() == 0 { 0 } else { bad };
        let stay = |count: usize, what: &str| {
            let verb = agreeing(count, "is", "are");
            (count > 0).then(|| format!("{} {verb} not sent.", counted(count, what)))
        };
        let messages = [stay(bad, "row"), stay(blank, "empty row")];
        messages.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the number of rows that were sent and are unchanged.
    pub fn sent(&self) -> usize {
        self.rows.iter().filter(|row| row.sent.is_some()).count()
    }

    /// Returns the number of waiting rows, valid or not.
    pub fn unsent(&self) -> usize {
        self.rows.iter().filter(|row| row.is_waiting()).count()
    }

    /// Whether rows were sent and none is waiting.
    pub fn is_all_sent(&self) -> bool {
        self.sent() > 0 && self.unsent() == 0
    }

    /// Whether all of these drafts were sent from this table and none of them is waiting again.
    pub fn has_sent(&self, drafts: &[Draft]) -> bool {
        !drafts.is_empty() && self.done(drafts).into_iter().all(|is_done| is_done)
    }

    /// Whether some of these drafts were sent from this table and are not waiting again.
    pub fn has_sent_some(&self, drafts: &[Draft]) -> bool {
        self.done(drafts).contains(&true)
    }

    /// Returns for each draft whether it was sent from this table and is not waiting again.
    fn done(&self, drafts: &[Draft]) -> Vec<bool> {
        let (sent, waiting): (Vec<&Row>, Vec<&Row>) =
            (self.rows.iter().filter(|row| !row.is_aside)).partition(|row| row.sent.is_some());
        let texts = |rows: Vec<&Row>| rows.into_iter().map(Row::text).collect();
        let (sent, waiting): (HashSet<String>, HashSet<String>) = (texts(sent), texts(waiting));
        let is_done = |draft: &Draft| {
            let text = text(draft);
            sent.contains(&text) && !waiting.contains(&text)
        };
        drafts.iter().map(is_done).collect()
    }

    /// Removes the rows that were sent.
    pub fn clear_sent(&mut self) {
        let grid = self.grid.clone();
        self.remove_where(|row| row.sent.is_some());
        self.grid = grid;
    }

    /// Removes and returns the columns that the user added, for the next batch.
    pub fn reset_columns(&mut self) -> Vec<String> {
        std::mem::take(&mut self.added)
    }

    /// Returns unsent items to the table. Their rows are waiting again, with the entries that the user typed. Items
    /// without a row are appended. Items that another tab has returned already are ignored.
    ///
    /// # Errors
    ///
    /// A message if there would be too many rows. Items whose rows still exist are returned nevertheless.
    pub fn return_items(
        &mut self,
        items: Vec<ReturnedItem>,
        schema: &Schema,
    ) -> Result<(), String> {
        let known: HashSet<(TaskKey, Millis)> = self.put_back.drain(..).collect();
        let (done, items): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|item| known.contains(&item.mark()));
        // The records of all other earlier tasks are deleted by now.
        self.put_back = done.iter().map(ReturnedItem::mark).collect();
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
        self.put_back.extend(here.iter().map(ReturnedItem::mark));
        let marks: Vec<_> = gone.iter().map(ReturnedItem::mark).collect();
        let sources = gone.iter().map(|item| Source::from(&item.place));
        let sources: Vec<Source> = sources.collect();
        self.grid = None;
        // Undoing a removal would duplicate a row that returned meanwhile.
        self.removal = None;
        self.append(gone.into_iter().map(|item| item.draft).collect(), schema)?;
        self.set_last_sources(sources.into_iter().rev());
        self.put_back.extend(marks);
        Ok(())
    }

    /// Returns the batches whose tasks may not be stored yet.
    pub fn sending(&self) -> &[BatchKey] {
        &self.sending
    }

    /// Whether the table has rows of this batch, and all tasks of the batch are stored.
    pub fn is_stored(&self, batch: &BatchKey) -> bool {
        let is_of_it = |row: &Row| row.sent.as_ref().is_some_and(|place| place.batch == *batch);
        !self.sending.contains(batch) && self.rows.iter().any(is_of_it)
    }

    /// Whether a row counts as sent although its task may not be stored yet.
    pub fn is_under_way(&self, row: &Row) -> bool {
        let place = row.sent.as_ref();
        place.is_some_and(|place| self.sending.contains(&place.batch))
    }

    /// Records that all tasks of a batch are stored.
    pub fn mark_stored(&mut self, batch: &BatchKey) {
        self.sending.retain(|other| other != batch);
    }

    /// Completes a batch whose page was closed before all tasks were stored. Rows without a stored task are waiting
    /// again, with the same task keys, so that no row is sent twice. A row whose task is `known` in another batch
    /// becomes an item of that batch. Returns the indexes of the items that are waiting again.
    pub fn settle(
        &mut self,
        batch: &BatchKey,
        stored: &HashSet<usize>,
        known: FindPlace<'_>,
    ) -> Vec<usize> {
        self.mark_stored(batch);
        let is_lost = |place: &BatchPlace| place.batch == *batch && !stored.contains(&place.index);
        let mut to_send = Vec::new();
        for row in &mut self.rows {
            if let Some(place) = row.sent.take_if(|place| is_lost(place)) {
                row.sent = known(&row.task_key()).filter(|place| place.batch != *batch);
                if row.sent.is_none() {
                    to_send.push(place.index);
                }
            }
        }
        self.settle_removed(is_lost);
        if !to_send.is_empty() {
            // Other rows may be waiting, so the waiting rows are not exactly those of the grid.
            self.grid = None;
        }
        to_send
    }

    /// Sends the valid rows as items of this batch. They count as sent. Until [`Table::mark_stored`] is called,
    /// [`Table::settle`] can undo that for rows whose tasks are not stored. A row whose task is `known` is not sent
    /// again. Seeds that the user has not set are drawn; the same row always gets the same seed.
    pub fn send_good(
        &mut self,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: FindPlace<'_>,
    ) -> SentRows {
        let numbers = self.waiting_numbers();
        self.send_numbered(&numbers, batch, schema, send_defaults, random, known)
    }

    /// Returns the numbers of the waiting rows by their ids.
    pub(super) fn waiting_numbers(&self) -> HashMap<u64, usize> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| row.id).zip(self.numbers()).collect()
    }

    /// Like [`Table::send_good`], with these numbers for the items.
    pub(super) fn send_numbered(
        &mut self,
        numbers: &HashMap<u64, usize>,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: FindPlace<'_>,
    ) -> SentRows {
        self.draw_nonces(random);
        let (mut items, mut elsewhere) = (Vec::new(), 0);
        for row in self.rows.iter_mut().filter(|row| row.is_waiting()) {
            if let Some(place) = known(&row.task_key()) {
                row.sent = Some(place);
                elsewhere += 1;
                continue;
            }
            let settled = seed::with_drawn_seed(&row.draft, schema, row_random(row.nonce));
            match files::validate(&settled, schema, send_defaults) {
                Ok(input) => {
                    let number = numbers.get(&row.id).copied().unwrap_or(1);
                    let index = number.saturating_sub(1);
                    row.sent = Some(BatchPlace {
                        batch: batch.clone(),
                        index,
                    });
                    items.push(Item {
                        key: row.task_key(),
                        index,
                        input,
                        seed_chosen: seed::entry(&row.draft, schema).is_some(),
                    });
                }
                // A row whose file is being uploaded has no problem, but is not sent.
                Err(_) => row.problems = problems(&row.draft, schema, &self.files),
            }
        }
        if !items.is_empty() {
            self.sending.push(batch.clone());
            self.removal = None;
        }
        // With a grid, all waiting rows belong to it, so their numbers are the numbers of its cells.
        let size = items.last().map_or(0, |item| item.index + 1);
        let grid = self.grid.take().map(|grid| GridLabels {
            cells: (0..size).collect(),
            ..grid
        });
        SentRows {
            items,
            grid,
            elsewhere,
        }
    }
}
