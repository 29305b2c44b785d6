use atelier_contract::ServiceAddress;
use atelier_engine::{Action, BlockReason, TaskState};
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{Tab, put, ready, session, start_afresh, stored, task, until};
use crate::state::session::Settings;

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

/// A task of the one who is signed in: it is sent.
fn own(name: &str, created: u64) -> Task {
    let account = session().account();
    let other = task(name, created);
    Task::new(other.key, account, other.model_name, other.input, created)
}

#[wasm_bindgen_test]
async fn what_the_engine_decides_is_shown_and_written() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    driver.change(|engine| engine.submit(vec![task("a", 10), task("b", 20)], clock::now()));
    assert_eq!(tab.keys(), ["b", "a"], "at once");
    driver.written().await.expect("written");
    assert_eq!(stored().await, [task("a", 10), task("b", 20)]);
    driver.change(|engine| engine.act(&key("a"), Action::Cancel, clock::now()));
    assert_eq!(tab.keys(), ["b"]);
    // Its record goes, too; a read comes after the deletion.
    assert_eq!(stored().await, [task("b", 20)]);
}

/// More than are written at once.
fn submit_many(driver: Driver) -> usize {
    let count = MAX_INLINE_WRITES + 50;
    let tasks: Vec<_> = (0..count).map(|n| task(&format!("t{n:03}"), 10)).collect();
    driver.change(|engine| engine.submit(tasks, clock::now()));
    assert_eq!(put_off(driver), count);
    count
}

fn put_off(driver: Driver) -> usize {
    driver.state.with_value(|state| state.unwritten.len())
}

#[wasm_bindgen_test]
async fn many_records_are_written_once_the_page_has_shown_them() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    let count = submit_many(driver);
    // The record is written as it is by then.
    driver.change(|engine| engine.act(&key("t000"), Action::Cancel, clock::now()));
    assert_eq!(tab.keys().len(), count - 1);
    until("what was put off", || put_off(driver) == 0).await;
    assert_eq!(stored().await.len(), count - 1);
}

#[wasm_bindgen_test]
async fn who_waits_for_what_is_written_waits_for_what_was_put_off() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    let count = submit_many(driver);
    let mut written = driver.written().boxed_local();
    let is_written = (&mut written).now_or_never();
    assert!(is_written.is_none(), "it takes a while");
    assert_eq!(put_off(driver), 0, "it has begun");
    written.await.expect("written");
    assert_eq!(stored().await.len(), count);
}

/// The tab that leads writes, and may have written something newer.
#[wasm_bindgen_test]
async fn what_another_tab_says_is_shown_and_not_written() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let tab = Tab::open_leading().await;
    // This tab follows from now on.
    tab.parts().tabs.resign();
    let driver = tab.parts().driver;
    driver.merge_remote(vec![ready("a", 10, &["https://x/1"]), task("b", 20)]);
    assert_eq!(tab.keys(), ["b", "a"]);
    let known = driver.with_engine(|engine| engine.task(&key("a")).cloned());
    assert_eq!(known.flatten(), Some(ready("a", 10, &["https://x/1"])));
    // What is late changes nothing.
    driver.merge_remote(vec![task("a", 10)]);
    let shown = tab.runner.task(&key("a")).expect("a task");
    assert!(shown.get_untracked().state.is_terminal());
    driver.written().await.expect("nothing to be written");
    assert_eq!(stored().await, [task("a", 10)]);
}

/// A submission without an answer: the next one must not meet the same.
#[wasm_bindgen_test]
async fn where_nobody_answers_submissions_are_paused_in_every_tab() {
    start_afresh().await;
    let settings = Settings {
        // Browsers refuse to call this port.
        address: ServiceAddress::parse("http://127.0.0.1:1").expect("an address"),
        uid: "me".into(),
        ..Settings::default()
    };
    session().save(settings, "secret".into(), true);
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.submit_tasks(vec![own("a", 10)]);
    until("the lack of an answer", || {
        let task = leader.runner.task(&key("a")).expect("a task");
        matches!(task.get_untracked().state, TaskState::Unconfirmed { .. })
    })
    .await;
    let reason = |tab: &Tab| untrack(|| tab.runner.block_reason());
    assert_eq!(reason(&leader), None, "nothing waits");
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
    // Nothing waits any more.
    follower.runner.act(&key("b"), Action::Cancel);
    for tab in [&leader, &follower] {
        until("the end of the pause", || reason(tab).is_none()).await;
    }
}

/// Timers and answers may still come; the app that they were for is gone.
#[wasm_bindgen_test]
async fn a_driver_whose_app_is_gone_does_nothing() {
    start_afresh().await;
    let tab = Tab::open_leading().await;
    let driver = tab.parts().driver;
    drop(tab);
    driver.change(|engine| engine.submit(vec![task("a", 10)], clock::now()));
    driver.pump();
    driver.write_rest();
    assert_eq!(driver.written().await, Err(StorageError::Closed));
    assert!(driver.with_engine(|_| ()).is_none());
    assert_eq!(stored().await, []);
}
