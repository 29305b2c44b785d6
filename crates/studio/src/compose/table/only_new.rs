//! Sends what is not made yet, and leaves out what is.

use std::collections::HashSet;

use atelier_contract::Schema;
use atelier_engine::{BatchKey, BatchPlace};

use super::{KnownPlace, Row, SentRows, Table};
use crate::compose::plan::Plan;

/// A row that is made already, by its id, and the item that it is, where that is one of a batch.
pub type MadeRow = (u64, Option<BatchPlace>);

impl Table {
    /// Plans what sending the rows will take that are not made already.
    pub fn plan_new(&self, made: &[MadeRow], schema: &Schema) -> Plan {
        let made: HashSet<u64> = made.iter().map(|(id, _)| *id).collect();
        let new = self.to_send().filter(|row| !made.contains(&row.id));
        Plan::of(new.map(|row| &row.draft), schema)
    }

    /// As [`Table::send_good`], without the rows that are made already: each counts as sent as the item that it is, or
    /// is taken out where that is none or has its row here. The way back from that goes on after the others are sent.
    pub fn send_new(
        &mut self,
        made: &[MadeRow],
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
        known: KnownPlace<'_>,
    ) -> SentRows {
        // What is left out leaves a gap: the others have the numbers that they are shown with.
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

    /// Gives the rows for which there is no place among what was sent.
    fn leave_made(&mut self, made: &[MadeRow]) -> HashSet<u64> {
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
