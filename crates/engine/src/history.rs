//! The list of all tasks: found by text, state, model and date, newest first.

use std::collections::HashMap;
use std::ops::Range;

use atelier_contract::ModelId;

use crate::search::{Query, Searchable};
use crate::{
    BatchKey, BatchPlace, Millis, Phase, Task, TaskKey, TaskState, control, duration, sort,
};

/// When something new says that it was created, in ms since 1970: now, but later than the newest that
/// is there. Lists show the newest first, and what was just asked for must not stand below what is
/// older because the clock was set back.
pub fn created(now: Millis, newest: Option<Millis>) -> Millis {
    newest.map_or(now, |newest| now.max(newest.saturating_add(1)))
}

/// What the list knows of a task: made once per change of the task, read on every key press.
#[derive(Debug, Clone)]
pub struct HistoryEntry {
    pub key: TaskKey,
    pub model: ModelId,
    pub batch: Option<BatchPlace>,
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

/// What a person asks for. The default asks for everything.
#[derive(Debug, Clone)]
pub struct Filter {
    pub query: Query,
    /// None means any.
    pub phases: Vec<Phase>,
    pub model: Option<ModelId>,
    /// Only tasks with an output that is a favorite.
    pub favorites: bool,
    /// From the first to before the last, in ms since 1970.
    pub created: Range<Millis>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            query: Query::default(),
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
    /// Finds, in one pass. A choice's counts leave out that choice's own condition: they say what
    /// choosing otherwise would give.
    pub fn find(&self, records: &[HistoryEntry]) -> Found {
        let mut found: Vec<(u64, u64)> = Vec::new();
        let mut phases: Vec<(Phase, usize)> = Vec::new();
        let mut models: Vec<(&ModelId, usize)> = Vec::new();
        for (position, record) in records.iter().enumerate() {
            let right_phase = self.phases.is_empty() || self.phases.contains(&record.phase);
            let right_model = self
                .model
                .as_ref()
                .is_none_or(|model| *model == record.model);
            if !(right_phase || right_model)
                || !self.created.contains(&record.created)
                || (self.favorites && !record.has_favorites)
                || self.query.score(&record.text).is_none()
            {
                continue;
            }
            if right_model {
                count(&mut phases, record.phase);
            }
            if right_phase {
                count(&mut models, &record.model);
            }
            if right_phase && right_model {
                found.push((record.created, position as u64));
            }
        }
        sort::pairs(&mut found);
        let most_used_first = sort::positions(models.iter().map(|(_, n)| u64::MAX - *n as u64));
        Found {
            positions: found.into_iter().rev().map(|(_, at)| at as usize).collect(),
            phases,
            models: most_used_first
                .into_iter()
                .map(|at| (models[at].0.clone(), models[at].1))
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
pub enum Row {
    Task(TaskKey),
    /// What was found of a batch, at least two tasks, in its order.
    Batch(BatchKey, Vec<TaskKey>),
}

/// The tasks found, as the list shows them: those of one batch together, where its newest stands. One
/// alone, such as the one that was searched for, is a row like any other.
pub fn rows(records: &[HistoryEntry], positions: &[usize]) -> Vec<Row> {
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
                return Some(Row::Task(first.key.clone()));
            };
            row.sort_by_key(|record| record.batch.as_ref().map(|place| place.index));
            let keys = row.into_iter().map(|record| record.key.clone());
            Some(Row::Batch(place.batch.clone(), keys.collect()))
        })
        .collect()
}

/// How long a task of this model takes, in ms, by the tasks that have completed so far.
pub fn estimate<'a>(tasks: impl IntoIterator<Item = &'a Task>, model: &ModelId) -> Option<Millis> {
    let mut times: Vec<(Millis, Millis)> = tasks
        .into_iter()
        .filter(|task| task.model == *model && task.state.phase() == Phase::Ready)
        .filter_map(|task| {
            let (submitted, finished) = (task.submitted?, task.finished?);
            Some((finished, finished.checked_sub(submitted)?))
        })
        .collect();
    sort::pairs(&mut times);
    duration::estimate(times.into_iter().rev().map(|(_, time)| time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_comes_first_whatever_the_clock_says() {
        assert_eq!(created(70, None), 70);
        assert_eq!(created(70, Some(40)), 70);
        // Set back, or the same millisecond.
        assert_eq!(created(70, Some(70)), 71);
        assert_eq!(created(70, Some(900)), 901);
        assert_eq!(created(70, Some(u64::MAX)), u64::MAX);
    }
    use proptest::prelude::*;

    use atelier_contract::TaskId;
    use serde_json::json;

    fn task(key: usize, model: &str, created: u64, phase: Phase, title: &str) -> Task {
        let id = TaskId(format!("t-{key}"));
        serde_json::from_value(json!({
            "key": key.to_string(),
            "account": {"address": "", "uid": "me"},
            "model": {"category": "image", "subcategory": model},
            "model_name": format!("Model {model}"),
            "input": {
                "model": {"category": "image", "subcategory": model},
                "values": {"prompt": title, "style": "baroque", "seed": 90_210, "loop": true}
            },
            "created": created,
            "submitted": created,
            "finished": created + 40,
            "state": match phase {
                Phase::Failed => TaskState::Failed { id: Some(id), message: "no faces".into() },
                _ => TaskState::Ready { id, outputs: Vec::new() },
            },
        }))
        .unwrap()
    }

    fn records<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<HistoryEntry> {
        tasks.into_iter().map(HistoryEntry::new).collect()
    }

    #[test]
    fn filters_and_the_counts_of_the_other_choices() {
        let tasks = [
            task(0, "a", 10, Phase::Ready, "a red cat"),
            task(1, "b", 30, Phase::Failed, "a red dog"),
            task(2, "a", 20, Phase::Ready, "a blue cat"),
            task(3, "a", 20, Phase::Failed, "Red sky"),
        ];
        let tasks = records(&tasks);
        let mut filter = Filter {
            query: Query::new("red"),
            ..Filter::default()
        };
        assert_eq!(filter.find(&tasks).positions, [1, 3, 0]);
        filter.phases = vec![Phase::Failed];
        filter.model = Some(ModelId::new("image", "a"));
        let found = filter.find(&tasks);
        assert_eq!(found.positions, [3]);
        assert_eq!(found.phases, [(Phase::Ready, 1), (Phase::Failed, 1)]);
        assert_eq!(
            found.models,
            [
                (ModelId::new("image", "b"), 1),
                (ModelId::new("image", "a"), 1)
            ]
        );
        let dated = Filter {
            created: 20..30,
            ..Filter::default()
        };
        assert_eq!(dated.find(&tasks).positions, [3, 2]);
        let mut tasks = tasks;
        tasks[2].has_favorites = true;
        let favorites = Filter {
            favorites: true,
            ..Filter::default()
        };
        assert_eq!(favorites.find(&tasks).positions, [2]);
        assert_eq!(Filter::default().find(&tasks).positions, [1, 3, 2, 0]);
    }

    #[test]
    fn tasks_of_a_batch_are_one_row_and_one_alone_is_itself() {
        let place = |batch: &str, index| {
            let batch = BatchKey(batch.into());
            Some(BatchPlace { batch, index })
        };
        let mut tasks = [
            task(0, "a", 10, Phase::Ready, "red"),
            task(1, "a", 10, Phase::Failed, "blue"),
            task(2, "a", 20, Phase::Ready, "red"),
            task(3, "a", 30, Phase::Ready, "red"),
        ];
        for (at, task) in tasks.iter_mut().enumerate() {
            task.batch = place("b", 1 - at.min(1)).filter(|_| at < 2);
        }
        tasks[3].batch = place("c", 0);
        let records = records(&tasks);
        let shown = |filter: Filter| rows(&records, &filter.find(&records).positions);
        let task = |n: &str| Row::Task(TaskKey(n.into()));
        let keys = ["1", "0"].map(|key| TaskKey(key.into())).to_vec();
        assert_eq!(
            shown(Filter::default()),
            [task("3"), task("2"), Row::Batch(BatchKey("b".into()), keys)]
        );
        let blue = Filter {
            query: Query::new("blue"),
            ..Filter::default()
        };
        assert_eq!(shown(blue), [task("1")]);
        assert_eq!(rows(&records, &[77]), []);
    }

    #[test]
    fn a_task_is_found_by_all_that_is_said_of_it() {
        let tasks = records(&[task(77, "fluxfield", 0, Phase::Failed, "a cat")]);
        for text in [
            "cat",
            "fluxfield image",
            "model",
            "baroque",
            "90210",
            "loop true",
            "faces",
            "t-77",
        ] {
            let filter = Filter {
                query: Query::new(text),
                ..Filter::default()
            };
            assert_eq!(filter.find(&tasks).positions, [0], "{text}");
        }
    }

    #[test]
    fn an_estimate_is_of_this_model_and_of_what_completed() {
        let tasks = [
            task(0, "a", 10, Phase::Ready, ""),
            task(1, "b", 10, Phase::Ready, ""),
            task(2, "a", 10, Phase::Failed, ""),
        ];
        assert_eq!(estimate(&tasks, &ModelId::new("image", "a")), Some(40));
        assert_eq!(estimate(&tasks[2..], &ModelId::new("image", "a")), None);
    }

    proptest! {
        #[test]
        fn newest_first_and_counts_add_up(tasks in prop::collection::vec((0..4u8, 0..50u64, prop::bool::ANY), 0..60)) {
            let tasks: Vec<HistoryEntry> = tasks
                .iter()
                .enumerate()
                .map(|(key, (model, created, failed))| {
                    let phase = if *failed { Phase::Failed } else { Phase::Ready };
                    HistoryEntry::new(&task(key, &model.to_string(), *created, phase, "x"))
                })
                .collect();
            let found = Filter::default().find(&tasks);
            prop_assert_eq!(found.positions.len(), tasks.len());
            prop_assert!(found.positions.windows(2).all(|pair| tasks[pair[0]].created >= tasks[pair[1]].created));
            prop_assert_eq!(found.phases.iter().map(|(_, n)| n).sum::<usize>(), tasks.len());
            prop_assert_eq!(found.models.iter().map(|(_, n)| n).sum::<usize>(), tasks.len());
        }
    }

    #[test]
    fn ten_thousand_tasks_are_filtered_within_a_frame() {
        let tasks: Vec<HistoryEntry> = (0..10_000usize)
            .map(|n| {
                let prompt = format!(
                    "A lighthouse keeper number {n} with his seven cats on a rocky coast at dusk, \
                     oil on canvas, warm light, long shadows, detailed brush work, variation {}",
                    n % 97
                );
                HistoryEntry::new(&task(
                    n,
                    &(n % 12).to_string(),
                    n as u64,
                    [Phase::Ready, Phase::Failed][n % 2],
                    &prompt,
                ))
            })
            .collect();
        for text in ["", "keeper", "lighthuose brsh 77"] {
            let filter = Filter {
                query: Query::new(text),
                ..Filter::default()
            };
            let times = (0..5).map(|_| {
                let start = std::time::Instant::now();
                assert!(!filter.find(&tasks).positions.is_empty());
                start.elapsed()
            });
            let best = times.min().unwrap();
            println!("{text}: {best:?}");
            // Without optimisation the time says nothing.
            assert!(cfg!(debug_assertions) || best.as_millis() < 16);
        }
    }
}
