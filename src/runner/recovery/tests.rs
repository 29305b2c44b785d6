use std::rc::Rc;

use atelier_engine::BatchKey;
use idb::{Database, DatabaseEvent, Factory, ObjectStoreParams};
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::browser::storage::{Storage, Store};
use crate::runner::testing::{
    DATABASE, Tab, closing, delete_database, put, ready, start_afresh, stored, task, until,
    until_stored,
};

/// Every storage error that a tab has shown, one after the other.
fn shown(tab: &Tab) -> StoredValue<Vec<Option<StorageError>>> {
    let runner = tab.runner;
    tab.follow(move || runner.storage_error())
}

/// A database that another page has open, which does not give way to a newer version.
async fn opened(version: u32) -> Rc<Database> {
    let factory = Factory::new().expect("IndexedDB");
    let mut opening = factory.open(DATABASE, Some(version)).expect("a request");
    opening.on_upgrade_needed(|event| {
        let database = event.database().expect("a database");
        // As the first version did; later it is there.
        let _ = database.create_object_store("tasks", ObjectStoreParams::new());
    });
    let database = Rc::new(opening.await.expect("a database"));
    let left = database.clone();
    closing(move || left.close());
    database
}

/// A person clears the site's data while the page is open.
#[wasm_bindgen_test]
async fn what_was_taken_away_is_written_again() {
    start_afresh().await;
    put(&[ready("a", 10, &["https://x/1"])]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    leader.runner.submit_tasks(vec![task("b", 20)]);
    let batch = BatchKey("batch".into());
    leader.runner.keep_batch(&batch, "{}".to_owned());
    leader.runner.written().await.expect("written");
    follower.lists(&["b", "a"]).await;
    assert!(leader.runner.has_read_tasks());
    let (by_leader, by_follower) = (shown(&leader), shown(&follower));
    follower.parts().hear(r#"{"State":{}}"#);
    delete_database().await;
    for all in [by_leader, by_follower] {
        // What the leader says of its storage may come in between: it shows nothing once more.
        until("an error that is mended", || {
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

/// The next leader was opened after the data was cleared, and the last one is gone before it wrote.
#[wasm_bindgen_test]
async fn a_follower_that_knows_more_than_storage_tells_the_leader() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let (leader, follower) = (Tab::open_leading().await, Tab::open().await);
    follower.lists(&["a"]).await;
    // Only the follower has heard of it.
    let known = ready("b", 20, &["https://x/1"]);
    follower.parts().hear(
        &TabMessage::Task(Box::new(known.clone()))
            .to_value()
            .to_string(),
    );
    assert_eq!(follower.keys(), ["b", "a"]);
    assert_eq!(leader.keys(), ["a"]);
    delete_database().await;
    leader.lists(&["b", "a"]).await;
    until_stored(&[task("a", 10), known]).await;
}

/// The page goes on, says so, and keeps everything once it can.
#[wasm_bindgen_test]
async fn what_could_not_be_kept_at_first_is_kept_later() {
    start_afresh().await;
    let other = opened(1).await;
    let tab = Tab::begin();
    until("storage to be given up", || {
        untrack(|| tab.runner.storage_error()) == Some(StorageError::Silent)
    })
    .await;
    tab.leads().await;
    assert!(!tab.runner.has_read_tasks());
    assert!(tab.runner.storage().is_none());
    tab.runner.submit_tasks(vec![task("a", 10)]);
    assert_eq!(tab.keys(), ["a"]);
    // It stays said while it is so.
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
    assert_eq!(stored().await, [task("a", 10)]);
}

/// It can write what it leads; this one can't.
#[wasm_bindgen_test]
async fn a_tab_of_an_older_version_leads_no_longer() {
    start_afresh().await;
    put(&[task("a", 10)]).await;
    let tab = Tab::open_leading().await;
    let newer = opened(1_000).await;
    until("a newer version to be seen", || {
        untrack(|| tab.runner.storage_error()) == Some(StorageError::Newer)
    })
    .await;
    assert!(!tab.parts().tabs.leads());
    assert_eq!(tab.keys(), ["a"], "what it knows is shown");
    assert_eq!(untrack(|| tab.runner.unread()), None);
    // Guards against what waits to be sent, for ever, in a tab that makes no calls any more.
    let said = untrack(|| tab.runner.wait_reason(&task("a", 10), 0));
    let said = said.expect("a reason");
    assert!(said.starts_with("Not sent from here"), "{said}");
    assert!(untrack(|| tab.runner.is_superseded()));
    newer.close();
    delete_database().await;
    until("its own version", || {
        untrack(|| tab.runner.storage_error()).is_none()
    })
    .await;
    assert!(!tab.parts().tabs.leads());
    // It does not make calls again: what is submitted would wait for ever.
    assert!(untrack(|| tab.runner.is_superseded()));
    assert!(untrack(|| tab.runner.unkept_message()).is_some());
}

/// Guards against `Nothing submitted yet` where the tasks are a newer version's, which is not there any more.
#[wasm_bindgen_test]
async fn what_a_newer_version_keeps_is_not_said_to_be_nothing() {
    start_afresh().await;
    opened(1_000).await.close();
    let tab = Tab::open().await;
    let unread = untrack(|| tab.runner.unread()).expect("why it is not shown");
    assert!(unread.contains("newer Atelier"), "{unread}");
    assert!(untrack(|| tab.runner.is_superseded()));
    // Nor does it ever lead: what it would send may have been sent by the newer one.
    TimeoutFuture::new(300).await;
    assert!(!tab.parts().tabs.leads());
    assert_eq!(tab.runner.retry(&atelier_engine::TaskKey("a".into())), None);
    delete_database().await;
}
