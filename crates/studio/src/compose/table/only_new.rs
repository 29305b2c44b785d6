//! Sends only the rows whose results don't exist yet.

use std::collections::HashSet;

use atelier_contract::{Draft, Schema};
use atelier_engine::{BatchKey, BatchPlace};

use super::{FindPlace, Row, SentRows, Table};
use crate::compose::plan::Plan;

/// The id of a row whose result exists already, and the batch item with that result, if there is one.
pub type DuplicateRow = (u64, Option<BatchPlace>);

impl Table {
    /// Plans sending the rows without those in `made`.
    pub fn plan_new(&self, made: &[DuplicateRow], schema: &Schema) -> Plan {
        Plan::of(self.new_to_send(made), schema)
    }

    /// Returns the drafts of the rows that can be sent, without those in `made`.
    pub fn new_to_send(&self, made: &[DuplicateRow]) -> impl Iterator<Item = &Draft> {
        let made: HashSet<u64> = made.iter().map(|(id, _)| *id).collect();
        let new = self.to_send().filter(move |row| !made.contains(&row.id));
        new.map(|row| &row.draft)
    }

    /// Like [`Table::send_good`], but without the rows in `made`. Each of these is marked as sent, as the item with its
    /// result. It is removed if there is no such item, or if the item has a row already. The removal can be undone
    /// after sending.
    pub fn send_new(
        &mut self,
        made: &[DuplicateRow],
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: FindPlace<'_>,
    ) -> SentRows {
        // The other rows keep the numbers that are shown to the user, so left-out rows leave gaps.
        let numbers = self.waiting_numbers();
        let unmarked = self.mark_existing_as_sent(made);
        if !unmarked.is_empty() {
            self.remove_where(|row| unmarked.contains(&row.id));
        }
        let removal = self.removal.clone();
        let rows = self.send_numbered(&numbers, batch, schema, send_defaults, random, known);
        if !unmarked.is_empty() {
            self.removal = removal;
        }
        rows
    }

    /// Marks the rows in `made` as sent. Returns the ids of the rows that can't be marked.
    fn mark_existing_as_sent(&mut self, made: &[DuplicateRow]) -> HashSet<u64> {
        let sent = self.rows.iter().filter(|row| row.sent.is_some());
        let mut texts: HashSet<String> = sent.clone().map(Row::text).collect();
        let mut places: HashSet<BatchPlace> = sent.filter_map(|row| row.sent.clone()).collect();
        let mut unmarked = HashSet::new();
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
                    unmarked.insert(*id);
                }
            }
        }
        unmarked
    }
}
