//! Finds removed tasks that can be restored.

use crate::{Millis, Task, TaskKey, UNDO_MS};

/// Returns the tasks of the last removal that can be restored. Tasks belong to the same removal if each was removed
/// less than a second before the next.
pub fn last_removed<'a>(tasks: impl IntoIterator<Item = &'a Task>, now: Millis) -> Vec<TaskKey> {
    const ONE_GO: Millis = 1_000;
    let removed = |task: &'a Task| {
        let since = task
            .removed
            .filter(|since| now < since.saturating_add(UNDO_MS))?;
        Some((since, task.key.clone()))
    };
    let removed: Vec<(Millis, TaskKey)> = tasks.into_iter().filter_map(removed).collect();
    // Removing many tasks one by one takes more than a second.
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
