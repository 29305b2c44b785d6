//! Tells rows whose tasks were handed to the service from rows whose tasks were not.

use std::collections::HashSet;

use atelier_engine::{BatchPlace, Task};

use super::{Row, Table};
use crate::batch::Part;
use crate::text::plural::{agreeing, counted};

/// The places in batches whose tasks were not handed to the service: they are queued, or were taken back. As far as a
/// tab knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueuedPlaces {
    queued: HashSet<BatchPlace>,
    /// The places of all other tasks; `None` once all tasks are known. A place that is in neither set may be queued
    /// until then.
    handed: Option<HashSet<BatchPlace>>,
}

impl QueuedPlaces {
    /// `are_all_known`: the stored tasks have been read.
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a Task>, are_all_known: bool) -> Self {
        let (mut queued, mut handed) = (HashSet::new(), HashSet::new());
        for task in tasks {
            let Some(place) = &task.batch else { continue };
            match Part::of(task) {
                Part::Queued | Part::TakenBack => drop(queued.insert(place.clone())),
                _ if are_all_known => {}
                _ => drop(handed.insert(place.clone())),
            }
        }
        Self {
            queued,
            handed: (!are_all_known).then_some(handed),
        }
    }

    fn has(&self, place: &BatchPlace) -> bool {
        let is_unknown = |handed: &HashSet<BatchPlace>| !handed.contains(place);
        self.queued.contains(place) || self.handed.as_ref().is_some_and(is_unknown)
    }
}

impl Table {
    /// Says what has become of the rows that count as sent. `is_held`: storage refuses their tasks, and what is not stored
    /// waits for that.
    pub fn sent_message(&self, is_held: bool, queued: &QueuedPlaces) -> String {
        let waits = |row: &&Row| is_held && self.is_under_way(row);
        let waiting = self.rows.iter().filter(waits).count();
        // A task is stored before it is handed to the service.
        let is_queued = |row: &Row| {
            let place = row.sent.as_ref();
            place.is_some_and(|place| queued.has(place)) || self.is_under_way(row)
        };
        let mut others = self.rows.iter().filter(|row| !waits(row));
        let done = match others.any(is_queued) {
            true => "in a batch",
            false => "sent",
        };
        let verb = agreeing(waiting, "waits", "wait");
        match (self.sent() - waiting, waiting) {
            (sent, 0) => format!("{} {done}", counted(sent, "row")),
            (0, waiting) => format!("{} {verb} to be sent", counted(waiting, "row")),
            (sent, waiting) => format!(
                "{} {done}, {waiting} {verb} to be sent",
                counted(sent, "row")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use atelier_engine::BatchKey;

    use super::*;
    use crate::batch::tests::{failed, queued, ready, task};
    use crate::compose::table::tests::{prompt, schema, send};

    /// Two rows, sent and stored as the batch of the tests.
    fn two_sent() -> Table {
        let schema = schema();
        let mut table = Table::default();
        table
            .append(vec![prompt("a"), prompt("b")], &schema)
            .unwrap();
        send(&mut table, "b");
        table.mark_stored(&BatchKey("b".into()));
        table
    }

    /// Guards against `sent` of rows in a batch that is paused or waits its turn.
    #[test]
    fn rows_whose_tasks_are_queued_are_in_a_batch_and_not_sent() {
        let table = two_sent();
        let message = |tasks: &[Task], are_all_known: bool| {
            table.sent_message(false, &QueuedPlaces::of(tasks, are_all_known))
        };
        let mut tasks = [task("a", 0, 1, ready()), task("b", 1, 1, queued())];
        assert_eq!(message(&tasks, true), "2 rows in a batch");
        tasks[1].paused = true;
        assert_eq!(message(&tasks, true), "2 rows in a batch");
        tasks[1] = task("b", 1, 1, failed());
        assert_eq!(message(&tasks, true), "2 rows sent");
        // Its row is on its way back to the table.
        tasks[1] = task("b", 1, 1, queued());
        tasks[1].taken_back = true;
        assert_eq!(message(&tasks, true), "2 rows in a batch");
        // Another batch's, which has nothing to do with these rows.
        tasks[1] = task("b", 5, 1, queued());
        assert_eq!(message(&tasks, true), "2 rows sent");
        // A task that is gone was sent, unless it is yet to be read.
        assert_eq!(message(&tasks[..1], true), "2 rows sent");
        assert_eq!(message(&tasks[..1], false), "2 rows in a batch");
        tasks[1] = task("b", 1, 1, ready());
        assert_eq!(message(&tasks, false), "2 rows sent");
    }

    #[test]
    fn rows_on_their_way_to_storage_are_not_sent() {
        let mut table = two_sent();
        let queued = QueuedPlaces::default();
        table.append(vec![prompt("c")], &schema()).unwrap();
        send(&mut table, "later");
        assert_eq!(table.sent_message(false, &queued), "3 rows in a batch");
        let held = "2 rows sent, 1 waits to be sent";
        assert_eq!(table.sent_message(true, &queued), held);
        table.mark_stored(&BatchKey("later".into()));
        assert_eq!(table.sent_message(true, &queued), "3 rows sent");
    }
}
