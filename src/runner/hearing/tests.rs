//! Tabs as a person has them open, with one channel and one storage between them.

use atelier_engine::{Action, BatchKey, BatchPlace, BlockReason, Task, TaskKey};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::storage::StorageError;
use crate::browser::tabs::channel::Channel;
use crate::runner::testing::{
    Tab, failed, pause, put, ready, start_afresh, stored, task, until, until_stored,
};

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

fn task_of(tab: &Tab, name: &str) -> Option<Task> {
    let task = tab.runner.task(&key(name))?;
    Some(task.get_untracked())
}

/// What a tab of any version says.
fn say(text: &str) {
    let channel = Channel::open("atelier", |_| ());
    channel.post(text);
}

fn said(name: &str, task: &Task) -> String {
    format!(r#"{{"{name}":{}}}"#, task.to_value())
}

/// What was said before is heard by then.
async fn heard() {
    for _ in 0..5 {
        pause().await;
    }
}

#[wasm_bindgen_test]
async fn a_follower_shows_what_the_leader_says() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.lists(&["a"]).await;
    leader.runner.submit_tasks(vec![task("b", 20)]);
    follower.lists(&["b", "a"]).await;
    leader.runner.act(&key("a"), Action::Cancel);
    follower.lists(&["b"]).await;
    assert_eq!(task_of(&follower, "a"), None);
    assert!(!follower.parts().tabs.leads());
    let found = stored().await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0], task("b", 20));
}

#[wasm_bindgen_test]
async fn what_a_follower_is_asked_for_the_leader_does() {
    start_afresh().await;
    put(&[ready("a", 10, &["https://x/1", "https://x/2"])]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.runner.submit_tasks(vec![task("b", 20)]);
    leader.lists(&["b", "a"]).await;
    follower.runner.import(vec![failed("c", 30)]);
    leader.lists(&["c", "b", "a"]).await;
    follower.runner.set_favorite("a/1", true);
    let favorites = |tab: &Tab| task_of(tab, "a").map(|task| task.favorites);
    for tab in [&leader, &follower] {
        until("a favorite", || favorites(tab) == Some(vec![1])).await;
    }
    follower.runner.act(&key("b"), Action::Cancel);
    follower.runner.act(&key("c"), Action::Remove);
    for tab in [&leader, &follower] {
        tab.lists(&["a"]).await;
    }
    // Undo.
    follower.runner.act(&key("c"), Action::Restore);
    for tab in [&leader, &follower] {
        tab.lists(&["c", "a"]).await;
    }
}

#[wasm_bindgen_test]
async fn what_cannot_be_read_is_passed_over() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{}",
        r#""Said by a later version""#,
        r#"{"Said by a later version":{"key":"a"}}"#,
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
        say(text);
    }
    // What comes after it is heard all the same.
    say(&said("Submitted", &task("b", 20)));
    for tab in [&leader, &follower] {
        tab.lists(&["b", "a"]).await;
        assert_eq!(task_of(tab, "a"), Some(task("a", 10)));
    }
}

/// Two tabs speak of one task, and what one says may be late.
#[wasm_bindgen_test]
async fn of_two_records_the_one_that_knows_more_counts() {
    start_afresh().await;
    let (_leader, follower) = (Tab::open_leading().await, Tab::open().await);
    say(&said("Task", &ready("a", 10, &["https://x/1"])));
    follower.lists(&["a"]).await;
    say(&said("Task", &task("a", 10)));
    heard().await;
    let known = task_of(&follower, "a").expect("a task");
    assert!(known.state.is_terminal(), "{known:?}");
    // Something newer is taken over as it is, with what this version does not know.
    let mut newer = ready("a", 10, &["https://x/1"]);
    newer.favorites = vec![0];
    newer.extra.insert("later".into(), 1.into());
    say(&said("Task", &newer));
    until("the newer one", || {
        task_of(&follower, "a") == Some(newer.clone())
    })
    .await;
}

/// A tab that is opened or led before does not know better than the one that leads.
#[wasm_bindgen_test]
async fn a_leader_keeps_its_own_word() {
    start_afresh().await;
    put(&[ready("a", 10, &["https://x/1"])]).await;
    let leader = Tab::open_leading().await;
    let mut other = failed("a", 10);
    other.favorites = vec![3];
    say(&said("Task", &other));
    say(&said("Task", &task("never heard of", 20)));
    say(r#"{"Removed":"a"}"#);
    say(r#"{"State":{"hindrance":"Offline","storage_error":"full"}}"#);
    heard().await;
    assert_eq!(leader.keys(), ["a"]);
    assert_eq!(
        task_of(&leader, "a"),
        Some(ready("a", 10, &["https://x/1"]))
    );
    assert_eq!(untrack(|| leader.runner.block_reason()), None);
    assert_eq!(untrack(|| leader.runner.storage_error()), None);
}

#[wasm_bindgen_test]
async fn the_tab_that_takes_over_goes_on_from_what_is_stored() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    next.lists(&["a"]).await;
    // Written by a tab that was closed before it could tell.
    put(&[task("b", 20)]).await;
    assert_eq!(next.keys(), ["a"]);
    drop(leader);
    next.leads().await;
    next.lists(&["b", "a"]).await;
    // This tab writes from now on.
    next.runner.submit_tasks(vec![task("c", 30)]);
    next.runner.written().await.expect("written");
    assert_eq!(stored().await.len(), 3);
}

/// Guards against a task that is shown and kept nowhere: the tab that leads now heard of it before it led, and then from
/// one that keeps what storage was cleared of.
#[wasm_bindgen_test]
async fn what_is_handed_over_is_stored_though_it_is_shown_already() {
    start_afresh().await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    let told = ready("a", 10, &["https://x/1"]);
    say(&said("Task", &told));
    next.lists(&["a"]).await;
    drop(leader);
    next.leads().await;
    heard().await;
    assert_eq!(stored().await, []);
    let unheard = ready("b", 20, &["https://x/2"]);
    say(&said("Unstored", &told));
    say(&said("Unstored", &unheard));
    next.lists(&["b", "a"]).await;
    until_stored(&[told, unheard]).await;
}

/// A task that is cancelled must not be sent, though no tab was there to receive it.
#[wasm_bindgen_test]
async fn what_was_asked_of_a_leader_that_has_gone_is_done_by_the_next() {
    start_afresh().await;
    put(&[task("a", 10), task("b", 20)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    next.lists(&["b", "a"]).await;
    // The leader is closed, but the browser has not yet given the lock to the next tab.
    drop(leader);
    next.runner.act(&key("a"), Action::Cancel);
    next.leads().await;
    next.lists(&["b"]).await;
    next.runner.written().await.expect("written");
    until("the record's end", || next.keys() == ["b"]).await;
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

/// Guards against a Stop that is paid for all the same: a tab that leads and is about to go spoke once more, and the one
/// in which it was pressed took that for an answer.
#[wasm_bindgen_test]
async fn a_stop_is_not_forgotten_with_the_leader_that_it_was_told() {
    start_afresh().await;
    let batch = BatchKey("batch".into());
    put(&[queued_in(&batch)]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    drop(leader);
    next.runner.act_on_batch(&batch, BatchAction::Stop);
    next.parts().hear(r#"{"State":{}}"#);
    next.leads().await;
    let is_back = || task_of(&next, "a").is_some_and(|task| task.taken_back);
    until("what was taken back", is_back).await;
}

/// Guards against a Resume that comes back after a later Pause in another tab, and has what was held sent.
#[wasm_bindgen_test]
async fn what_was_asked_for_last_counts_whoever_leads() {
    start_afresh().await;
    let batch = BatchKey("batch".into());
    let paused = Task {
        paused: true,
        ..queued_in(&batch)
    };
    put(&[paused]).await;
    let (leader, next) = (Tab::open_leading().await, Tab::open().await);
    let is_paused = |tab: &Tab| task_of(tab, "a").is_some_and(|task| task.paused);
    next.runner.act_on_batch(&batch, BatchAction::Resume);
    for tab in [&leader, &next] {
        until("the batch to go on", || !is_paused(tab)).await;
    }
    leader.runner.act_on_batch(&batch, BatchAction::Pause);
    until("the batch to be held", || is_paused(&next)).await;
    drop(leader);
    next.leads().await;
    heard().await;
    assert!(is_paused(&next));
}

#[wasm_bindgen_test]
async fn a_stopped_batch_is_handed_over_in_the_tab_where_stop_was_pressed() {
    start_afresh().await;
    let batch = BatchKey("batch".into());
    put(&[queued_in(&batch)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.runner.act_on_batch(&batch, BatchAction::Stop);
    assert!(follower.runner.is_stopped_here(&batch));
    let is_back = |tab: &Tab| task_of(tab, "a").is_some_and(|task| task.taken_back);
    for tab in [&leader, &follower] {
        until("what was taken back", || is_back(tab)).await;
    }
    assert!(!leader.runner.is_stopped_here(&batch));
    // Stopped once more, in the other one.
    leader.runner.act_on_batch(&batch, BatchAction::Stop);
    until("the last stop", || !follower.runner.is_stopped_here(&batch)).await;
    assert!(leader.runner.is_stopped_here(&batch));
}

#[wasm_bindgen_test]
async fn what_holds_the_leader_back_stands_in_every_tab() {
    start_afresh().await;
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
    // A tab that is opened now asks.
    let late = Tab::open().await;
    until("the reason", || {
        reason(&late) == Some(BlockReason::Unauthorized)
    })
    .await;
    late.runner.credentials_accepted();
    for tab in [&leader, &follower, &late] {
        until("no reason", || reason(tab).is_none()).await;
    }
    say(r#"{"State":{"storage_error":"full"}}"#);
    until("the leader's storage", || {
        untrack(|| follower.runner.storage_error()) == Some(StorageError::Full)
    })
    .await;
    // The next one can write, and says so.
    drop(leader);
    follower.leads().await;
    for tab in [&follower, &late] {
        until("no error", || {
            untrack(|| tab.runner.storage_error()).is_none()
        })
        .await;
    }
}
