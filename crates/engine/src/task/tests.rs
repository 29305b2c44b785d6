use super::*;
use crate::engine::tests::task;
use atelier_contract::{StatusWord, TaskId};

/// The duration may include time in which the page was closed.
#[test]
fn an_unobserved_end_shows_an_upper_bound() {
    let mut task = task("5f", 1_000);
    assert_eq!(task.duration_text(), None);
    (task.submitted, task.finished) = (Some(5_000), Some(50_000));
    assert_eq!(task.duration_text().as_deref(), Some("45 s"));
    task.ended_unseen = true;
    assert_eq!(task.duration_text().as_deref(), Some("under 45 s"));
}

#[test]
fn a_task_that_is_not_followed_is_hidden() {
    let mut task = task("5f", 1_000);
    task.state = TaskState::Running {
        id: TaskId("1".into()),
        word: StatusWord::Processing,
    };
    assert_eq!(task.label(), "Processing");
    task.watching = false;
    assert_eq!(task.label(), "Hidden");
    task.state = TaskState::Queued;
    assert_ne!(task.label(), "Hidden");
}

#[test]
fn retry_keys_are_numbered() {
    let keys = std::iter::successors(Some(TaskKey("5f".into())), |key| Some(key.retry()));
    let keys: Vec<String> = keys.take(4).map(|key| key.0).collect();
    assert_eq!(keys, ["5f", "5f-2", "5f-3", "5f-4"]);
    // Keys can come from imported files, too.
    for (odd, next) in [
        ("a-b", "a-b-2"),
        ("", "-2"),
        ("a-", "a--2"),
        ("a-4294967295", "a-4294967295-2"),
    ] {
        assert_eq!(TaskKey(odd.into()).retry().0, next);
    }
}
