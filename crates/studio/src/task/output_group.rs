//! Groups the outputs of variations that were requested together, to show them together.

use atelier_engine::{Phase, Task, TaskKey};

use atelier_contract::output::OutputKind;

/// The maximum number of outputs in a group.
pub const MAX_PICTURES: usize = 4;

/// An output, or its placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSlot {
    pub task: TaskKey,
    /// The index among the outputs of the task, from 0.
    pub position: usize,
}

/// Returns the outputs of variations that were requested together: two to four images or videos. Empty for other tasks.
///
/// `tasks`: the tasks of the batch, in order. `expected`: returns the number of outputs that a task requests.
pub fn slots(tasks: &[&Task], expected: impl Fn(&Task) -> usize) -> Vec<OutputSlot> {
    let tasks = latest(tasks);
    let is_visual = |task: &&Task| {
        let urls = task.outputs().iter().map(String::as_str);
        let mut kinds = urls.chain([""]).map(|url| task.output_kind(url));
        task.varied.is_some()
            && kinds.all(|kind| matches!(kind, OutputKind::Image | OutputKind::Video))
    };
    if tasks.len() < 2 || !tasks.iter().all(is_visual) {
        return Vec::new();
    }
    let slots = tasks.iter().flat_map(|task| {
        let count = match task.state.phase() {
            Phase::Ready => task.outputs().len().max(1),
            _ if task.is_active() => expected(task),
            // A failed task has one slot for its error.
            _ => 1,
        };
        let slot = |position| OutputSlot {
            task: task.key.clone(),
            position,
        };
        (0..count).map(slot)
    });
    let slots: Vec<OutputSlot> = slots.take(MAX_PICTURES + 1).collect();
    match slots.len() {
        0..=MAX_PICTURES => slots,
        _ => Vec::new(),
    }
}

/// Returns the state of the group, such as `2 of 4 completed, 1 failed`, or `Completed`.
pub fn state(tasks: &[&Task]) -> String {
    let tasks = latest(tasks);
    let count = |phase: Phase| {
        let has_phase = |task: &&&Task| task.state.phase() == phase;
        tasks.iter().filter(has_phase).count()
    };
    let completed = count(Phase::Ready);
    if completed == tasks.len() {
        return "Completed".into();
    }
    let ended = [
        (Phase::Failed, "failed"),
        (Phase::Gone, "gone"),
        (Phase::Canceled, "canceled"),
        (Phase::Unconfirmed, "unconfirmed"),
    ];
    let ended = ended.map(|(phase, word)| match count(phase) {
        0 => String::new(),
        count => format!(", {count} {word}"),
    });
    format!("{completed} of {} completed{}", tasks.len(), ended.concat())
}

/// Returns the latest attempt of each item, in order.
fn latest<'a>(tasks: &[&'a Task]) -> Vec<&'a Task> {
    let mut latest: Vec<&Task> = Vec::new();
    let index = |task: &Task| task.batch.as_ref().map(|place| place.index);
    for task in tasks.iter().filter(|task| task.removed.is_none()) {
        match latest.iter_mut().find(|other| index(other) == index(task)) {
            Some(other) if other.created < task.created => *other = task,
            Some(_) => {}
            None => latest.push(task),
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;
    use atelier_contract::{ApiError, TaskId};
    use atelier_engine::{BatchKey, BatchPlace, TaskState};

    fn variation(index: usize) -> Task {
        let mut task = task(&format!("v{index}"), 1_000);
        task.model.category = "image".into();
        task.varied = Some(TaskKey("first".into()));
        task.batch = Some(BatchPlace {
            batch: BatchKey("b".into()),
            index,
        });
        task
    }

    fn made(index: usize, outputs: &[&str]) -> Task {
        Task {
            state: TaskState::Ready {
                id: TaskId("1".into()),
                outputs: outputs.iter().map(|url| (*url).to_owned()).collect(),
            },
            ..variation(index)
        }
    }

    fn names(tasks: &[Task], expected: usize) -> String {
        let tasks: Vec<&Task> = tasks.iter().collect();
        let slots = slots(&tasks, |_| expected).into_iter();
        let names = slots.map(|slot| slot.task.output(slot.position));
        names.collect::<Vec<_>>().join(" ")
    }

    /// The number of placeholders must equal that of the outputs.
    #[test]
    fn each_expected_output_has_a_placeholder() {
        let waiting = [variation(0), variation(1), variation(2)];
        assert_eq!(names(&waiting, 1), "v0/0 v1/0 v2/0");
        assert_eq!(names(&waiting[..2], 2), "v0/0 v0/1 v1/0 v1/1");
        assert_eq!(names(&waiting[..1], 1), "");
        assert_eq!(names(&waiting, 2), "");
        let some = [made(0, &["/a.png", "/b.png"]), variation(1)];
        assert_eq!(names(&some, 1), "v0/0 v0/1 v1/0");
        let with_sound = [made(0, &["/a.mp3"]), variation(1)];
        assert_eq!(names(&with_sound, 1), "");
        let mut composed = waiting.clone();
        composed.iter_mut().for_each(|task| task.varied = None);
        assert_eq!(names(&composed, 1), "");
    }

    #[test]
    fn a_retry_replaces_the_task_that_it_retries() {
        let mut again = variation(0);
        again.key = TaskKey("again".into());
        again.created += 1;
        let mut failed = variation(0);
        failed.state = TaskState::Failed {
            id: None,
            message: String::new(),
        };
        assert_eq!(
            names(&[failed.clone(), again, variation(1)], 1),
            "again/0 v1/0"
        );
        assert_eq!(names(&[failed, variation(1)], 2), "v0/0 v1/0 v1/1");
    }

    #[test]
    fn the_state_summarizes_the_group() {
        let (done, waits) = (made(0, &["/a.png"]), variation(1));
        assert_eq!(state(&[&done, &waits]), "1 of 2 completed");
        assert_eq!(state(&[&done]), "Completed");
        let lost = Task {
            state: TaskState::Unconfirmed {
                error: ApiError::malformed("no id"),
            },
            ..variation(2)
        };
        assert_eq!(
            state(&[&done, &waits, &lost]),
            "1 of 3 completed, 1 unconfirmed"
        );
    }
}
