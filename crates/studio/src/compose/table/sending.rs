//! Decides which rows can be sent, makes items of them, and puts back those that are to be sent once more.

use std::collections::{HashMap, HashSet};

use atelier_contract::{Draft, Input, Schema};
use atelier_engine::derived_key::row_random;
use atelier_engine::{BatchKey, BatchPlace, Millis, TaskKey};

use super::{Row, Source, Table, text};
use crate::compose::fill_method::Way;
use crate::compose::plan::Plan;
use crate::compose::sweep::GridLabels;
use crate::form::seed;
use crate::text::plural::{agreeing, counted};

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

/// The rows that can be sent, as items.
#[derive(Debug, Clone, Default)]
pub struct SentRows {
    /// The items, in the order of their rows.
    pub items: Vec<Item>,
    /// The grid that they fill.
    pub grid: Option<GridLabels>,
    /// Rows that another tab has sent, with which this table had not caught up: they are that tab's items.
    pub elsewhere: usize,
}

impl SentRows {
    /// Says that another tab has sent some of the rows; empty if none has.
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

/// Gives the batch and the place of a task that is known already.
pub type KnownPlace<'a> = &'a dyn Fn(&TaskKey) -> Option<BatchPlace>;

/// A row that is sent.
#[derive(Debug, Clone)]
pub struct Item {
    pub key: TaskKey,
    /// Its place in the batch, from 0: one less than the number of its row; see [`Table::numbers`].
    pub index: usize,
    pub input: Input,
    /// A person has chosen its seed.
    pub seed_chosen: bool,
}

impl Table {
    /// Rows that Generate sends.
    pub fn to_send(&self) -> impl Iterator<Item = &Row> {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        unsent.filter(|row| row.problems.is_empty())
    }

    /// Rows that can be sent, and are not yet.
    pub fn good(&self) -> usize {
        self.to_send().count()
    }

    /// Plans what sending these rows will take.
    pub fn plan(&self, schema: &Schema) -> Plan {
        Plan::of(self.to_send().map(|row| &row.draft), schema)
    }

    /// Rows that can't be sent as they were filled in, each with where it stands.
    pub fn bad(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.unfit().filter(|(_, row)| !row.is_blank())
    }

    /// Tells the rows that come from now on from those that are here.
    pub fn newest(&self) -> u64 {
        self.next_id
    }

    /// Whether any row that came since then can't be sent as it was filled in.
    pub fn has_bad_since(&self, newest: u64) -> bool {
        self.bad().any(|(_, row)| row.id > newest)
    }

    fn unfit(&self) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.is_waiting() && !row.problems.is_empty())
    }

    /// Says what Generate would send, or what is to be done before. `offered`: what stands in the panel and is put here
    /// by the same press.
    pub fn said(&self, schema: &Schema, offered: Option<Plan>, way: Way) -> String {
        match (self.good(), offered) {
            (rows, Some(plan)) if rows > 0 => {
                format!("{}.", self.plan(schema).together_message(plan, way))
            }
            (0, Some(plan)) => format!("{}.", plan.offer_message(way)),
            (0, None) if self.sent() == 0 && self.unsent() == 0 => way.first_step().to_owned(),
            (0, None) if self.is_all_sent() => {
                format!("All rows are in a batch. {}", way.next_step())
            }
            // What is wrong with the others is said next to them.
            (0, None) if self.bad().next().is_none() => "Fill in a row to send it.".to_owned(),
            (0, None) => "Correct a row to send it.".to_owned(),
            _ => self.plan(schema).user_message(),
        }
    }

    /// Says what Generate would leave in the table. If nothing can be sent, the mistakes are said elsewhere.
    pub fn unsent_rest_message(&self) -> String {
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
        self.rows.iter().filter(|row| row.is_waiting()).count()
    }

    pub fn is_all_sent(&self) -> bool {
        self.sent() > 0 && self.unsent() == 0
    }

    /// All of these were sent from here, and none of them is to be sent once more.
    pub fn has_sent(&self, drafts: &[Draft]) -> bool {
        !drafts.is_empty() && self.done(drafts).into_iter().all(|is_done| is_done)
    }

    /// The same holds of some of them.
    pub fn has_sent_some(&self, drafts: &[Draft]) -> bool {
        self.done(drafts).contains(&true)
    }

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

    /// Takes out what was sent.
    pub fn clear_sent(&mut self) {
        let grid = self.grid.clone();
        self.take_out(|row| row.sent.is_some());
        self.grid = grid;
    }

    /// Takes out the columns that nothing stands in, and gives them: another batch begins, now that all of this one was
    /// sent.
    pub fn begin_anew(&mut self) -> Vec<String> {
        std::mem::take(&mut self.added)
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
        // All other tasks have lost their records long ago.
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
        let sources = gone.iter().map(|item| Source::from(&item.place));
        let sources: Vec<Source> = sources.collect();
        self.grid = None;
        // A row that came back while it was under way would stand there twice.
        self.removal = None;
        self.append(gone.into_iter().map(|item| item.draft).collect(), schema)?;
        self.set_last_sources(sources.into_iter().rev());
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

    /// Whether a row counts as sent and it is not known yet whether its task is stored.
    pub fn is_under_way(&self, row: &Row) -> bool {
        let place = row.sent.as_ref();
        place.is_some_and(|place| self.sending.contains(&place.batch))
    }

    /// Notes that all tasks of a batch are stored.
    pub fn mark_stored(&mut self, batch: &BatchKey) {
        self.sending.retain(|other| other != batch);
    }

    /// The page that sent a batch is gone, and of its tasks only these items were stored: the other rows
    /// are yet to be sent, each as the task that it was to be: where that was stored after all, nothing is sent twice;
    /// where it is `known` as another batch's, it is that one's. Which items are to be sent.
    pub fn settle(
        &mut self,
        batch: &BatchKey,
        stored: &HashSet<usize>,
        known: KnownPlace<'_>,
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
            // Its rows are not all that wait any more.
            self.grid = None;
        }
        to_send
    }

    /// The rows that can be sent. From now on they count as sent, as items of this batch; until
    /// [`Table::mark_stored`], only as far as their tasks are stored. A row whose task is `known` is that one, and not sent
    /// again. A seed that was left alone is drawn, the same one each time that the same row is sent.
    pub fn send_good(
        &mut self,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: KnownPlace<'_>,
    ) -> SentRows {
        let numbers = self.waiting_numbers();
        self.send_numbered(&numbers, batch, schema, send_defaults, random, known)
    }

    /// Gives the numbers of the rows that wait, by their ids.
    pub(super) fn waiting_numbers(&self) -> HashMap<u64, usize> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| row.id).zip(self.numbers()).collect()
    }

    /// As [`Table::send_good`]: each row becomes the item of this number.
    pub(super) fn send_numbered(
        &mut self,
        numbers: &HashMap<u64, usize>,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: KnownPlace<'_>,
    ) -> SentRows {
        self.draw_nonces(random);
        let (mut items, mut elsewhere) = (Vec::new(), 0);
        for row in self.rows.iter_mut().filter(|row| row.is_waiting()) {
            if let Some(place) = known(&row.task_key()) {
                row.sent = Some(place);
                elsewhere += 1;
                continue;
            }
            let settled = seed::settled(&row.draft, schema, row_random(row.nonce));
            match schema.validate(&settled, send_defaults) {
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
                Err(problems) => row.problems = problems,
            }
        }
        if !items.is_empty() {
            self.sending.push(batch.clone());
            self.removal = None;
        }
        // The rows of a grid are all that waited: their numbers are its cells.
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
