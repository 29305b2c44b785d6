//! Lists all outputs, newest first, filtered by text, kind, model and favorites.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use atelier_contract::ModelId;
use atelier_engine::{BatchKey, BatchPlace, Millis, Task, TaskKey};

use crate::form::control;
use crate::navigation::route::Route;
use crate::navigation::search::{Query, Searchable};
use crate::output::expected_output;
use atelier_contract::output::OutputKind;

pub mod anchor;
pub mod compare;
pub mod days;
pub mod layout;
pub mod long_press;
pub mod neighbor;
pub mod overlay;
pub mod picker;
pub mod shapes;
pub mod side_by_side;
pub mod slideshow;
pub mod swipe;
pub mod zoom;

/// An output with the data that the gallery needs.
#[derive(Debug, Clone, PartialEq)]
pub struct GalleryEntry {
    pub task: TaskKey,
    /// The index among the outputs of the task, from 0.
    pub position: usize,
    pub kind: OutputKind,
    pub model: ModelId,
    /// The batch and place of the task.
    pub batch: Option<BatchPlace>,
    /// When the task was created, in ms since 1970-01-01 UTC.
    pub created: Millis,
    pub is_favorite: bool,
    /// The aspect ratio (width / height), if the inputs specify it. For other outputs, see [`shapes`].
    pub ratio: Option<f64>,
    /// The searchable text of the task.
    text: Arc<Searchable>,
}

impl GalleryEntry {
    /// Returns the outputs of a task; empty before it is completed.
    pub fn all_of(task: &Task) -> Vec<Self> {
        let kinds = task.outputs().iter().map(|url| task.output_kind(url));
        Self::of_kinds(task, kinds.collect())
    }

    /// Returns the outputs that an unfinished task is expected to have, based on its inputs. Empty if the task waits
    /// for the user or no tab follows it.
    pub fn expected_of(task: &Task) -> Vec<Self> {
        if !task.is_active() || task.is_orphan() {
            return Vec::new();
        }
        let kind = OutputKind::of_category(&task.model.category);
        let count = expected_output::expected_count(task.input.values(), None);
        Self::of_kinds(task, vec![kind; count])
    }

    fn of_kinds(task: &Task, kinds: Vec<OutputKind>) -> Vec<Self> {
        if kinds.is_empty() {
            return Vec::new();
        }
        let values = task.input.values();
        let mut text: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("{name} {}", control::text(value)))
            .collect();
        // Only the beginning of a long text is searched, so put short values such as numbers first.
        text.sort_by_key(String::len);
        let model = format!("{} {}", task.model_name, task.model);
        let fields = [task.input.title(), &model, &text.join(" ")];
        let text = Arc::new(Searchable::new(fields));
        let ratio = expected_output::ratio(values, None).and_then(|ratio| ratio_of(&ratio));
        let entry = |(position, kind): (usize, OutputKind)| Self {
            task: task.key.clone(),
            position,
            kind,
            model: task.model.clone(),
            batch: task.batch.clone(),
            created: task.created,
            is_favorite: task.favorites.contains(&position),
            ratio,
            text: text.clone(),
        };
        kinds.into_iter().enumerate().map(entry).collect()
    }

    /// Returns the name of the output: see [`TaskKey::output`].
    pub fn name(&self) -> String {
        self.task.output(self.position)
    }
}

/// Returns a sort key for items of the same batch, because task keys are random.
fn in_batch(entry: &GalleryEntry) -> Option<(&BatchKey, usize)> {
    let place = entry.batch.as_ref()?;
    Some((&place.batch, place.index))
}

/// Parses a ratio such as `3 / 2`.
fn ratio_of(text: &str) -> Option<f64> {
    let (width, height) = text.split_once(" / ")?;
    let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
    Some(width / height)
}

/// The outputs through which arrow keys navigate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    Model(ModelId),
    Batch(BatchKey),
    Task(TaskKey),
}

impl Scope {
    /// Returns the scope of a page.
    pub fn of(route: &Route) -> Self {
        match route {
            Route::Model(model) => Self::Model(model.clone()),
            Route::Batch(batch) => Self::Batch(batch.clone()),
            Route::Task(task) => Self::Task(task.clone()),
            _ => Self::All,
        }
    }

    /// Returns the label of the scope. `is_varied`: whether the batch of the scope consists of variations of one task.
    pub fn label(&self, is_varied: bool) -> &'static str {
        match self {
            Self::All => "",
            Self::Model(_) => "of this model",
            Self::Batch(_) if is_varied => "of these variations",
            Self::Batch(_) => "of this batch",
            Self::Task(_) => "of this task",
        }
    }

    fn contains(&self, entry: &GalleryEntry) -> bool {
        match self {
            Self::All => true,
            Self::Model(model) => *model == entry.model,
            Self::Batch(batch) => {
                let place = entry.batch.as_ref();
                place.is_some_and(|place| place.batch == *batch)
            }
            Self::Task(task) => *task == entry.task,
        }
    }
}

/// The criteria of the gallery. The default matches everything.
#[derive(Debug, Clone, Default)]
pub struct GalleryFilter {
    pub scope: Scope,
    pub query: Query,
    pub kind: Option<OutputKind>,
    pub model: Option<ModelId>,
    pub favorites: bool,
    /// The range in which the task must have been created, in ms since 1970-01-01 UTC.
    pub created: Option<Range<Millis>>,
    /// If the query names days: the range of these days, and the rest of the query.
    pub named_days: Option<(Range<Millis>, Query)>,
}

impl GalleryFilter {
    fn matches(&self, entry: &GalleryEntry) -> bool {
        self.query.score(&entry.text).is_some() || self.is_of_named_days(entry)
    }

    fn is_of_named_days(&self, entry: &GalleryEntry) -> bool {
        let days = self.named_days.as_ref();
        days.is_some_and(|(range, rest)| {
            range.contains(&entry.created) && rest.score(&entry.text).is_some()
        })
    }

    /// Returns the matching outputs, newest first. Outputs of a batch that were created at the same time are in the
    /// order of the batch, as are all outputs if the scope is a batch. Outputs of a task keep their order.
    pub fn find<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a GalleryEntry>,
    ) -> impl Iterator<Item = &'a GalleryEntry> {
        let is_found = |entry: &&GalleryEntry| {
            self.scope.contains(entry)
                && self.kind.is_none_or(|kind| kind == entry.kind)
                && self
                    .model
                    .as_ref()
                    .is_none_or(|model| *model == entry.model)
                && (!self.favorites || entry.is_favorite)
                && (self.created.as_ref()).is_none_or(|range| range.contains(&entry.created))
                && self.matches(entry)
        };
        let mut found: Vec<_> = entries.into_iter().filter(is_found).collect();
        let contains_long_numbers =
            |entry: &&GalleryEntry| self.query.contains_long_numbers(&entry.text);
        if found.iter().any(contains_long_numbers) {
            found.retain(|entry| contains_long_numbers(entry) || self.is_of_named_days(entry));
        }
        let is_batch = matches!(self.scope, Scope::Batch(_));
        found.sort_by(|a, b| {
            // In a batch, a retried item keeps its place.
            let newest_first = match is_batch {
                true => Ordering::Equal,
                false => b.created.cmp(&a.created),
            };
            let by_batch = || in_batch(a).cmp(&in_batch(b));
            let by_task = || b.task.cmp(&a.task);
            let by_output = || a.position.cmp(&b.position);
            newest_first
                .then_with(by_batch)
                .then_with(by_task)
                .then_with(by_output)
        });
        found.into_iter()
    }
}

#[cfg(test)]
mod tests;
