//! What a person has removed, while it can be brought back.

use crate::plural::counted;
use crate::{Millis, Phase, Task, TaskKey, TaskState, UNDO};

/// What was removed last and can be brought back, with all that went in the same go: each less than a
/// second before the next.
pub fn removed_last<'a>(tasks: impl IntoIterator<Item = &'a Task>, now: Millis) -> Vec<TaskKey> {
    const ONE_GO: Millis = 1_000;
    let removed = |task: &'a Task| {
        let since = task
            .removed
            .filter(|since| now < since.saturating_add(UNDO))?;
        Some((since, task.key.clone()))
    };
    let removed: Vec<(Millis, TaskKey)> = tasks.into_iter().filter_map(removed).collect();
    // Of many, one by one, the marks spread over more than that.
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

/// How many outputs go with a task: it is removed as a whole.
pub fn outputs_of(task: &Task) -> usize {
    match &task.state {
        TaskState::Ready { outputs, .. } => outputs.len(),
        _ => 0,
    }
}

/// What goes with so many chosen outputs, for the button that removes their tasks: the outputs are counted where
/// more go than were chosen.
pub fn said_of_removal<'a>(tasks: impl IntoIterator<Item = &'a Task>, chosen: usize) -> String {
    let (mut all, mut outputs) = (0, 0);
    for task in tasks {
        all += 1;
        outputs += outputs_of(task);
    }
    match outputs > chosen {
        true => format!("{}, {}", counted(all, "task"), counted(outputs, "output")),
        false => counted(all, "task"),
    }
}

/// What else goes where one output of a task is looked at; nothing if it is the only one.
pub fn said_of_siblings(task: &Task) -> Option<String> {
    match outputs_of(task) {
        0 | 1 => None,
        2 => Some("With both of its outputs.".into()),
        n => Some(format!("With all {n} of its outputs.")),
    }
}

/// What was removed in one go, for a person: how many outputs went where a task had several, and that it may go
/// on, and cost, where nobody took it back.
pub fn said_of_removed<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> String {
    let (mut all, mut may_go_on, mut outputs, mut has_several) = (0, 0, 0, false);
    for task in tasks {
        all += 1;
        outputs += outputs_of(task);
        has_several |= outputs_of(task) > 1;
        may_go_on += usize::from(matches!(
            task.state.phase(),
            Phase::Submitting | Phase::Unconfirmed | Phase::Running | Phase::Fetching
        ));
    }
    let removed = match all {
        0 => return String::new(),
        1 if may_go_on == 1 => "Removed.".into(),
        n if has_several => {
            let outputs = counted(outputs, "output");
            format!("Removed {} with {outputs}.", counted(n, "task"))
        }
        n => format!("Removed {}.", counted(n, "task")),
    };
    match may_go_on {
        0 => removed,
        1 if all == 1 => format!("{removed} The service may still run and bill it."),
        n if n == all => format!("{removed} The service may still run and bill them."),
        n => format!("{removed} The service may still run and bill {n} of them."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::task;
    use atelier_contract::ApiError;

    /// Guards against a paid task that goes without a word of what it may cost.
    #[test]
    fn what_may_still_be_billed_is_said() {
        let lost = Task {
            state: TaskState::Unconfirmed {
                error: ApiError::Timeout { after_ms: 1 },
            },
            ..task("a", 0)
        };
        let over = Task {
            state: TaskState::Failed {
                id: None,
                message: String::new(),
            },
            ..task("b", 0)
        };
        assert_eq!(said_of_removed([]), "");
        assert_eq!(
            said_of_removed([&lost]),
            "Removed. The service may still run and bill it."
        );
        assert_eq!(said_of_removed([&over]), "Removed 1 task.");
        assert_eq!(
            said_of_removed([&lost, &over, &over]),
            "Removed 3 tasks. The service may still run and bill 1 of them."
        );
        assert_eq!(
            said_of_removed([&lost, &lost]),
            "Removed 2 tasks. The service may still run and bill them."
        );
    }

    fn made(outputs: usize) -> Task {
        Task {
            state: TaskState::Ready {
                id: atelier_contract::TaskId("t".into()),
                outputs: vec![String::new(); outputs],
            },
            ..task("c", 0)
        }
    }

    /// Guards against siblings of what was chosen that go without a word.
    #[test]
    fn outputs_that_go_along_are_said() {
        let (one, four) = (made(1), made(4));
        assert_eq!(said_of_removal([&four], 1), "1 task, 4 outputs");
        assert_eq!(said_of_removal([&four], 4), "1 task");
        assert_eq!(said_of_removal([&one, &one], 2), "2 tasks");
        assert_eq!(said_of_removal([&one, &four], 2), "2 tasks, 5 outputs");
        assert_eq!(said_of_removed([&four]), "Removed 1 task with 4 outputs.");
        assert_eq!(
            said_of_removed([&one, &four]),
            "Removed 2 tasks with 5 outputs."
        );
        assert_eq!(said_of_removed([&one, &one]), "Removed 2 tasks.");
        assert_eq!(said_of_siblings(&one), None);
        let said = said_of_siblings(&four);
        assert_eq!(said.as_deref(), Some("With all 4 of its outputs."));
    }
}
