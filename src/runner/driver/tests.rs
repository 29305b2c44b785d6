use atelier_contract::ServiceAddress;
use atelier_engine::{Action, BlockReason, TaskState};
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{
    Tab, ready, reset_browser, session, store_tasks, stored_tasks, task, until,
};
use crate::state::session::Settings;

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

/// Returns a task of the signed-in account, which is sent.
fn own(name: &str, created: u64) -> Task {
    let account = session().account();
    let other = task(name, created);
    Task::new(other.key, account, other.model_name, other.input, created)
}

#[wasm_bindgen_test]
async fn submitted_and_cancelled_tasks_are_shown_and_written() {
    reset_browser().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    driver.change(|engine| engine.submit(vec![task("a", 10), task("b", 20)], clock::now()));
    assert_eq!(tab.keys(), ["b", "a"], "tasks are shown synchronously");
    driver.written().await.expect("written");
    assert_eq!(stored_tasks().await, [task("a", 10), task("b", 20)]);
    driver.change(|engine| engine.act(&key("a"), Action::Cancel, clock::now()));
    assert_eq!(tab.keys(), ["b"]);
    // The record is deleted as well; this read comes after the deletion.
    assert_eq!(stored_tasks().await, [task("b", 20)]);
}

/// Submits more tasks than are written immediately. Returns their number.
fn submit_many(driver: Driver) -> usize {
    let count = MAX_INLINE_WRITES + 50;
    let tasks: Vec<_> = (0..count).map(|n| task(&format!("t{n:03}"), 10)).collect();
    driver.change(|engine| engine.submit(tasks, clock::now()));
    assert_eq!(deferred_count(driver), count);
    count
}

fn deferred_count(driver: Driver) -> usize {
    driver.state.with_value(|state| state.unwritten.len())
}

#[wasm_bindgen_test]
async fn many_records_are_written_after_they_are_shown() {
    reset_browser().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    let count = submit_many(driver);
    // The deferred write uses the later state.
    driver.change(|engine| engine.act(&key("t000"), Action::Cancel, clock::now()));
    assert_eq!(tab.keys().len(), count - 1);
    until("the deferred writes", || deferred_count(driver) == 0).await;
    assert_eq!(stored_tasks().await.len(), count - 1);
}

#[wasm_bindgen_test]
async fn written_waits_for_deferred_writes() {
    reset_browser().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    let count = submit_many(driver);
    let mut written = driver.written().boxed_local();
    let is_written = (&mut written).now_or_never();
    assert!(is_written.is_none(), "the write takes a while");
    assert_eq!(deferred_count(driver), 0, "the deferred write has started");
    written.await.expect("written");
    assert_eq!(stored_tasks().await.len(), count);
}

/// Only the leading tab writes, because it may have written something newer.
#[wasm_bindgen_test]
async fn tasks_from_another_tab_are_shown_and_not_written() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let tab = Tab::open_leading().await;
    // This tab follows from now on.
    tab.parts().tabs.resign();
    let driver = tab.parts().driver;
    driver.merge_remote(vec![ready("a", 10, &["https://x/1"]), task("b", 20)]);
    assert_eq!(tab.keys(), ["b", "a"]);
    let known = driver.with_engine(|engine| engine.task(&key("a")).cloned());
    assert_eq!(known.flatten(), Some(ready("a", 10, &["https://x/1"])));
    // A late message changes nothing.
    driver.merge_remote(vec![task("a", 10)]);
    let shown = tab.runner.task(&key("a")).expect("a task");
    assert!(shown.get_untracked().state.is_terminal());
    driver.written().await.expect("nothing to write");
    assert_eq!(stored_tasks().await, [task("a", 10)]);
}

/// After a submission without a response, the next one must wait.
#[wasm_bindgen_test]
async fn submissions_are_paused_in_every_tab_when_the_service_does_not_respond() {
    reset_browser().await;
    let settings = Settings {
        // Browsers refuse to call this port.
        address: ServiceAddress::parse("http://127.0.0.1:1").expect("an address"),
        uid: "me".into(),
        ..Settings::default()
    };
    session().save(settings, "secret".into(), true);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.submit_tasks(vec![own("a", 10)]);
    until("an unconfirmed task", || {
        let task = leader.runner.task(&key("a")).expect("a task");
        matches!(task.get_untracked().state, TaskState::Unconfirmed { .. })
    })
    .await;
    let reason = |tab: &Tab| untrack(|| tab.runner.block_reason());
    assert_eq!(reason(&leader), None, "no task is queued");
    leader.runner.submit_tasks(vec![own("b", 20)]);
    for tab in [&leader, &follower] {
        until(
            "the pause",
            || matches!(reason(tab), Some(BlockReason::Unanswered(until)) if until > clock::now()),
        )
        .await;
        let waiting = tab.runner.task(&key("b")).expect("a task");
        assert_eq!(waiting.get_untracked().state, TaskState::Queued);
    }
    // No task is queued any more.
    follower.runner.act(&key("b"), Action::Cancel);
    for tab in [&leader, &follower] {
        until("the end of the pause", || reason(tab).is_none()).await;
    }
}

/// Timers and responses may still arrive after the app was unmounted.
#[wasm_bindgen_test]
async fn driver_does_nothing_after_the_app_was_unmounted() {
    reset_browser().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    drop(tab);
    driver.change(|engine| engine.submit(vec![task("a", 10)], clock::now()));
    driver.pump();
    driver.write_deferred();
    assert_eq!(driver.written().await, Err(StorageError::Closed));
    assert!(driver.with_engine(|_| ()).is_none());
    assert_eq!(stored_tasks().await, []);
}
