//! The list of all tasks: found by text, state, model and date, newest first. Its folder has what is written of tasks:
//! `history_file` in an `archive`, `manifest` for a batch; and `lineage`, what was made from what.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use atelier_contract::ModelId;
use atelier_engine::{BatchKey, BatchPlace, Millis, Phase, Task, TaskKey, TaskState, duration};

use crate::form::control;
use crate::navigation::search::{Query, Searchable};
use crate::text::plural::{counted_many, grouped};

pub mod archive;
pub mod history_file;
pub mod lineage;
pub mod manifest;

/// A newest that is further ahead of the clock is no clock that was set back, but one that was wrong.
const MAX_AHEAD: Millis = 24 * 60 * 60 * 1_000;

/// When something new says that it was created, in ms since 1970: now, but later than the newest that
/// is listed. Lists show the newest first, and what was just asked for must not stand below what is
/// older because the clock was set back. `noted` is the newest that was noted outside storage, for a
/// tab whose storage has not answered yet.
pub fn created(now: Millis, listed: Option<Millis>, noted: Option<Millis>) -> Millis {
    let noted = noted.filter(|noted| *noted <= now.saturating_add(MAX_AHEAD));
    let newest = listed.max(noted);
    newest.map_or(now, |newest| now.max(newest.saturating_add(1)))
}

/// The knowledge of the list about a task, made once per change of the task and read on every key press.
#[derive(Debug, Clone)]
pub struct HistoryEntry {
    pub key: TaskKey,
    pub model: ModelId,
    pub batch: Option<BatchPlace>,
    /// When it was created, in ms since 1970.
    pub created: Millis,
    pub phase: Phase,
    pub has_favorites: bool,
    text: Searchable,
}

impl HistoryEntry {
    /// A task is found by its title, its model, its other parameters, each by name and value, its id
    /// and its error.
    pub fn new(task: &Task) -> Self {
        let title = task.input.title();
        let values = task.input.values().iter();
        let others: Vec<String> = values
            .filter(|(_, value)| value.as_str().is_none_or(|text| text.trim() != title))
            .map(|(name, value)| format!("{name} {}", control::text(value)))
            .collect();
        let said = match &task.state {
            TaskState::Failed { message, .. } => message.as_str(),
            _ => "",
        };
        let id = task.state.id().map_or("", |id| id.0.as_str());
        let model = format!("{} {}", task.model_name, task.model);
        Self {
            key: task.key.clone(),
            model: task.model.clone(),
            batch: task.batch.clone(),
            created: task.created,
            phase: task.state.phase(),
            has_favorites: !task.favorites.is_empty(),
            text: Searchable::new([title, &model, &others.join(" "), said, id]),
        }
    }
}

/// The wishes of a person. The default asks for everything.
#[derive(Debug, Clone)]
pub struct Filter {
    pub query: Query,
    /// The batches whose names match the query: their tasks are found by them, too.
    pub named: HashSet<BatchKey>,
    /// The phases that are wanted; none means any.
    pub phases: Vec<Phase>,
    pub model: Option<ModelId>,
    /// Only tasks with an output that is a favorite.
    pub favorites: bool,
    /// The time of creation that is wanted, in ms since 1970, from the first to before the last.
    pub created: Range<Millis>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            query: Query::default(),
            named: HashSet::new(),
            phases: Vec::new(),
            model: None,
            favorites: false,
            created: 0..u64::MAX,
        }
    }
}

/// The tasks found, and what else there would be to find.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Positions in the records given: newest first; those submitted at once in reverse order.
    pub positions: Vec<usize>,
    /// Per state, how many of the tasks that match the rest of the filter are in it.
    pub phases: Vec<(Phase, usize)>,
    /// Per model likewise, the most used first, else as they come.
    pub models: Vec<(ModelId, usize)>,
}

impl Filter {
    fn is_asked_for(&self, record: &HistoryEntry) -> bool {
        let is_named = |place: &BatchPlace| self.named.contains(&place.batch);
        self.query.score(&record.text).is_some() || record.batch.as_ref().is_some_and(is_named)
    }

    /// Finds, in one pass. A choice's counts leave out that choice's own condition: they say what
    /// choosing otherwise would give.
    pub fn find(&self, records: &[HistoryEntry]) -> Found {
        let mut found: Vec<(Millis, usize)> = Vec::new();
        let mut phases: Vec<(Phase, usize)> = Vec::new();
        let mut models: Vec<(&ModelId, usize)> = Vec::new();
        let mut asked = Vec::new();
        for (position, record) in records.iter().enumerate() {
            let right_phase = self.phases.is_empty() || self.phases.contains(&record.phase);
            let right_model = self
                .model
                .as_ref()
                .is_none_or(|model| *model == record.model);
            if (right_phase || right_model)
                && self.created.contains(&record.created)
                && (!self.favorites || record.has_favorites)
                && self.is_asked_for(record)
            {
                asked.push((position, record, right_phase, right_model));
            }
        }
        let has_numbers = |record: &HistoryEntry| self.query.has_its_numbers(&record.text);
        let mut right = (asked.iter()).filter(|(_, _, phase, model)| *phase && *model);
        if self.query.asks_for_numbers() && right.any(|(_, record, ..)| has_numbers(record)) {
            asked.retain(|(_, record, ..)| has_numbers(record));
        }
        for (position, record, right_phase, right_model) in asked {
            if right_model {
                count(&mut phases, record.phase);
            }
            if right_phase {
                count(&mut models, &record.model);
            }
            if right_phase && right_model {
                found.push((record.created, position));
            }
        }
        found.sort_unstable();
        models.sort_by_key(|(_, count)| Reverse(*count));
        Found {
            positions: found.into_iter().rev().map(|(_, at)| at).collect(),
            phases,
            models: models
                .into_iter()
                .map(|(model, count)| (model.clone(), count))
                .collect(),
        }
    }
}

/// Few different ones: a list beats a map.
fn count<T: PartialEq>(counts: &mut Vec<(T, usize)>, what: T) {
    match counts.iter_mut().find(|(known, _)| *known == what) {
        Some((_, count)) => *count += 1,
        None => counts.push((what, 1)),
    }
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HistoryRow {
    Task(TaskKey),
    /// The tasks of a batch that were found, at least two, in its order.
    Batch(BatchKey, Vec<TaskKey>),
}

/// Says how much of all tasks a list shows, and how many of them have no row of their own: `6 tasks`, `2 tasks of 6`,
/// `16 tasks (9 grouped in batches)`.
pub fn count_label(found: usize, all: usize, rows: &[HistoryRow]) -> String {
    let in_batches = rows.iter().map(|row| match row {
        HistoryRow::Task(_) => 0,
        HistoryRow::Batch(_, tasks) => tasks.len(),
    });
    let tasks = match found == all {
        true => counted_many(all, "task"),
        false => format!("{} of {}", counted_many(found, "task"), grouped(all)),
    };
    match in_batches.sum() {
        0 => tasks,
        count => format!("{tasks} ({} grouped in batches)", grouped(count)),
    }
}

/// The tasks found, as the list shows them: those of one batch together, where its newest stands. One
/// alone, such as the one that was searched for, is a row like any other.
pub fn rows(records: &[HistoryEntry], positions: &[usize]) -> Vec<HistoryRow> {
    let mut places: HashMap<&BatchKey, usize> = HashMap::new();
    let mut rows: Vec<Vec<&HistoryEntry>> = Vec::new();
    for record in positions.iter().filter_map(|at| records.get(*at)) {
        let batch = record.batch.as_ref().map(|place| &place.batch);
        let known = batch.and_then(|batch| places.get(batch));
        match known.and_then(|at| rows.get_mut(*at)) {
            Some(row) => row.push(record),
            None => {
                if let Some(batch) = batch {
                    places.insert(batch, rows.len());
                }
                rows.push(vec![record]);
            }
        }
    }
    rows.into_iter()
        .filter_map(|mut row| {
            let (first, place) = (*row.first()?, row.first()?.batch.as_ref());
            let Some(place) = place.filter(|_| row.len() > 1) else {
                return Some(HistoryRow::Task(first.key.clone()));
            };
            row.sort_by_key(|record| record.batch.as_ref().map(|place| place.index));
            let keys = row.into_iter().map(|record| record.key.clone());
            Some(HistoryRow::Batch(place.batch.clone(), keys.collect()))
        })
        .collect()
}

/// A task that took longer was not watched all the time.
const LONGEST_RUN: Millis = 60 * 60 * 1_000;

/// So many tasks with as many outputs say more than all tasks that completed.
const ENOUGH_ALIKE: usize = 3;

/// How long a task of this model takes, in ms, by the tasks that have completed so far: those that did not have to wait
/// for the others of their batch, if there are some; and those with as many outputs as are asked for now, if that is
/// known and there are some.
pub fn estimate<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
    model: &ModelId,
    outputs: Option<usize>,
) -> Option<Millis> {
    let of_model = tasks.into_iter().filter(|task| task.model == *model);
    let mut runs: Vec<Run> = of_model.filter_map(Run::of).collect();
    let is_alike = |run: &Run| outputs == Some(run.outputs);
    for is_closer in [
        &(|run: &Run| run.is_single) as &dyn Fn(&Run) -> bool,
        &is_alike,
    ] {
        if runs.iter().filter(|run| is_closer(run)).count() >= ENOUGH_ALIKE {
            runs.retain(is_closer);
        }
    }
    let mut times: Vec<(Millis, Millis)> = runs.iter().map(|run| (run.ended, run.time)).collect();
    times.sort_unstable();
    duration::estimate(times.into_iter().rev().map(|(_, time)| time))
}

/// A task that has completed under the eyes of a page.
struct Run {
    ended: Millis,
    time: Millis,
    outputs: usize,
    is_single: bool,
}

impl Run {
    fn of(task: &Task) -> Option<Self> {
        if task.state.phase() != Phase::Ready {
            return None;
        }
        let ended = task.finished.filter(|_| !task.ended_unseen)?;
        let time = ended.checked_sub(task.submitted?)?;
        // Records of earlier versions don't say who saw it end: the night between is nothing that a model takes.
        (time < LONGEST_RUN).then_some(Self {
            ended,
            time,
            outputs: task.outputs().len(),
            is_single: task.batch.is_none(),
        })
    }
}

#[cfg(test)]
mod tests;
