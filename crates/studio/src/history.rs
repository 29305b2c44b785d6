//! Lists all tasks, newest first, filtered by text, state, model and date. Submodules: `history_file` and `archive`
//! export and import the history, `manifest` exports a batch, and `lineage` finds which outputs became inputs.

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

/// The maximum time in ms by which `noted` in [`created`] may be ahead of the clock. If it is further ahead, the clock
/// was wrong when it was saved.
const MAX_AHEAD: Millis = 24 * 60 * 60 * 1_000;

/// Returns the creation time of a new task or batch in ms since 1970-01-01 UTC: the current time, or 1 ms after the
/// newest task or batch if that is later. Lists show the newest first, so a new task must not be sorted below older
/// ones. `listed`: the newest time in the list. `noted`: the newest time that was saved outside the database, for a tab
/// that has not read the database yet.
pub fn created(now: Millis, listed: Option<Millis>, noted: Option<Millis>) -> Millis {
    let noted = noted.filter(|noted| *noted <= now.saturating_add(MAX_AHEAD));
    let newest = listed.max(noted);
    newest.map_or(now, |newest| now.max(newest.saturating_add(1)))
}

/// A task with the data that the list needs. It is computed when the task changes, and read at each key press of a
/// search.
#[derive(Debug, Clone)]
pub struct HistoryEntry {
    pub key: TaskKey,
    pub model: ModelId,
    pub batch: Option<BatchPlace>,
    /// When the task was created, in ms since 1970-01-01 UTC.
    pub created: Millis,
    pub phase: Phase,
    pub has_favorites: bool,
    text: Searchable,
}

impl HistoryEntry {
    /// Creates the entry of a task. Its searchable text consists of the title, the model, the names and values of other
    /// parameters, the error and the id.
    pub fn new(task: &Task) -> Self {
        let title = task.input.title();
        let values = task.input.values().iter();
        let others: Vec<String> = values
            .filter(|(_, value)| value.as_str().is_none_or(|text| text.trim() != title))
            .map(|(name, value)| format!("{name} {}", control::text(value)))
            .collect();
        let error = match &task.state {
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
            text: Searchable::new([title, &model, &others.join(" "), error, id]),
        }
    }
}

/// The criteria of the list. The default matches everything.
#[derive(Debug, Clone)]
pub struct Filter {
    pub query: Query,
    /// The batches whose names match the query. Their tasks match, too.
    pub named: HashSet<BatchKey>,
    /// The phases to find; empty for any.
    pub phases: Vec<Phase>,
    pub model: Option<ModelId>,
    /// Whether to find only tasks with a favorite output.
    pub favorites: bool,
    /// The range of creation times, in ms since 1970-01-01 UTC.
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

/// The matching tasks, and the numbers of tasks that other choices would find.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The indexes of the matching records, newest first. Records with the same creation time are in reverse order.
    pub positions: Vec<usize>,
    /// For each state, the number of tasks that match the other criteria.
    pub phases: Vec<(Phase, usize)>,
    /// For each model, the number of tasks that match the other criteria. Sorted by this number, the largest first.
    pub models: Vec<(ModelId, usize)>,
}

impl Filter {
    fn matches(&self, record: &HistoryEntry) -> bool {
        let is_named = |place: &BatchPlace| self.named.contains(&place.batch);
        self.query.score(&record.text).is_some() || record.batch.as_ref().is_some_and(is_named)
    }

    /// Finds the matching tasks. The counts per state ignore the criterion for states, and those per model ignore the
    /// one for models, because they show how many tasks another choice would find.
    pub fn find(&self, records: &[HistoryEntry]) -> Found {
        let mut found: Vec<(Millis, usize)> = Vec::new();
        let mut phases: Vec<(Phase, usize)> = Vec::new();
        let mut models: Vec<(&ModelId, usize)> = Vec::new();
        let mut matching = Vec::new();
        for (position, record) in records.iter().enumerate() {
            let right_phase = self.phases.is_empty() || self.phases.contains(&record.phase);
            let right_model = self
                .model
                .as_ref()
                .is_none_or(|model| *model == record.model);
            if (right_phase || right_model)
                && self.created.contains(&record.created)
                && (!self.favorites || record.has_favorites)
                && self.matches(record)
            {
                matching.push((position, record, right_phase, right_model));
            }
        }
        let has_numbers = |record: &HistoryEntry| self.query.contains_long_numbers(&record.text);
        let mut right = (matching.iter()).filter(|(_, _, phase, model)| *phase && *model);
        if self.query.has_long_numbers() && right.any(|(_, record, ..)| has_numbers(record)) {
            matching.retain(|(_, record, ..)| has_numbers(record));
        }
        for (position, record, right_phase, right_model) in matching {
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

/// Increments the count of a value in a list, which is faster than a map for a few distinct values.
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
    /// The tasks of a batch that were found, at least two, in order.
    Batch(BatchKey, Vec<TaskKey>),
}

/// Returns a label with the number of tasks in a list and of those grouped in batches: `6 tasks`, `2 tasks of 6`, `16
/// tasks (9 grouped in batches)`.
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

/// Groups tasks into rows. Several tasks of a batch share a row, at the position of the newest. All other tasks have
/// separate rows.
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

/// The maximum duration in ms of a task that counts. If a task took longer, its page was probably closed meanwhile.
const LONGEST_RUN: Millis = 60 * 60 * 1_000;

/// The minimum number of similar tasks for which the estimate ignores all other tasks.
const MIN_SIMILAR: usize = 3;

/// Estimates the duration of a task of this model, in ms, from completed tasks. If there are enough such tasks, only
/// tasks outside batches are used, because they did not wait for other tasks, and only tasks with the requested number
/// of outputs.
pub fn estimate<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
    model: &ModelId,
    outputs: Option<usize>,
) -> Option<Millis> {
    let of_model = tasks.into_iter().filter(|task| task.model == *model);
    let mut runs: Vec<Run> = of_model.filter_map(Run::of).collect();
    let is_similar = |run: &Run| outputs == Some(run.outputs);
    for is_closer in [
        &(|run: &Run| run.is_single) as &dyn Fn(&Run) -> bool,
        &is_similar,
    ] {
        if runs.iter().filter(|run| is_closer(run)).count() >= MIN_SIMILAR {
            runs.retain(is_closer);
        }
    }
    let mut times: Vec<(Millis, Millis)> = runs.iter().map(|run| (run.ended, run.time)).collect();
    times.sort_unstable();
    duration::estimate(times.into_iter().rev().map(|(_, time)| time))
}

/// A completed task whose end a tab of this browser has observed.
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
        // Records of earlier versions don't contain `ended_unseen`, so exclude long durations.
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
