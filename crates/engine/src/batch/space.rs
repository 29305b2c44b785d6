//! A batch as it is explored: its axes, and the task of each of its items.

use atelier_contract::Input;

use super::Batch;
use super::exploration::Exploration;
use crate::{Task, TaskKey};

/// Made anew when a task of the batch changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    pub exploration: Exploration,
    /// Of each item its latest attempt.
    tasks: Vec<Option<TaskKey>>,
}

impl Space {
    /// None where there is nothing to move along.
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

    /// The latest attempt of an item, from 0.
    pub fn task(&self, item: usize) -> Option<TaskKey> {
        self.tasks.get(item).cloned().flatten()
    }

    /// Where this task is; none if another one has taken its place.
    pub fn position_of(&self, task: &TaskKey) -> Option<Vec<usize>> {
        let mut tasks = self.tasks.iter();
        let item = tasks.position(|other| other.as_ref() == Some(task))?;
        self.exploration.place_of(item).map(<[usize]>::to_vec)
    }

    /// What is loaded while a person is at this position: the task there, those one step away, and the one that
    /// was shown before. In an order of their own: none is moved about when another one is shown.
    pub fn loaded(&self, position: &[usize], before: Option<TaskKey>) -> Vec<TaskKey> {
        let here = self.exploration.item(position).into_iter();
        let items = here.chain(self.exploration.neighbors(position));
        let tasks = items.filter_map(|item| self.task(item));
        let mut keys: Vec<TaskKey> = tasks.chain(before).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Which item it is, and how that stands: `Item 3 of 12: Completed`.
    pub fn label(&self, item: Option<usize>, state: Option<String>) -> String {
        match item {
            None => "No item has these values.".to_owned(),
            Some(item) => {
                let state = state.unwrap_or_else(|| "Removed".to_owned());
                format!("Item {} of {}: {state}", item + 1, self.tasks.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{batch, ready, task};

    fn key(name: &str) -> TaskKey {
        TaskKey(name.into())
    }

    /// Three prompts, of which the second was retried with another one.
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
    fn each_place_has_the_latest_attempt() {
        let space = space();
        assert_eq!(space.position_of(&key("d")), Some(vec![1]));
        assert_eq!(space.position_of(&key("b")), None);
        assert_eq!(space.task(1), Some(key("d")));
        assert_eq!((space.task(3), space.task(9)), (None, None));
        let alone = task("a", 0, 1, ready());
        assert_eq!(Space::of(&batch(1), &[&alone]), None);
    }

    #[test]
    fn neighbours_are_loaded_and_what_was_shown_before() {
        let space = space();
        assert_eq!(space.loaded(&[0], None), [key("a"), key("d")]);
        let all = [key("a"), key("c"), key("d")];
        assert_eq!(space.loaded(&[1], Some(key("a"))), all);
        assert_eq!(space.loaded(&[0], Some(key("c"))), all);
        assert_eq!(space.loaded(&[7], None), []);
    }

    #[test]
    fn it_is_said_which_item_it_is() {
        let state = || Some("Completed".to_owned());
        assert_eq!(space().label(Some(2), state()), "Item 3 of 4: Completed");
        assert_eq!(space().label(Some(2), None), "Item 3 of 4: Removed");
        assert_eq!(space().label(None, None), "No item has these values.");
    }
}
