//! Every output in one place: found by text, kind, model and favorites, newest first.

use std::sync::Arc;

use atelier_contract::ModelId;

use crate::output::{self, OutputKind};
use crate::route::Route;
use crate::search::{Query, Searchable};
use crate::{BatchKey, BatchPlace, Millis, Task, TaskKey, TaskState, control};

pub mod beside;
pub mod compare;
pub mod layout;
pub mod shapes;
pub mod side_by_side;
pub mod zoom;

/// What the gallery knows of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct GalleryEntry {
    pub task: TaskKey,
    /// From 0.
    pub position: usize,
    pub kind: OutputKind,
    pub model: ModelId,
    /// And where in it.
    pub batch: Option<BatchPlace>,
    /// When its task was created, in ms since 1970.
    pub created: Millis,
    pub is_favorite: bool,
    /// Width by height, where the inputs say it; else see [`shapes`].
    pub ratio: Option<f64>,
    /// That of its task.
    text: Arc<Searchable>,
}

impl GalleryEntry {
    /// The outputs of a task; none before it is completed.
    pub fn all_of(task: &Task) -> Vec<Self> {
        let TaskState::Ready { outputs, .. } = &task.state else {
            return Vec::new();
        };
        let values = task.input.values();
        let text: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("{name} {}", control::text(value)))
            .collect();
        let model = format!("{} {}", task.model_name, task.model);
        let fields = [task.input.title(), &model, &text.join(" ")];
        let text = Arc::new(Searchable::new(fields));
        let ratio = output::ratio(values, None).and_then(|ratio| ratio_of(&ratio));
        let entry = |(position, url): (usize, &String)| Self {
            task: task.key.clone(),
            position,
            kind: task.output_kind(url),
            model: task.model.clone(),
            batch: task.batch.clone(),
            created: task.created,
            is_favorite: task.favorites.contains(&position),
            ratio,
            text: text.clone(),
        };
        outputs.iter().enumerate().map(entry).collect()
    }

    /// Our own name of the output: see [`TaskKey::output`].
    pub fn name(&self) -> String {
        self.task.output(self.position)
    }
}

/// A key says nothing of when its task was made.
fn in_batch(entry: &GalleryEntry) -> Option<(&BatchKey, usize)> {
    let place = entry.batch.as_ref()?;
    Some((&place.batch, place.index))
}

/// `3 / 2` as a number.
fn ratio_of(text: &str) -> Option<f64> {
    let (width, height) = text.split_once(" / ")?;
    let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
    Some(width / height)
}

/// Which outputs belong together where a person looks at one of them: arrows lead through these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    Model(ModelId),
    Batch(BatchKey),
    Task(TaskKey),
}

impl Scope {
    pub fn of(route: &Route) -> Self {
        match route {
            Route::Model(model) => Self::Model(model.clone()),
            Route::Batch(batch) => Self::Batch(batch.clone()),
            Route::Task(task) => Self::Task(task.clone()),
            _ => Self::All,
        }
    }

    fn holds(&self, entry: &GalleryEntry) -> bool {
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

/// What a person asks for. The default asks for everything.
#[derive(Debug, Clone, Default)]
pub struct GalleryFilter {
    pub scope: Scope,
    pub query: Query,
    pub kind: Option<OutputKind>,
    pub model: Option<ModelId>,
    pub favorites: bool,
}

impl GalleryFilter {
    /// The outputs found, newest first; those of one batch that were created together in its order, and the
    /// outputs of each task in theirs.
    pub fn find<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a GalleryEntry>,
    ) -> impl Iterator<Item = &'a GalleryEntry> {
        let is_found = |entry: &&GalleryEntry| {
            self.scope.holds(entry)
                && self.kind.is_none_or(|kind| kind == entry.kind)
                && self
                    .model
                    .as_ref()
                    .is_none_or(|model| *model == entry.model)
                && (!self.favorites || entry.is_favorite)
                && self.query.score(&entry.text).is_some()
        };
        let mut found: Vec<_> = entries.into_iter().filter(is_found).collect();
        found.sort_by(|a, b| {
            let newest_first = b.created.cmp(&a.created);
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
