use std::rc::Rc;

use atelier_engine::BatchKey;
use idb::{Database, DatabaseEvent, Factory, ObjectStoreParams};
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::storage::{Storage, Store};
use crate::runner::testing::{
    DATABASE, Tab, close_before_next_test, delete_database, ready, reset_browser, store_tasks,
    stored_tasks, task, until, until_stored,
};

/// Records the storage errors that a tab shows, in order.
fn shown_errors(tab: &Tab) -> StoredValue<Vec<Option<StorageError>>> {
    let runner = tab.runner;
    tab.follow(move || runner.storage_error())
}

/// Opens the database as a page that does not close its connection when a newer version requests an upgrade.
async fn open_database(version: u32) -> Rc<Database> {
    let factory = Factory::new().expect("IndexedDB");
    let mut opening = factory.open(DATABASE, Some(version)).expect("a request");
    opening.on_upgrade_needed(|event| {
        let database = event.database().expect("a database");
        // The first version creates this store. In later versions it exists already.
        let _ = database.create_object_store("tasks", ObjectStoreParams::new());
    });
    let database = Rc::new(opening.await.expect("a database"));
    let opened = database.clone();
    close_before_next_test(move || opened.close());
    database
}

/// The user clears the site's data while the page is open.
#[wasm_bindgen_test]
async fn records_are_written_again_after_site_data_is_cleared() {
    reset_browser().await;
    store_tasks(&[ready("a", 10, &["https://x/1"])]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.submit_tasks(vec![task("b", 20)]);
    let batch = BatchKey("batch".into());
    leader.runner.keep_batch(&batch, "{}".to_owned());
    leader.runner.written().await.expect("written");
    follower.until_listed(&["b", "a"]).await;
    assert!(leader.runner.has_read_tasks());
    let (by_leader, by_follower) = (shown_errors(&leader), shown_errors(&follower));
    follower.parts().receive(r#"{"State":{}}"#);
    delete_database().await;
    for all in [by_leader, by_follower] {
        // The leader's status may be received between two errors, so that no error is shown for a moment.
        until("the end of an error", || {
            all.with_value(|all| all.iter().any(Option::is_some) && all.last() == Some(&None))
        })
        .await;
        let first = all.get_value().into_iter().flatten().next();
        assert_eq!(first, Some(StorageError::Closed));
    }
    assert_eq!(leader.keys(), ["b", "a"]);
    until_stored(&[ready("a", 10, &["https://x/1"]), task("b", 20)]).await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let batches = storage.all_texts(Store::Batches).await.expect("records");
    assert_eq!(batches, ["{}"]);
}

/// The next leader may have been opened after the data was cleared, and the previous leader may have been closed before it
/// wrote its tasks again.
#[wasm_bindgen_test]
async fn follower_sends_cleared_tasks_to_the_leader() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.until_listed(&["a"]).await;
    // Only the follower receives this task.
    let known = ready("b", 20, &["https://x/1"]);
    follower.parts().receive(
        &TabMessage::Task(Box::new(known.clone()))
            .to_value()
            .to_string(),
    );
    assert_eq!(follower.keys(), ["b", "a"]);
    assert_eq!(leader.keys(), ["a"]);
    delete_database().await;
    leader.until_listed(&["b", "a"]).await;
    until_stored(&[task("a", 10), known]).await;
}

/// Without storage, the page works and shows the error. It stores all tasks once storage works.
#[wasm_bindgen_test]
async fn tasks_are_stored_later_if_storage_does_not_open_at_first() {
    reset_browser().await;
    let other = open_database(1).await;
    let tab = Tab::begin();
    until("the timeout of storage", || {
        untrack(|| tab.runner.storage_error()) == Some(StorageError::Silent)
    })
    .await;
    tab.until_leader().await;
    assert!(!tab.runner.has_read_tasks());
    assert!(tab.runner.storage().is_none());
    tab.runner.submit_tasks(vec![task("a", 10)]);
    assert_eq!(tab.keys(), ["a"]);
    // The error is shown until storage works.
    assert_eq!(
        untrack(|| tab.runner.storage_error()),
        Some(StorageError::Silent)
    );
    other.close();
    until("storage", || {
        untrack(|| tab.runner.storage_error()).is_none()
    })
    .await;
    assert!(tab.runner.has_read_tasks());
    assert_eq!(stored_tasks().await, [task("a", 10)]);
}

/// The tab of the newer version can write records; this one can't.
#[wasm_bindgen_test]
async fn tab_of_an_older_version_stops_leading() {
    reset_browser().await;
    store_tasks(&[task("a", 10)]).await;
    let tab = Tab::open_leading().await;
    let newer = open_database(1_000).await;
    until("the newer version to be noticed", || {
        untrack(|| tab.runner.storage_error()) == Some(StorageError::Newer)
    })
    .await;
    assert!(!tab.parts().tabs.leads());
    assert_eq!(tab.keys(), ["a"], "known tasks are still shown");
    assert_eq!(untrack(|| tab.runner.unread()), None);
    // Guards against tasks that wait forever in a tab that makes no calls any more.
    let reason = untrack(|| tab.runner.wait_reason(&task("a", 10), 0));
    let reason = reason.expect("a reason");
    assert!(reason.starts_with("Not sent from this tab"), "{reason}");
    assert!(untrack(|| tab.runner.is_superseded()));
    newer.close();
    delete_database().await;
    until("a database of its own version", || {
        untrack(|| tab.runner.storage_error()).is_none()
    })
    .await;
    assert!(!tab.parts().tabs.leads());
    // The tab makes no calls again, so submitted tasks would wait forever.
    assert!(untrack(|| tab.runner.is_superseded()));
    assert!(untrack(|| tab.runner.unstored_message()).is_some());
}

/// Guards against `Nothing submitted yet` if the tasks were stored by a newer version that is not installed any more.
#[wasm_bindgen_test]
async fn tasks_of_a_newer_version_are_not_shown_as_an_empty_list() {
    reset_browser().await;
    open_database(1_000).await.close();
    let tab = Tab::open().await;
    let unread = untrack(|| tab.runner.unread()).expect("a message");
    assert!(unread.contains("newer version of Atelier"), "{unread}");
    assert!(untrack(|| tab.runner.is_superseded()));
    // The tab never leads: the newer version may already have sent the tasks that this tab would send.
    TimeoutFuture::new(300).await;
    assert!(!tab.parts().tabs.leads());
    assert_eq!(tab.runner.retry(&atelier_engine::TaskKey("a".into())), None);
    delete_database().await;
}
