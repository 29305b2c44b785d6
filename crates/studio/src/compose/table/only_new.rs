//! Sends only the rows whose results don't exist yet.

use std::collections::HashSet;

use atelier_contract::Schema;
use atelier_engine::{BatchKey, BatchPlace};

use super::{FindPlace, Row, SentRows, Table};
use crate::compose::plan::Plan;

/// The id of a row whose result exists already, and the item that made it, if it is one of a batch.
pub type DuplicateRow = (u64, Option<BatchPlace>);

impl Table {
    /// Plans sending the rows without those in `made`.
    pub fn plan_new(&self, made: &[DuplicateRow], schema: &Schema) -> Plan {
        let made: HashSet<u64> = made.iter().map(|(id, _)| *id).collect();
        let new = self.to_send().filter(|row| !made.contains(&row.id));
        Plan::of(new.map(|row| &row.draft), schema)
    }

    /// Like [`Table::send_good`], but without the rows in `made`. Each of those counts as sent, as the item that made it; it
    /// is removed if there is no such item or if the item has a row already. The removal can be undone after sending.
    pub fn send_new(
        &mut self,
        made: &[DuplicateRow],
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: FindPlace<'_>,
    ) -> SentRows {
        // Left-out rows leave a gap: the others keep the numbers that are shown.
        let numbers = self.waiting_numbers();
        let twins = self.leave_made(made);
        if !twins.is_empty() {
            self.take_out(|row| twins.contains(&row.id));
        }
        let removal = self.removal.clone();
        let rows = self.send_numbered(&numbers, batch, schema, send_defaults, random, known);
        if !twins.is_empty() {
            self.removal = removal;
        }
        rows
    }

    /// Marks the rows in `made` as sent, and returns the ids of those that can't be.
    fn leave_made(&mut self, made: &[DuplicateRow]) -> HashSet<u64> {
        let sent = self.rows.iter().filter(|row| row.sent.is_some());
        let mut texts: HashSet<String> = sent.clone().map(Row::text).collect();
        let mut places: HashSet<BatchPlace> = sent.filter_map(|row| row.sent.clone()).collect();
        let mut twins = HashSet::new();
        for (id, place) in made {
            let Some(at) = self.place(*id) else {
                continue;
            };
            let row = &mut self.rows[at];
            let is_free = |place: &&BatchPlace| !places.contains(*place);
            match place.as_ref().filter(is_free) {
                Some(place) if texts.insert(row.text()) => {
                    places.insert(place.clone());
                    row.sent = Some(place.clone());
                    self.grid = None;
                }
                _ => {
                    twins.insert(*id);
                }
            }
        }
        twins
    }
}
