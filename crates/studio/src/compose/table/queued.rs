//! Distinguishes rows whose tasks were submitted to the service from rows whose tasks were not.

use std::collections::HashSet;

use atelier_engine::{BatchPlace, Task};

use super::{Row, Table};
use crate::batch::Part;
use crate::text::plural::{agreeing, counted};

/// The batch places of tasks that were not submitted, because they are queued or were returned to the table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueuedPlaces {
    queued: HashSet<BatchPlace>,
    /// The places of all other tasks that this tab has read; `None` once it has read all tasks. Until then, a place in
    /// neither set counts as queued.
    handed: Option<HashSet<BatchPlace>>,
}

impl QueuedPlaces {
    /// `are_all_known`: whether the stored tasks have been read.
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
    /// Returns the message about the rows that count as sent. `is_held`: storage rejects tasks, so rows whose tasks may
    /// not be stored are shown as waiting to be sent.
    pub fn sent_message(&self, is_held: bool, queued: &QueuedPlaces) -> String {
        let waits = |row: &&Row| is_held && self.is_under_way(row);
        let waiting = self.rows.iter().filter(waits).count();
        // A task is stored before it is submitted.
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

    /// Returns a table with two rows that were sent and stored as the test batch.
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

    /// Guards against showing `sent` for rows of a paused or queued batch.
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
        // The row is being returned to the table.
        tasks[1] = task("b", 1, 1, queued());
        tasks[1].taken_back = true;
        assert_eq!(message(&tasks, true), "2 rows in a batch");
        // A task of another batch, unrelated to these rows.
        tasks[1] = task("b", 5, 1, queued());
        assert_eq!(message(&tasks, true), "2 rows sent");
        // A task that is missing was removed after it was sent, or this tab has not read it yet.
        assert_eq!(message(&tasks[..1], true), "2 rows sent");
        assert_eq!(message(&tasks[..1], false), "2 rows in a batch");
        tasks[1] = task("b", 1, 1, ready());
        assert_eq!(message(&tasks, false), "2 rows sent");
    }

    #[test]
    fn rows_that_are_being_stored_are_not_sent() {
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
