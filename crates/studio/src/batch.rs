//! A batch: tasks that were composed and sent together. Its record stores only data that the tasks don't contain. Its
//! progress is always counted from the tasks.

use std::collections::HashSet;

use atelier_contract::{ModelId, Schema};
use atelier_engine::{Action, BatchKey, Millis, Task, TaskKey, UNDO_MS};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use working_time::WorkingTime;

pub use part::Part;

use crate::compose::sweep::GridLabels;
use crate::form::refused_input;
use crate::output::expected_output;
use crate::task::progress;

pub mod again;
pub mod blocks;
pub mod cancel_rest;
pub mod combined;
pub mod differences;
pub mod exploration;
pub mod grid_picture;
pub mod item_grid;
pub mod labelled_grid;
pub mod listed;
pub mod naming;
mod part;
pub mod reasons;
pub mod requests;
pub mod space;
mod stored;
pub mod summary;
pub mod working_time;

/// The stored form of a batch. Names and types of its fields must not change. Fields of later versions are preserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub key: BatchKey,
    pub model: ModelId,
    pub model_name: String,
    /// The displayed name, which the user may change.
    pub name: String,
    /// When the batch was composed, in ms since 1970-01-01 UTC.
    pub created: Millis,
    /// The number of items, including those in `left_out`.
    pub size: usize,
    /// The labels of the grid, for a sweep over two axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridLabels>,
    /// When the user removed the batch, in ms since 1970-01-01 UTC. It may have been restored since; see
    /// [`Batch::is_removed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Millis>,
    /// The indexes of the items that were not sent with the batch, in ascending order: their rows can't be sent,
    /// another tab has sent them, or they will be sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<usize>,
    /// The task of which all items are variations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied: Option<TaskKey>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The items of a batch, each with its latest attempt.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    attempts: Vec<Option<&'a Task>>,
    /// See [`Batch::left_out`].
    left_out: &'a [usize],
    /// The time spent on the tasks, including all attempts.
    worked: WorkingTime,
}

impl Batch {
    /// Changes the name, unless the new one is blank. Returns whether it changed.
    pub fn rename(&mut self, name: &str) -> bool {
        const LONGEST: usize = 120;
        let name: String = name.trim().chars().take(LONGEST).collect();
        let is_new = !name.is_empty() && name != self.name;
        if is_new {
            self.name = name;
        }
        is_new
    }

    /// Returns the number of items that were sent with the batch.
    pub fn count(&self) -> usize {
        self.size.saturating_sub(self.left_out.len())
    }

    /// Returns the size of a batch with items at these places, which must be ascending, and the places without an item.
    pub fn gaps(places: &[usize]) -> (usize, Vec<usize>) {
        let size = places.last().map_or(0, |last| last + 1);
        let is_gap = |place: &usize| places.binary_search(place).is_err();
        (size, (0..size).filter(is_gap).collect())
    }

    /// Returns the items that lose their last task when the tasks in `removed` are deleted and those in `left` remain.
    pub fn emptied<'a>(
        &self,
        removed: impl IntoIterator<Item = &'a Task>,
        left: impl IntoIterator<Item = &'a Task>,
    ) -> Vec<usize> {
        let item = |task: &Task| task.index_in(&self.key);
        let left: HashSet<usize> = left.into_iter().filter_map(item).collect();
        let removed = removed.into_iter().filter_map(item);
        removed.filter(|item| !left.contains(item)).collect()
    }

    /// Records items that were not sent with the batch after all. Returns whether any of them was not recorded before.
    pub fn leave_out(&mut self, items: impl IntoIterator<Item = usize>) -> bool {
        let before = self.left_out.len();
        self.left_out
            .extend(items.into_iter().filter(|item| *item < self.size));
        self.left_out.sort_unstable();
        self.left_out.dedup();
        self.left_out.len() != before
    }

    /// Whether the user has removed the batch and none of its tasks is left.
    pub fn is_removed<'a>(&'a self, tasks: impl IntoIterator<Item = &'a Task>) -> bool {
        self.removed.is_some() && self.items(tasks).latest().all(|task| task.is_none())
    }

    /// Whether the record can be deleted, because the batch can't be restored any more. Variations have no batch to
    /// remove, because they are removed one by one; their record expires with the last of them.
    pub fn is_expired<'a>(&self, tasks: impl IntoIterator<Item = &'a Task>, now: Millis) -> bool {
        // Other tabs may receive a batch before its tasks, but all of them within this time.
        const SETTLED_AFTER: Millis = 3_600_000;
        let mut tasks = tasks.into_iter();
        let is_mine = |task: &Task| task.batch.as_ref().is_some_and(|b| b.batch == self.key);
        let is_over = |removed: Millis| now >= removed.saturating_add(UNDO_MS);
        let is_settled = now >= self.created.saturating_add(SETTLED_AFTER);
        let may_go = self.removed.is_some_and(is_over) || (self.varied.is_some() && is_settled);
        may_go && !tasks.any(is_mine)
    }

    /// Returns the items, each with its latest attempt. An item without an attempt has lost all its tasks.
    pub fn items<'a>(&'a self, tasks: impl IntoIterator<Item = &'a Task>) -> Items<'a> {
        let mut attempts: Vec<Option<&Task>> = vec![None; self.size];
        let mut spans = Vec::new();
        for task in tasks {
            if task.removed.is_some() {
                continue;
            }
            let Some(index) = task.index_in(&self.key) else {
                continue;
            };
            let Some(slot) = attempts.get_mut(index) else {
                continue;
            };
            spans.extend(span(task));
            let is_later = |other: &Task| {
                // If the clock was set back, a retry is older than the task that it retries.
                let repeats = |a: &Task, b: &Task| a.retry_of.as_ref() == Some(&b.key);
                repeats(task, other) || (task.created > other.created && !repeats(other, task))
            };
            if slot.is_none_or(is_later) {
                *slot = Some(task);
            }
        }
        Items {
            attempts,
            left_out: &self.left_out,
            worked: WorkingTime::of(spans),
        }
    }
}

/// Returns when a task started and ended; `None` if that is unknown, or while the task waits for the user.
fn span(task: &Task) -> Option<(Millis, Option<Millis>)> {
    let is_running = match Part::of(task) {
        Part::InProgress => true,
        Part::Queued => !task.paused,
        _ => false,
    };
    // Records of earlier versions don't contain the time of a resubmission.
    let resubmitted = task.submitted.filter(|_| task.resubmitted);
    let began = task.requeued.or(resubmitted).unwrap_or(task.created);
    (is_running || task.finished.is_some()).then_some((began, task.finished))
}

/// The number of items in each part, without empty parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub Vec<(Part, usize)>);

impl Counts {
    /// Counts the parts of these tasks.
    pub fn of_tasks<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Self {
        Self::of_parts(tasks.into_iter().map(Part::of))
    }

    fn of_parts(parts: impl Iterator<Item = Part>) -> Self {
        let parts: Vec<Part> = parts.collect();
        let counts = Part::ALL.into_iter().map(|each| {
            let count = parts.iter().filter(|part| **part == each).count();
            (each, count)
        });
        Self(counts.filter(|(_, count)| *count > 0).collect())
    }

    /// Returns the number of items in a part.
    pub fn of(&self, part: Part) -> usize {
        let found = self.0.iter().find(|(other, _)| *other == part);
        found.map_or(0, |(_, count)| *count)
    }

    /// Returns the number of items.
    pub fn total(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of items that have ended.
    pub fn done(&self) -> usize {
        self.total() - self.of(Part::InProgress) - self.of(Part::Queued)
    }

    /// Whether all items have ended.
    pub fn is_settled(&self) -> bool {
        self.done() == self.total()
    }

    /// Returns the count of each part with its word: `22 completed`, `3 failed`.
    pub fn phrases(&self) -> impl Iterator<Item = (Part, String)> {
        let phrase = |(part, count): &(Part, usize)| (*part, format!("{count} {}", part.word()));
        self.0.iter().map(phrase)
    }

    /// Returns a message such as `22 completed, 3 failed`.
    pub fn user_message(&self) -> String {
        let phrases: Vec<String> = self.phrases().map(|(_, phrase)| phrase).collect();
        phrases.join(", ")
    }

    /// Returns each part's share of the progress bar, from 0 to 1.
    pub fn shares(&self) -> impl Iterator<Item = (Part, f64)> {
        let total = self.total().max(1) as f64;
        self.0
            .iter()
            .map(move |(part, count)| (*part, *count as f64 / total))
    }
}

impl<'a> Items<'a> {
    /// Returns the latest attempt of each item, in order.
    pub fn latest(&self) -> impl Iterator<Item = Option<&'a Task>> {
        self.attempts.iter().copied()
    }

    /// Returns the time spent on the tasks.
    pub fn worked(&self) -> WorkingTime {
        self.worked
    }

    /// Returns the latest attempt of an item, if it has one.
    pub fn get(&self, index: usize) -> Option<&'a Task> {
        self.attempts.get(index).copied().flatten()
    }

    /// Counts the items, without those that were left out.
    pub fn counts(&self) -> Counts {
        let numbered = self.latest().enumerate();
        let sent = numbered.filter(|(at, task)| task.is_some() || !self.is_left_out(*at));
        Counts::of_parts(sent.map(|(_, task)| task.map_or(Part::Removed, Part::of)))
    }

    /// Whether the item was not sent with this batch; see [`Batch::left_out`].
    pub fn is_left_out(&self, index: usize) -> bool {
        self.left_out.binary_search(&index).is_ok()
    }

    /// Returns the attempts that `Retry failed` retries: the latest ones that failed or are gone, unless the service named the
    /// invalid input. Canceled ones are not among them.
    pub fn to_retry(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| task.has_failed() && refused_input::may_succeed_unchanged(task))
            .collect()
    }

    /// Returns the tasks that `Stop` returns to the table: those that were not sent yet.
    pub fn unsent(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| Part::of(task) == Part::Queued)
            .collect()
    }

    /// Returns the tasks that `Cancel the rest` cancels, at a service that can do that.
    pub fn to_cancel(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| Action::CancelAtService.is_allowed(task))
            .collect()
    }

    /// Returns the tasks that were stopped and have not been returned to the table yet.
    pub fn taken_back(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest.filter(|task| task.taken_back).collect()
    }

    /// Returns when the last item ended; `None` while any is in progress.
    pub fn finished(&self) -> Option<Millis> {
        if !self.counts().is_settled() {
            return None;
        }
        self.latest()
            .flatten()
            .filter_map(|task| task.finished)
            .max()
    }

    /// Returns the number of outputs that each item requests, if it is the same for all.
    pub fn outputs_of_each(&self, schema: Option<&Schema>) -> Option<usize> {
        let items = self.latest().flatten();
        let mut counts =
            items.map(|task| expected_output::expected_count(task.input.values(), schema));
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// Estimates the remaining time in ms. The estimate is based on the rate of the items that ended last, or, if a
    /// single item is left, on the `typical` time of a task of this model. `None` if neither is known or no item is
    /// left. A typical time can't be used for several items, because the number of tasks that a service runs
    /// concurrently is unknown.
    pub fn remaining(&self, now: Millis, typical: Option<Millis>) -> Option<Millis> {
        const PACE_OF: usize = 20;
        const LEAST: usize = 5;
        let counts = self.counts();
        let left = counts.of(Part::InProgress) + counts.of(Part::Queued);
        // Items that ended before a break, such as the one before a retry, don't count.
        let since = self.worked.running_since().filter(|_| left > 0)?;
        let ends = self.latest().flatten().filter_map(|task| task.finished);
        let mut ends: Vec<Millis> = ends.filter(|end| *end >= since).collect();
        ends.sort_unstable();
        let recent = &ends[ends.len().saturating_sub(PACE_OF)..];
        if let ([first, .., last], true) = (recent, recent.len() >= LEAST)
            && last > first
        {
            // Count the time up to now, so that the estimate of a stalled batch grows.
            let pace = (now.max(*last) - first) / recent.len() as u64;
            return Some(pace.saturating_mul(left as u64));
        }
        let is_left = |task: &&Task| matches!(Part::of(task), Part::InProgress | Part::Queued);
        let mut unfinished = self.latest().flatten().filter(is_left);
        let only = unfinished.next().filter(|_| left == 1)?;
        let (typical, elapsed) = (typical?, now.saturating_sub(only.submitted.unwrap_or(now)));
        match progress::reported(only) {
            // The fraction may never change again.
            Some(_) if elapsed > typical => None,
            Some(fraction) => Some((typical as f64 * (1.0 - fraction)) as Millis),
            None => Some(typical.saturating_sub(elapsed)),
        }
    }

    /// Returns the completed share of the items in progress, from 0 to 1, as the service reports it.
    pub fn progress(&self) -> f64 {
        let latest = self.latest().flatten();
        let in_progress = latest.filter(|task| Part::of(task) == Part::InProgress);
        let (count, sum) = in_progress.fold((0_u32, 0.0), |(count, sum), task| {
            (
                count + 1,
                sum + progress::reported(task).unwrap_or_default(),
            )
        });
        sum / f64::from(count.max(1))
    }
}

#[cfg(test)]
pub(crate) mod tests;
