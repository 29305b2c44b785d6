//! Outputs of one press, which are seen together.

use atelier_engine::{Phase, Task, TaskKey};

use atelier_contract::output::OutputKind;

/// So many are seen at a glance.
pub const MAX_PICTURES: usize = 4;

/// An output, or its place while it is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub task: TaskKey,
    /// Its place among the outputs of the task, from 0.
    pub position: usize,
}

/// The places of what was varied with one press, two to four pictures or films. None where it is more, or something else.
///
/// `tasks`: those of the batch in its order. `expected`: how many outputs a task asks for.
pub fn places(tasks: &[&Task], expected: impl Fn(&Task) -> usize) -> Vec<Place> {
    let tasks = latest(tasks);
    let is_seen = |task: &&Task| {
        let urls = task.outputs().iter().map(String::as_str);
        let mut kinds = urls.chain([""]).map(|url| task.output_kind(url));
        task.varied.is_some()
            && kinds.all(|kind| matches!(kind, OutputKind::Image | OutputKind::Video))
    };
    if tasks.len() < 2 || !tasks.iter().all(is_seen) {
        return Vec::new();
    }
    let places = tasks.iter().flat_map(|task| {
        let count = match task.state.phase() {
            Phase::Ready => task.outputs().len().max(1),
            _ if task.is_active() => expected(task),
            // What went wrong is said once.
            _ => 1,
        };
        let place = |position| Place {
            task: task.key.clone(),
            position,
        };
        (0..count).map(place)
    });
    let places: Vec<Place> = places.take(MAX_PICTURES + 1).collect();
    match places.len() {
        0..=MAX_PICTURES => places,
        _ => Vec::new(),
    }
}

/// `2 of 4 completed, 1 failed`, or `Completed`.
pub fn state(tasks: &[&Task]) -> String {
    let tasks = latest(tasks);
    let count = |phase: Phase| {
        let is_meant = |task: &&&Task| task.state.phase() == phase;
        tasks.iter().filter(is_meant).count()
    };
    let completed = count(Phase::Ready);
    if completed == tasks.len() {
        return "Completed".into();
    }
    let ended = [
        (Phase::Failed, "failed"),
        (Phase::Gone, "gone"),
        (Phase::Unconfirmed, "unconfirmed"),
    ];
    let ended = ended.map(|(phase, word)| match count(phase) {
        0 => String::new(),
        count => format!(", {count} {word}"),
    });
    format!("{completed} of {} completed{}", tasks.len(), ended.concat())
}

/// The last attempt at each, in their order.
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

    fn said(tasks: &[Task], expected: usize) -> String {
        let tasks: Vec<&Task> = tasks.iter().collect();
        let places = places(&tasks, |_| expected).into_iter();
        let said = places.map(|place| place.task.output(place.position));
        said.collect::<Vec<_>>().join(" ")
    }

    /// Guards against variations that are waited for in another number than they come in.
    #[test]
    fn what_is_waited_for_has_a_place_each() {
        let waiting = [variation(0), variation(1), variation(2)];
        assert_eq!(said(&waiting, 1), "v0/0 v1/0 v2/0");
        assert_eq!(said(&waiting[..2], 2), "v0/0 v0/1 v1/0 v1/1");
        assert_eq!(said(&waiting[..1], 1), "");
        assert_eq!(said(&waiting, 2), "");
        let some = [made(0, &["/a.png", "/b.png"]), variation(1)];
        assert_eq!(said(&some, 1), "v0/0 v0/1 v1/0");
        let with_sound = [made(0, &["/a.mp3"]), variation(1)];
        assert_eq!(said(&with_sound, 1), "");
        let mut composed = waiting.clone();
        composed.iter_mut().for_each(|task| task.varied = None);
        assert_eq!(said(&composed, 1), "");
    }

    #[test]
    fn what_was_sent_again_has_the_place_of_what_it_repeats() {
        let mut again = variation(0);
        again.key = TaskKey("again".into());
        again.created += 1;
        let mut failed = variation(0);
        failed.state = TaskState::Failed {
            id: None,
            message: String::new(),
        };
        assert_eq!(
            said(&[failed.clone(), again, variation(1)], 1),
            "again/0 v1/0"
        );
        assert_eq!(said(&[failed, variation(1)], 2), "v0/0 v1/0 v1/1");
    }

    #[test]
    fn how_far_they_are_is_said_once() {
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
