//! A batch: many tasks that were composed together. Its record holds what the tasks do not; how it
//! stands is always counted from them.

use atelier_contract::{ModelId, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::compose::sweep::GridLabels;
use crate::{BatchKey, Millis, Phase, Task, UNDO, duration, output, sort};

pub mod differences;
pub mod exploration;
pub mod naming;
pub mod requests;
pub mod space;
mod stored;
pub mod summary;

/// A batch as it is stored: names and shapes do not change. Fields of later versions are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub key: BatchKey,
    pub model: ModelId,
    pub model_name: String,
    /// What people call it.
    pub name: String,
    pub created: Millis,
    /// Items that were to be sent.
    pub size: usize,
    /// How to lay out the items of a sweep over two axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridLabels>,
    /// When a person removed it. Its tasks say whether it was brought back since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Millis>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The items of a batch, each with its latest attempt.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    attempts: Vec<Option<&'a Task>>,
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

    /// A person has removed it, and none of its tasks is there: it is not shown any more.
    pub fn is_removed<'a>(&self, tasks: impl IntoIterator<Item = &'a Task>) -> bool {
        self.removed.is_some() && self.items(tasks).latest().all(|task| task.is_none())
    }

    /// It can't be brought back any more: its record may go.
    pub fn is_to_be_forgotten<'a>(
        &self,
        tasks: impl IntoIterator<Item = &'a Task>,
        now: Millis,
    ) -> bool {
        let mut tasks = tasks.into_iter();
        let is_mine = |task: &Task| task.batch.as_ref().is_some_and(|b| b.batch == self.key);
        let is_over = |removed: Millis| now >= removed.saturating_add(UNDO);
        self.removed.is_some_and(is_over) && !tasks.any(is_mine)
    }

    /// Picks this batch's items out of the tasks. An item whose tasks were all removed has none.
    pub fn items<'a>(&self, tasks: impl IntoIterator<Item = &'a Task>) -> Items<'a> {
        let mut attempts: Vec<Option<&Task>> = vec![None; self.size];
        for task in tasks {
            if task.removed.is_some() {
                continue;
            }
            let Some(place) = task.batch.as_ref().filter(|place| place.batch == self.key) else {
                continue;
            };
            let Some(slot) = attempts.get_mut(place.index) else {
                continue;
            };
            let is_later = |other: &Task| {
                // A clock that was set back must not bring an old attempt to the front.
                let repeats = |a: &Task, b: &Task| a.retry_of.as_ref() == Some(&b.key);
                repeats(task, other) || (task.created > other.created && !repeats(other, task))
            };
            if slot.is_none_or(is_later) {
                *slot = Some(task);
            }
        }
        Items { attempts }
    }
}

/// The parts of a batch's bar, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Completed,
    Failed,
    Gone,
    /// Waits for a person.
    Unconfirmed,
    InProgress,
    Queued,
    /// Its task was taken back, or is no longer in the list.
    Removed,
}

impl Part {
    pub const ALL: [Self; 7] = [
        Self::Completed,
        Self::Failed,
        Self::Gone,
        Self::Unconfirmed,
        Self::InProgress,
        Self::Queued,
        Self::Removed,
    ];

    pub fn of(task: &Task) -> Self {
        match task.state.phase() {
            Phase::Queued if task.taken_back => Self::Removed,
            Phase::Ready => Self::Completed,
            Phase::Failed => Self::Failed,
            Phase::Gone => Self::Gone,
            Phase::Unconfirmed => Self::Unconfirmed,
            Phase::Submitting | Phase::Running | Phase::Fetching => Self::InProgress,
            Phase::Queued => Self::Queued,
        }
    }

    /// As in `22 completed`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Gone => "gone",
            Self::Unconfirmed => "unconfirmed",
            Self::InProgress => "in progress",
            Self::Queued => "queued",
            Self::Removed => "removed",
        }
    }

    /// What its colour goes by, as that of a task does.
    pub fn phase_word(self) -> &'static str {
        match self {
            Self::Completed => Phase::Ready.word(),
            Self::Failed => Phase::Failed.word(),
            Self::Gone => Phase::Gone.word(),
            Self::Unconfirmed => Phase::Unconfirmed.word(),
            Self::InProgress => Phase::Running.word(),
            Self::Queued => Phase::Queued.word(),
            Self::Removed => "removed",
        }
    }
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

    /// Of how many items nothing more is awaited.
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

    pub fn get(&self, index: usize) -> Option<&'a Task> {
        self.attempts.get(index).copied().flatten()
    }

    pub fn counts(&self) -> Counts {
        Counts::of_parts(
            self.latest()
                .map(|task| task.map_or(Part::Removed, Part::of)),
        )
    }

    /// The attempts that `Retry failed` repeats: items whose latest attempt failed or is gone.
    pub fn to_retry(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest.filter(|task| task.can_retry()).collect()
    }

    /// The items that `Stop` takes back: those of which nothing was sent yet.
    pub fn unsent(&self) -> Vec<&'a Task> {
        let latest = self.latest().flatten();
        latest
            .filter(|task| Part::of(task) == Part::Queued)
            .collect()
    }

    /// What was stopped and does not stand in the table yet.
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
        let mut counts = items.map(|task| output::expected_count(task.input.values(), schema));
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// How long the rest will take, in ms: by the pace of the latest items to end, or, before
    /// there is a pace, by the time that a task of this model takes (`typical`). `None` if neither
    /// is known or nothing is left.
    pub fn remaining(&self, now: Millis, typical: Option<Millis>) -> Option<Millis> {
        const PACE_OF: usize = 20;
        const LEAST: usize = 5;
        let counts = self.counts();
        if counts.is_settled() {
            return None;
        }
        let (active, queued) = (counts.of(Part::InProgress), counts.of(Part::Queued));
        let finished = self.latest().flatten().filter_map(|task| task.finished);
        let mut ends: Vec<(Millis, u64)> = finished.zip(0..).collect();
        sort::pairs(&mut ends);
        let recent = &ends[ends.len().saturating_sub(PACE_OF)..];
        if let ([(first, _), .., (last, _)], true) = (recent, recent.len() >= LEAST)
            && last > first
        {
            // Counted up to now: a pace that has stopped is no pace.
            let pace = (now.max(*last) - first) / recent.len() as u64;
            return Some(pace.saturating_mul((active + queued) as u64));
        }
        let own = || {
            let times = self.latest().flatten().filter_map(|task| {
                let ready = task.state.phase() == Phase::Ready;
                task.finished?
                    .checked_sub(task.submitted?)
                    .filter(|_| ready)
            });
            duration::estimate(times)
        };
        let typical = typical.or_else(own)?;
        // What runs now ends one by one; what waits takes their places, as many at a time.
        let running = self
            .latest()
            .flatten()
            .filter(|task| Part::of(task) == Part::InProgress);
        let left =
            |task: &Task| typical.saturating_sub(now.saturating_sub(task.submitted.unwrap_or(now)));
        let last_to_end = running.map(left).max().unwrap_or(0);
        let waves = queued.div_ceil(active.max(1)) as u64;
        Some(last_to_end.saturating_add(waves.saturating_mul(typical)))
    }
}

#[cfg(test)]
mod tests;
