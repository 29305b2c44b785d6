//! An exploration of a batch, with the task of each item.

use atelier_contract::Input;
use atelier_engine::{Task, TaskKey};

use super::Batch;
use super::differences::labelled_value;
use super::exploration::Exploration;
use crate::text::excerpt::excerpt;

/// The maximum length of a value in the header.
const MAX_VALUE_CHARS: usize = 40;

/// The items of a batch along its axes. It is rebuilt when a task of the batch changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    pub exploration: Exploration,
    /// The latest attempt of each item.
    tasks: Vec<Option<TaskKey>>,
}

impl Space {
    /// Creates the space; `None` if the items have no axes.
    pub fn of(batch: &Batch, tasks: &[&Task]) -> Option<Self> {
        let items = batch.items(tasks.iter().copied());
        let inputs: Vec<Option<&Input>> = items
            .latest()
            .map(|task| task.map(|task| &task.input))
            .collect();
        Some(Self {
            exploration: Exploration::of(&inputs)?,
            tasks: items
                .latest()
                .map(|task| task.map(|task| task.key.clone()))
                .collect(),
        })
    }

    /// Returns the latest attempt of an item, from 0.
    pub fn task(&self, item: usize) -> Option<TaskKey> {
        self.tasks.get(item).cloned().flatten()
    }

    /// Returns the tasks of all items.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskKey> {
        self.tasks.iter().flatten()
    }

    /// Returns the position of this task, or `None` if a later attempt has replaced it.
    pub fn position_of(&self, task: &TaskKey) -> Option<Vec<usize>> {
        let mut tasks = self.tasks.iter();
        let item = tasks.position(|other| other.as_ref() == Some(task))?;
        self.exploration.place_of(item).map(<[usize]>::to_vec)
    }

    /// Returns the other tasks, to compare them with the one at this position, sorted by their difference. The most
    /// similar task is first.
    pub fn others(&self, position: &[usize]) -> Vec<TaskKey> {
        let items = self.exploration.nearest(position).into_iter();
        items.filter_map(|item| self.task(item)).collect()
    }

    /// Returns the values at a position: `1:1 · dawn`.
    pub fn values(&self, position: &[usize]) -> String {
        let axes = self.exploration.axes.iter().zip(position);
        let values = axes.map(|(axis, place)| excerpt(axis.label(*place), MAX_VALUE_CHARS));
        values.collect::<Vec<_>>().join(" · ")
    }

    /// Returns the tasks whose outputs are loaded at this position: the task at the position, those one step away, and
    /// the one that was shown before. They are sorted by key, so that elements don't move in the page when another task
    /// is shown.
    pub fn loaded(&self, position: &[usize], before: Option<TaskKey>) -> Vec<TaskKey> {
        let here = self.exploration.item(position).into_iter();
        let items = here.chain(self.exploration.neighbors(position));
        let tasks = items.filter_map(|item| self.task(item));
        let mut keys: Vec<TaskKey> = tasks.chain(before).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Returns a label with the values at a position, the item and its state: `1:1 · mist 0.5 · Item 3 of 12:
    /// Completed`.
    pub fn label(&self, position: &[usize], state: Option<String>) -> String {
        let Some(item) = self.exploration.item(position) else {
            return "No item has these values.".to_owned();
        };
        let axes = self.exploration.axes.iter().zip(position);
        let values = axes.map(|(axis, place)| labelled_value(&axis.parameter, axis.label(*place)));
        let values = values.collect::<Vec<_>>().join(" · ");
        let state = state.unwrap_or_else(|| "Removed".to_owned());
        format!(
            "{values} · Item {} of {}: {state}",
            item + 1,
            self.tasks.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{batch, ready, task};

    fn key(name: &str) -> TaskKey {
        TaskKey(name.into())
    }

    /// Returns a space with three prompts, in which the second item was retried.
    fn space() -> Space {
        let mut retry = task("d", 1, 9, ready());
        retry.retry_of = Some(key("b"));
        let tasks = [
            task("a", 0, 1, ready()),
            task("b", 1, 1, ready()),
            retry,
            task("c", 2, 1, ready()),
        ];
        Space::of(&batch(4), &tasks.each_ref()).unwrap()
    }

    #[test]
    fn each_position_has_the_latest_attempt() {
        let space = space();
        assert_eq!(space.position_of(&key("d")), Some(vec![1]));
        assert_eq!(space.position_of(&key("b")), None);
        assert_eq!(space.task(1), Some(key("d")));
        assert_eq!((space.task(3), space.task(9)), (None, None));
        let alone = task("a", 0, 1, ready());
        assert_eq!(Space::of(&batch(1), &[&alone]), None);
    }

    #[test]
    fn neighbours_and_the_previous_task_are_loaded() {
        let space = space();
        assert_eq!(space.loaded(&[0], None), [key("a"), key("d")]);
        let all = [key("a"), key("c"), key("d")];
        assert_eq!(space.loaded(&[1], Some(key("a"))), all);
        assert_eq!(space.loaded(&[0], Some(key("c"))), all);
        assert_eq!(space.loaded(&[7], None), []);
    }

    #[test]
    fn the_nearest_items_are_compared_first() {
        assert_eq!(space().others(&[0]), [key("d"), key("c")]);
        assert_eq!(space().others(&[2]), [key("d"), key("a")]);
    }

    #[test]
    fn the_label_names_the_item() {
        let state = || Some("Completed".to_owned());
        let label = space().label(&[2], state());
        assert!(label.ends_with(" · Item 3 of 4: Completed"), "{label}");
        assert!(label.len() > " · Item 3 of 4: Completed".len(), "{label}");
        assert!(space().label(&[2], None).ends_with("Item 3 of 4: Removed"));
        assert_eq!(space().label(&[9], None), "No item has these values.");
    }
}
