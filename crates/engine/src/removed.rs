//! Decides about tasks that a person has removed, while they can be brought back.

use crate::{Millis, Task, TaskKey, UNDO};

/// Gives the tasks that were removed last and can be brought back, with all that went in the same go: each less than
/// a second before the next.
pub fn last_removed<'a>(tasks: impl IntoIterator<Item = &'a Task>, now: Millis) -> Vec<TaskKey> {
    const ONE_GO: Millis = 1_000;
    let removed = |task: &'a Task| {
        let since = task
            .removed
            .filter(|since| now < since.saturating_add(UNDO))?;
        Some((since, task.key.clone()))
    };
    let removed: Vec<(Millis, TaskKey)> = tasks.into_iter().filter_map(removed).collect();
    // If many were removed one by one, the marks spread over more than that.
    let mut marks: Vec<Millis> = removed.iter().map(|(since, _)| *since).collect();
    marks.sort_unstable_by(|a, b| b.cmp(a));
    let mut first = marks.first().copied().unwrap_or(0);
    for mark in marks {
        if first - mark >= ONE_GO {
            break;
        }
        first = mark;
    }
    let together = removed.into_iter().filter(|(since, _)| *since >= first);
    together.map(|(_, key)| key).collect()
}
