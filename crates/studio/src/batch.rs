//! A batch: many tasks that were composed together. Its record holds what the tasks do not; how it
//! stands is always counted from them.

use std::collections::HashSet;

use atelier_contract::{ModelId, Schema};
use atelier_engine::{BatchKey, Millis, Task, TaskKey, UNDO_MS};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use working_time::WorkingTime;

pub use part::Part;

use crate::compose::sweep::GridLabels;
use crate::form::refused_input;
use crate::output::expected_output;

pub mod again;
pub mod blocks;
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

/// A batch as it is stored: names and shapes do not change. Fields of later versions are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub key: BatchKey,
    pub model: ModelId,
    pub model_name: String,
    /// The name that people see; they may change it.
    pub name: String,
    /// When it was composed, in ms since 1970.
    pub created: Millis,
    /// One more than the place of the last item: items that were to be sent, with those of `left_out`.
    pub size: usize,
    /// How to lay out the items of a sweep over two axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridLabels>,
    /// When a person removed it, in ms since 1970. Its tasks say whether it was brought back since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Millis>,
    /// Items, from 0, that were not sent with it, ascending: their rows can't be sent, another tab had sent them, or they
    /// are to be sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<usize>,
    /// The task that all of it are variations of.
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
    /// The time that its tasks have worked, with all their attempts.
    worked: WorkingTime,
}

impl Batch {
    /// Another name, if that says anything; whether it is another.
    pub fn rename(&mut self, name: &str) -> bool {
        const LONGEST: usize = 120;
        let name: String = name.trim().chars().take(LONGEST).collect();
        let is_new = !name.is_empty() && name != self.name;
        if is_new {
            self.name = name;
        }
        is_new
    }

    /// Items that were sent with it.
    pub fn count(&self) -> usize {
        self.size.saturating_sub(self.left_out.len())
    }

    /// Gives the size of a batch of items at these places, which ascend, and the places between them that have none.
    pub fn gaps(places: &[usize]) -> (usize, Vec<usize>) {
        let size = places.last().map_or(0, |last| last + 1);
        let is_gap = |place: &usize| places.binary_search(place).is_err();
        (size, (0..size).filter(is_gap).collect())
    }

    /// Gives the items that have no task any more once those go, and these are `left`.
    pub fn emptied<'a>(
        &self,
        going: impl IntoIterator<Item = &'a Task>,
        left: impl IntoIterator<Item = &'a Task>,
    ) -> Vec<usize> {
        let item = |task: &Task| task.index_in(&self.key);
        let left: HashSet<usize> = left.into_iter().filter_map(item).collect();
        let going = going.into_iter().filter_map(item);
        going.filter(|item| !left.contains(item)).collect()
    }

    /// Some items were not sent with it after all; whether that is new of any.
    pub fn leave_out(&mut self, items: impl IntoIterator<Item = usize>) -> bool {
        let before = self.left_out.len();
        self.left_out
            .extend(items.into_iter().filter(|item| *item < self.size));
        self.left_out.sort_unstable();
        self.left_out.dedup();
        self.left_out.len() != before
    }

    /// A person has removed it, and none of its tasks is there: it is not shown any more.
    pub fn is_removed<'a>(&'a self, tasks: impl IntoIterator<Item = &'a Task>) -> bool {
        self.removed.is_some() && self.items(tasks).latest().all(|task| task.is_none())
    }

    /// It can't be brought back any more: its record may go. Variations are no batch for who sees them: they are removed
    /// one by one.
    pub fn is_to_be_forgotten<'a>(
        &self,
        tasks: impl IntoIterator<Item = &'a Task>,
        now: Millis,
    ) -> bool {
        // Other tabs may hear of a batch before they hear of its tasks.
        const SETTLED_AFTER: Millis = 3_600_000;
        let mut tasks = tasks.into_iter();
        let is_mine = |task: &Task| task.batch.as_ref().is_some_and(|b| b.batch == self.key);
        let is_over = |removed: Millis| now >= removed.saturating_add(UNDO_MS);
        let is_settled = now >= self.created.saturating_add(SETTLED_AFTER);
        let may_go = self.removed.is_some_and(is_over) || (self.varied.is_some() && is_settled);
        may_go && !tasks.any(is_mine)
    }

    /// Picks this batch's items out of the tasks. An item whose tasks were all removed has none.
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
                // A clock that was set back must not bring an old attempt to the front.
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

/// When a task began, and ended if it did; `None` where the time is unknown, and while it waits for a person.
fn span(task: &Task) -> Option<(Millis, Option<Millis>)> {
    let is_awaited = match Part::of(task) {
        Part::InProgress => true,
        Part::Queued => !task.paused,
        _ => false,
    };
    // Records of earlier versions don't say when it was sent once more.
    let resubmitted = task.submitted.filter(|_| task.resubmitted);
    let began = task.requeued.or(resubmitted).unwrap_or(task.created);
    (is_awaited || task.finished.is_some()).then_some((began, task.finished))
}

/// How many items each part has; parts without any are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub Vec<(Part, usize)>);

impl Counts {
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

    pub fn of(&self, part: Part) -> usize {
        let found = self.0.iter().find(|(other, _)| *other == part);
        found.map_or(0, |(_, count)| *count)
    }

    pub fn total(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Gives how many items have come to their end.
    pub fn done(&self) -> usize {
        self.total() - self.of(Part::InProgress) - self.of(Part::Queued)
    }

    /// Nothing more happens by itself.
    pub fn is_settled(&self) -> bool {
        self.done() == self.total()
    }

    /// `22 completed`, `3 failed`
    pub fn phrases(&self) -> impl Iterator<Item = (Part, String)> {
        let phrase = |(part, count): &(Part, usize)| (*part, format!("{count} {}", part.word()));
        self.0.iter().map(phrase)
    }

    /// `22 completed, 3 failed`
    pub fn user_message(&self) -> String {
        let phrases: Vec<String> = self.phrases().map(|(_, phrase)| phrase).collect();
        phrases.join(", ")
    }

    /// The bar: each part's share of the whole, from 0 to 1.
    pub fn shares(&self) -> impl Iterator<Item = (Part, f64)> {
        let total = self.total().max(1) as f64;
        self.0
            .iter()
            .map(move |(part, count)| (*part, *count as f64 / total))
    }
}

impl<'a> Items<'a> {
    /// The latest attempt of each item, in the batch's order.
    pub fn latest(&self) -> impl Iterator<Item = Option<&'a Task>> {
        self.attempts.iter().copied()
    }

    pub fn worked(&self) -> WorkingTime {
        self.worked
    }

    pub fn get(&self, index: usize) -> Option<&'a Task> {
        self.attempts.get(index).copied().flatten()
    }

    /// Not of those that were left out.
    pub fn counts(&self) -> Counts {
        let numbered = self.latest().enumerate();
        let sent = numbered.filter(|(at, task)| task.is_some() || !self.is_left_out(*at));
        Counts::of_parts(sent.map(|(_, task)| task.map_or(Part::Removed, Part::of)))
    }

    /// It was not sent with this batch after all.
    pub fn is_left_out(&self, index: usize) -> bool {
        self.left_out.binary_search(&index).is_ok()
    }

    /// The attempts that `Retry failed` repeats: items whose latest attempt failed or is gone, where the service did not name
    /// what it refuses of the input.
    pub fn to_retry(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| refused_input::may_pass_again(task))
            .collect()
    }

    /// The items that `Stop` takes back: those of which nothing was sent yet.
    pub fn unsent(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| Part::of(task) == Part::Queued)
            .collect()
    }

    /// Gives the tasks that were stopped and do not stand in the table yet.
    pub fn taken_back(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest.filter(|task| task.taken_back).collect()
    }

    /// When the last item ended; `None` while any goes on.
    pub fn finished(&self) -> Option<Millis> {
        if !self.counts().is_settled() {
            return None;
        }
        self.latest()
            .flatten()
            .filter_map(|task| task.finished)
            .max()
    }

    /// How many outputs each item asks for, where that is the same for all.
    pub fn outputs_of_each(&self, schema: Option<&Schema>) -> Option<usize> {
        let items = self.latest().flatten();
        let mut counts =
            items.map(|task| expected_output::expected_count(task.input.values(), schema));
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// How long the rest will take, in ms: by the pace of the latest items to end since it was taken up, or, of a
    /// single item, by the time that a task of this model takes (`typical`). `None` if neither is known or nothing is
    /// left: how many a service works on at one time is not known before.
    pub fn remaining(&self, now: Millis, typical: Option<Millis>) -> Option<Millis> {
        const PACE_OF: usize = 20;
        const LEAST: usize = 5;
        let counts = self.counts();
        let left = counts.of(Part::InProgress) + counts.of(Part::Queued);
        // A pause before a retry says nothing about the pace.
        let since = self.worked.going_on_since().filter(|_| left > 0)?;
        let ends = self.latest().flatten().filter_map(|task| task.finished);
        let mut ends: Vec<Millis> = ends.filter(|end| *end >= since).collect();
        ends.sort_unstable();
        let recent = &ends[ends.len().saturating_sub(PACE_OF)..];
        if let ([first, .., last], true) = (recent, recent.len() >= LEAST)
            && last > first
        {
            // Counted up to now, so that a batch that has come to a halt gives no pace.
            let pace = (now.max(*last) - first) / recent.len() as u64;
            return Some(pace.saturating_mul(left as u64));
        }
        let is_left = |task: &&Task| matches!(Part::of(task), Part::InProgress | Part::Queued);
        let mut going_on = self.latest().flatten().filter(is_left);
        let only = going_on.next().filter(|_| left == 1)?;
        let elapsed = now.saturating_sub(only.submitted.unwrap_or(now));
        Some(typical?.saturating_sub(elapsed))
    }
}

#[cfg(test)]
pub(crate) mod tests;
