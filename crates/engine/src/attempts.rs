//! Counts the attempts at the same input.

use std::collections::HashMap;

use crate::{Task, TaskKey};

/// Returns how many known earlier attempts a task replaces.
pub fn count_earlier<T: std::borrow::Borrow<Task>>(tasks: &[T], task: &Task) -> usize {
    let known: HashMap<&TaskKey, &Task> = tasks
        .iter()
        .map(|task| (&task.borrow().key, task.borrow()))
        .collect();
    let before = |task: &&Task| known.get(task.retry_of.as_ref()?).copied();
    let chain = std::iter::successors(before(&task), before);
    // Imported records can form a cycle.
    chain.take(tasks.len()).count()
}

/// Returns the label of an attempt, such as `Second attempt.`
pub fn attempt_label(number: usize) -> String {
    match number {
        2 => "Second attempt.".into(),
        3 => "Third attempt.".into(),
        n => format!("Attempt {n}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::task;

    #[test]
    fn counts_attempts_and_stops_at_a_cycle() {
        let retry = |key: &str, of: &str| Task {
            retry_of: Some(TaskKey(of.into())),
            ..task(key, 0)
        };
        let tasks = [
            task("a", 0),
            retry("b", "a"),
            retry("c", "b"),
            retry("d", "d"),
        ];
        let counts: Vec<usize> = tasks
            .iter()
            .map(|task| count_earlier(&tasks, task))
            .collect();
        assert_eq!(counts, [0, 1, 2, 4]);
        assert_eq!(attempt_label(2), "Second attempt.");
        assert_eq!(attempt_label(4), "Attempt 4.");
    }
}
