//! Makes labels and messages about the removal of tasks and outputs.

use atelier_engine::{Phase, Task};

use crate::text::plural::counted;

/// Returns the label for removing the tasks of selected outputs. If this removes more outputs than the `chosen` ones,
/// the label contains their number.
pub fn removal_label<'a>(tasks: impl IntoIterator<Item = &'a Task>, chosen: usize) -> String {
    let (mut all, mut outputs) = (0, 0);
    for task in tasks {
        all += 1;
        outputs += task.outputs().len();
    }
    match outputs > chosen {
        true => format!("{}, {}", counted(all, "task"), counted(outputs, "output")),
        false => counted(all, "task"),
    }
}

/// Returns the confirmation question before removing tasks; `None` if they have no favorites. `removed`: see
/// [`removal_label`].
pub fn removal_question<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
    removed: &str,
) -> Option<String> {
    let favorites = tasks.into_iter().map(|task| task.favorites.len()).sum();
    if favorites == 0 {
        return None;
    }
    let favorites = counted(favorites, "favorite");
    Some(format!("Remove {removed}? That includes {favorites}."))
}

/// Returns the text after the number of selected outputs. It contains the number of favorites among them.
pub fn selection_label(favorites: usize) -> String {
    match favorites {
        0 => " selected".into(),
        n => format!(" selected, {}", counted(n, "favorite")),
    }
}

/// Returns a note about the other outputs that are removed with the displayed one; `None` if the task has no others.
pub fn siblings_note(task: &Task) -> Option<String> {
    match task.outputs().len() {
        0 | 1 => None,
        2 => Some("With both of its outputs.".into()),
        n => Some(format!("With all {n} of its outputs.")),
    }
}

/// Returns a message about the removed tasks. It contains the number of outputs if a task had several, and a warning if
/// tasks may still run and be billed.
pub fn removed_message<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> String {
    let (mut all, mut may_go_on, mut outputs, mut has_several) = (0, 0, 0, false);
    for task in tasks {
        all += 1;
        outputs += task.outputs().len();
        has_several |= task.outputs().len() > 1;
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
    use crate::testing::task;
    use atelier_contract::ApiError;
    use atelier_engine::TaskState;

    /// The user must know that a removed task may still be billed.
    #[test]
    fn the_message_warns_that_tasks_may_still_be_billed() {
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
        assert_eq!(removed_message([]), "");
        assert_eq!(
            removed_message([&lost]),
            "Removed. The service may still run and bill it."
        );
        assert_eq!(removed_message([&over]), "Removed 1 task.");
        assert_eq!(
            removed_message([&lost, &over, &over]),
            "Removed 3 tasks. The service may still run and bill 1 of them."
        );
        assert_eq!(
            removed_message([&lost, &lost]),
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

    /// One key press must not remove favorites.
    #[test]
    fn removing_favorites_must_be_confirmed() {
        let favorite = Task {
            favorites: vec![0, 2],
            ..made(4)
        };
        let asked = |tasks: &[&Task], removed| removal_question(tasks.iter().copied(), removed);
        assert_eq!(asked(&[&made(1), &made(4)], "2 tasks"), None);
        assert_eq!(
            asked(&[&favorite, &made(1)], "2 tasks, 5 outputs").as_deref(),
            Some("Remove 2 tasks, 5 outputs? That includes 2 favorites.")
        );
        let one = Task {
            favorites: vec![0],
            ..made(1)
        };
        let note = asked(&[&one], "1 task");
        assert_eq!(
            note.as_deref(),
            Some("Remove 1 task? That includes 1 favorite.")
        );
        assert_eq!(selection_label(0), " selected");
        assert_eq!(selection_label(1), " selected, 1 favorite");
    }

    /// The user must know that outputs that were not selected are removed, too.
    #[test]
    fn outputs_that_are_removed_as_well_are_counted() {
        let (one, four) = (made(1), made(4));
        assert_eq!(removal_label([&four], 1), "1 task, 4 outputs");
        assert_eq!(removal_label([&four], 4), "1 task");
        assert_eq!(removal_label([&one, &one], 2), "2 tasks");
        assert_eq!(removal_label([&one, &four], 2), "2 tasks, 5 outputs");
        assert_eq!(removed_message([&four]), "Removed 1 task with 4 outputs.");
        assert_eq!(
            removed_message([&one, &four]),
            "Removed 2 tasks with 5 outputs."
        );
        assert_eq!(removed_message([&one, &one]), "Removed 2 tasks.");
        assert_eq!(siblings_note(&one), None);
        let note = siblings_note(&four);
        assert_eq!(note.as_deref(), Some("With all 4 of its outputs."));
    }
}
