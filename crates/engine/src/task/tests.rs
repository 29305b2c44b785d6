use super::*;
use crate::engine::tests::task;
use atelier_contract::{StatusWord, TaskId};

/// Guards against a task of twelve seconds that is said to have taken as long as its page was closed.
#[test]
fn what_nobody_saw_end_took_no_longer_than() {
    let mut task = task("5f", 1_000);
    assert_eq!(task.took(), None);
    (task.submitted, task.finished) = (Some(5_000), Some(50_000));
    assert_eq!(task.took().as_deref(), Some("45 s"));
    task.ended_unseen = true;
    assert_eq!(task.took().as_deref(), Some("under 45 s"));
}

#[test]
fn what_nobody_follows_is_not_said_to_be_processing() {
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
fn each_attempt_has_the_key_after_the_last_one() {
    let keys = std::iter::successors(Some(TaskKey("5f".into())), |key| Some(key.retry()));
    let keys: Vec<String> = keys.take(4).map(|key| key.0).collect();
    assert_eq!(keys, ["5f", "5f-2", "5f-3", "5f-4"]);
    // Keys come from files, too.
    for (odd, next) in [
        ("a-b", "a-b-2"),
        ("", "-2"),
        ("a-", "a--2"),
        ("a-4294967295", "a-4294967295-2"),
    ] {
        assert_eq!(TaskKey(odd.into()).retry().0, next);
    }
}
