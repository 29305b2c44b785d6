//! Tests several tabs with a shared channel and shared storage.

use atelier_engine::{Action, BatchKey, BatchPlace, BlockReason, Task, TaskKey};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::storage::StorageError;
use crate::browser::tabs::channel::Channel;
use crate::runner::testing::{
    Tab, failed, pause, ready, reset_browser, running, store_tasks, stored_tasks, task, until,
    until_stored,
};

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

fn task_of(tab: &Tab, name: &str) -> Option<Task> {
    let task = tab.runner.task(&key(name))?;
    Some(task.get_untracked())
}

/// Posts a message as a tab of any version could.
fn post(text: &str) {
    let channel = Channel::open("atelier", |_| ());
    channel.post(text);
}

fn message(name: &str, task: &Task) -> String {
    format!(r#"{{"{name}":{}}}"#, task.to_value())
}

/// Waits until the messages that were posted before are delivered.
async fn wait_for_delivery() {
    for _ in 0..5 {
        pause().await;
    }
}

#[wasm_bindgen_test]
async fn follower_shows_the_changes_of_the_leader() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.until_listed(&["a"]).await;
    leader.runner.submit_tasks(vec![task("b", 20)]);
    follower.until_listed(&["b", "a"]).await;
    leader.runner.act(&key("a"), Action::Cancel);
    follower.until_listed(&["b"]).await;
    assert_eq!(task_of(&follower, "a"), None);
    assert!(!follower.parts().tabs.leads());
    let found = stored_tasks().await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0], task("b", 20));
}

/// The progress is not stored, and the leader reports it only when it changes.
#[wasm_bindgen_test]
async fn a_new_tab_shows_the_progress_of_running_tasks() {
    reset_browser().await;
    store_tasks(&[running("a", 10)]).await;
    let leader = Tab::open_leading().await;
    leader.until_listed(&["a"]).await;
    let mut half = running("a", 10);
    (half.fraction, half.progress) = (Some(0.5), Some("step 5".into()));
    leader.parts().tasks.show(&[half]);
    let follower = Tab::open().await;
    until("the progress", || {
        task_of(&follower, "a").is_some_and(|task| task.fraction == Some(0.5))
    })
    .await;
    assert!(!follower.parts().tabs.leads());
    assert_eq!(stored_tasks().await[0].fraction, None);
}

#[wasm_bindgen_test]
async fn leader_executes_the_requests_of_a_follower() {
    reset_browser().await;
    store_tasks(&[ready("a", 10, &["https://x/1", "https://x/2"])]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.runner.submit_tasks(vec![task("b", 20)]);
    leader.until_listed(&["b", "a"]).await;
    follower.runner.import(vec![failed("c", 30)]);
    leader.until_listed(&["c", "b", "a"]).await;
    follower.runner.set_favorite("a/1", true);
    let favorites = |tab: &Tab| task_of(tab, "a").map(|task| task.favorites);
    for tab in [&leader, &follower] {
        until("a favorite", || favorites(tab) == Some(vec![1])).await;
    }
    follower.runner.act(&key("b"), Action::Cancel);
    follower.runner.act(&key("c"), Action::Remove);
    for tab in [&leader, &follower] {
        tab.until_listed(&["a"]).await;
    }
    // Undo.
    follower.runner.act(&key("c"), Action::Restore);
    for tab in [&leader, &follower] {
        tab.until_listed(&["c", "a"]).await;
    }
}

#[wasm_bindgen_test]
async fn unreadable_messages_are_ignored() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{}",
        r#""Sent by a later version""#,
        r#"{"Sent by a later version":{"key":"a"}}"#,
        r#"{"Task":{"key":"a"}}"#,
        r#"{"Task":null}"#,
        r#"{"Removed":{"key":"a"}}"#,
        r#"{"Submitted":[{"key":"b"}]}"#,
        r#"{"Act":["a"]}"#,
        r#"{"Act":["a","explode"]}"#,
        r#"{"ActOnBatch":["a",1]}"#,
        r#"{"State":[]}"#,
        r#"{"Favorite":{"output":"a/0","is":1}}"#,
    ] {
        post(text);
    }
    // Later messages are still received.
    post(&message("Submitted", &task("b", 20)));
    for tab in [&leader, &follower] {
        tab.until_listed(&["b", "a"]).await;
        assert_eq!(task_of(tab, "a"), Some(task("a", 10)));
    }
}

/// Two tabs may send the same task, and one of the messages may be late.
#[wasm_bindgen_test]
async fn late_message_does_not_replace_a_newer_record() {
    reset_browser().await;
    let (_leader, follower) = (Tab::open_leading().await, Tab::open().await);
    post(&message("Task", &ready("a", 10, &["https://x/1"])));
    follower.until_listed(&["a"]).await;
    post(&message("Task", &task("a", 10)));
    wait_for_delivery().await;
    let known = task_of(&follower, "a").expect("a task");
    assert!(known.state.is_terminal(), "{known:?}");
    // A newer record is adopted unchanged, with fields that this version does not know.
    let mut newer = ready("a", 10, &["https://x/1"]);
    newer.favorites = vec![0];
    newer.extra.insert("later".into(), 1.into());
    post(&message("Task", &newer));
    until("the newer record", || {
        task_of(&follower, "a") == Some(newer.clone())
    })
    .await;
}

/// The leader's records take precedence over those of new tabs and of previous leaders.
#[wasm_bindgen_test]
async fn leader_ignores_records_of_other_tabs() {
    reset_browser().await;
    store_tasks(&[ready("a", 10, &["https://x/1"])]).await;
    let leader = Tab::open_leading().await;
    let mut other = failed("a", 10);
    other.favorites = vec![3];
    post(&message("Task", &other));
    post(&message("Task", &task("unknown", 20)));
    post(r#"{"Removed":"a"}"#);
    post(r#"{"State":{"hindrance":"Offline","storage_error":"full"}}"#);
    wait_for_delivery().await;
    assert_eq!(leader.keys(), ["a"]);
    assert_eq!(
        task_of(&leader, "a"),
        Some(ready("a", 10, &["https://x/1"]))
    );
    assert_eq!(untrack(|| leader.runner.block_reason()), None);
    assert_eq!(untrack(|| leader.runner.storage_error()), None);
}

#[wasm_bindgen_test]
async fn new_leader_reads_the_stored_tasks() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    next.until_listed(&["a"]).await;
    // Written by a tab that was closed before it could send the task.
    store_tasks(&[task("b", 20)]).await;
    assert_eq!(next.keys(), ["a"]);
    drop(leader);
    next.until_leader().await;
    next.until_listed(&["b", "a"]).await;
    // This tab writes from now on.
    next.runner.submit_tasks(vec![task("c", 30)]);
    next.runner.written().await.expect("written");
    assert_eq!(stored_tasks().await.len(), 3);
}

/// Guards against a task that is shown but never stored: the leader received it as a follower, and again from a tab that
/// still has it after storage was cleared.
#[wasm_bindgen_test]
async fn unstored_task_is_stored_although_it_is_shown_already() {
    reset_browser().await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    let shown = ready("a", 10, &["https://x/1"]);
    post(&message("Task", &shown));
    next.until_listed(&["a"]).await;
    drop(leader);
    next.until_leader().await;
    wait_for_delivery().await;
    assert_eq!(stored_tasks().await, []);
    let unknown = ready("b", 20, &["https://x/2"]);
    post(&message("Unstored", &shown));
    post(&message("Unstored", &unknown));
    next.until_listed(&["b", "a"]).await;
    until_stored(&[shown, unknown]).await;
}

/// A cancelled task must not be sent, even if no tab received the request.
#[wasm_bindgen_test]
async fn next_leader_executes_a_request_to_a_closed_leader() {
    reset_browser().await;
    store_tasks(&[task("a", 10), task("b", 20)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    next.until_listed(&["b", "a"]).await;
    // The leader is closed, but the browser has not yet given the lock to the next tab.
    drop(leader);
    next.runner.act(&key("a"), Action::Cancel);
    next.until_leader().await;
    next.until_listed(&["b"]).await;
    next.runner.written().await.expect("written");
    until("the deletion of the record", || next.keys() == ["b"]).await;
}

fn queued_in(batch: &BatchKey) -> Task {
    Task {
        batch: Some(BatchPlace {
            batch: batch.clone(),
            index: 0,
        }),
        ..task("a", 10)
    }
}

/// Guards against sending a stopped batch: a leader that was being closed sent an unrelated message, and the tab in which
/// Stop was pressed treated it as a confirmation.
#[wasm_bindgen_test]
async fn stop_is_executed_although_the_leader_was_closed() {
    reset_browser().await;
    let batch = BatchKey("batch".into());
    store_tasks(&[queued_in(&batch)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    drop(leader);
    next.runner.act_on_batch(&batch, BatchAction::Stop);
    next.parts().receive(r#"{"State":{}}"#);
    next.until_leader().await;
    let is_back = || task_of(&next, "a").is_some_and(|task| task.taken_back);
    until("the task to be taken back", is_back).await;
}

/// Guards against a Resume that is repeated after a later Pause in another tab, and so sends paused tasks.
#[wasm_bindgen_test]
async fn last_batch_action_wins_after_a_change_of_leader() {
    reset_browser().await;
    let batch = BatchKey("batch".into());
    let paused = Task {
        paused: true,
        ..queued_in(&batch)
    };
    store_tasks(&[paused]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    let is_paused = |tab: &Tab| task_of(tab, "a").is_some_and(|task| task.paused);
    next.runner.act_on_batch(&batch, BatchAction::Resume);
    for tab in [&leader, &next] {
        until("the batch to resume", || !is_paused(tab)).await;
    }
    leader.runner.act_on_batch(&batch, BatchAction::Pause);
    until("the batch to be paused", || is_paused(&next)).await;
    drop(leader);
    next.until_leader().await;
    wait_for_delivery().await;
    assert!(is_paused(&next));
}

#[wasm_bindgen_test]
async fn batch_counts_as_stopped_in_the_tab_where_stop_was_pressed_last() {
    reset_browser().await;
    let batch = BatchKey("batch".into());
    store_tasks(&[queued_in(&batch)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.runner.act_on_batch(&batch, BatchAction::Stop);
    assert!(follower.runner.is_stopped_here(&batch));
    let is_back = |tab: &Tab| task_of(tab, "a").is_some_and(|task| task.taken_back);
    for tab in [&leader, &follower] {
        until("the task to be taken back", || is_back(tab)).await;
    }
    assert!(!leader.runner.is_stopped_here(&batch));
    // Stop is pressed again, in the other tab.
    leader.runner.act_on_batch(&batch, BatchAction::Stop);
    until("the last stop", || !follower.runner.is_stopped_here(&batch)).await;
    assert!(leader.runner.is_stopped_here(&batch));
}

#[wasm_bindgen_test]
async fn block_reason_of_the_leader_is_shown_in_every_tab() {
    reset_browser().await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    let now = clock::now();
    let driver = leader.parts().driver;
    driver.change(|engine| engine.credentials_refused(now));
    let reason = |tab: &Tab| untrack(|| tab.runner.block_reason());
    for tab in [&leader, &follower] {
        until("the reason", || {
            reason(tab) == Some(BlockReason::Unauthorized)
        })
        .await;
    }
    // A new tab requests the state.
    let late = Tab::open().await;
    until("the reason", || {
        reason(&late) == Some(BlockReason::Unauthorized)
    })
    .await;
    late.runner.credentials_accepted();
    for tab in [&leader, &follower, &late] {
        until("no reason", || reason(tab).is_none()).await;
    }
    post(r#"{"State":{"storage_error":"full"}}"#);
    until("the leader's storage", || {
        untrack(|| follower.runner.storage_error()) == Some(StorageError::Full)
    })
    .await;
    // The next leader can write, and reports no error.
    drop(leader);
    follower.until_leader().await;
    for tab in [&follower, &late] {
        until("no error", || {
            untrack(|| tab.runner.storage_error()).is_none()
        })
        .await;
    }
}
