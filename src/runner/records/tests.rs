use std::cell::RefCell;

use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{
    close_before_next_test, delete_database, owner, ready, reset_browser, store_tasks,
    stored_tasks, task, until,
};

struct Opened {
    owner: Owner,
    records: Records,
    notices: Notices,
    failures: Rc<RefCell<Vec<StorageError>>>,
}

impl Opened {
    async fn new() -> Self {
        let opened = Self::closed();
        opened.records.open().await.expect("IndexedDB");
        opened
    }

    fn closed() -> Self {
        let owner = owner();
        let (records, notices) = owner.with(|| {
            let notices = Notices::new();
            (Records::new(notices), notices)
        });
        let failures = Rc::new(RefCell::new(Vec::new()));
        let failed = failures.clone();
        records.on_failure(move |error| failed.borrow_mut().push(error));
        Self {
            owner,
            records,
            notices,
            failures,
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.owner.cleanup();
    }
}

fn record_of(task: &Task) -> (Store, String) {
    (Store::Tasks, task.key.0.clone())
}

#[wasm_bindgen_test]
async fn written_tasks_are_read_again() {
    reset_browser().await;
    let opened = Opened::new().await;
    let tasks = [task("a", 10), ready("b", 20, &["https://x/1"])];
    opened.records.write(&tasks).await.expect("written");
    assert_eq!(opened.records.read_all().await, Ok(tasks.to_vec()));
    assert!(untrack(|| opened.notices.list()).is_empty());
}

/// A record that can't be read may be damaged, or be of a newer version, which needs it.
#[wasm_bindgen_test]
async fn unreadable_records_are_left_in_storage_and_reported() {
    reset_browser().await;
    let opened = Opened::new().await;
    let storage = opened.records.storage().expect("storage");
    let unread = [("x", "{"), ("y", r#"{"key":"y","later":true}"#)];
    let unread = unread.map(|(key, text)| (Store::Tasks, key.to_owned(), JsValue::from_str(text)));
    storage.put(&unread).await.expect("written");
    let known = [task("a", 10)];
    opened.records.write(&known).await.expect("written");
    assert_eq!(opened.records.read_all().await, Ok(known.to_vec()));
    let notices = untrack(|| opened.notices.list());
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0]
            .text
            .starts_with("2 stored tasks could not be read.")
    );
    let all = opened.records.write_all(known.iter());
    all.await.expect("written");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    assert_eq!(texts.len(), 3);
}

#[wasm_bindgen_test]
async fn writes_and_deletions_are_repeated_once_storage_is_open() {
    reset_browser().await;
    let known = [task("a", 10), task("b", 20)];
    store_tasks(&known).await;
    let opened = Opened::closed();
    let records = opened.records;
    assert_eq!(records.read_all().await, Err(StorageError::Closed));
    // A write without storage ends immediately.
    assert_eq!(records.write(&[task("c", 30)]).await, Ok(()));
    records.store_batch(&BatchKey("batch".into()), "{}".to_owned());
    let deleted = records.delete(vec![record_of(&known[0])]);
    assert_eq!(deleted.await, Err(StorageError::Closed));
    let all = records.write_all(known.iter());
    assert_eq!(all.await, Err(StorageError::Closed));
    assert!(
        opened.failures.borrow().is_empty(),
        "storage is not open yet, which is no failure"
    );

    records.open().await.expect("IndexedDB");
    // A record that could not be deleted yet counts as deleted.
    assert_eq!(records.read_all().await, Ok(vec![known[1].clone()]));
    assert_eq!(stored_tasks().await.len(), 2, "the record is still stored");
    let rest = [known[1].clone(), task("c", 30)];
    records.write_all(rest.iter()).await.expect("written");
    assert_eq!(stored_tasks().await, rest);
    let storage = records.storage().expect("storage");
    let batches = storage.all_texts(Store::Batches).await.expect("records");
    assert_eq!(batches, ["{}"]);
    // The record is deleted now. Another record with the same key, such as an imported one, is new.
    store_tasks(&known[..1]).await;
    assert_eq!(records.read_all().await.map(|all| all.len()), Ok(3));
}

#[wasm_bindgen_test]
async fn deleted_task_is_gone_at_once_and_can_be_written_again() {
    reset_browser().await;
    let opened = Opened::new().await;
    let records = opened.records;
    let known = [task("a", 10), task("b", 20)];
    records.write(&known).await.expect("written");
    let deleted = records.delete(vec![record_of(&known[0])]);
    assert_eq!(records.read_all().await, Ok(vec![known[1].clone()]));
    deleted.await.expect("deleted");
    assert_eq!(stored_tasks().await, known[1..]);
    records.write(&known[..1]).await.expect("written");
    assert_eq!(records.read_all().await, Ok(known.to_vec()));
}

#[wasm_bindgen_test]
async fn deleted_batch_is_not_written_again() {
    reset_browser().await;
    let opened = Opened::new().await;
    let records = opened.records;
    let (deleted, other) = (BatchKey("gone".into()), BatchKey("kept".into()));
    records.store_batch(&deleted, r#"{"n":1}"#.to_owned());
    records.store_batch(&other, r#"{"n":2}"#.to_owned());
    // This batch is from an earlier visit.
    records.remember_batch(&BatchKey("read".into()), r#"{"n":3}"#.to_owned());
    records.delete_batch(&deleted);
    records.write_all([].iter()).await.expect("written");
    let storage = records.storage().expect("storage");
    let batches = storage.all_texts(Store::Batches).await.expect("records");
    assert_eq!(batches, [r#"{"n":2}"#, r#"{"n":3}"#]);
}

/// The user clears the site's data.
#[wasm_bindgen_test]
async fn deleted_storage_is_reported_once_and_can_be_opened_again() {
    reset_browser().await;
    let opened = Opened::new().await;
    let records = opened.records;
    records.write(&[task("a", 10)]).await.expect("written");
    delete_database().await;
    until("the end of the connection", || records.storage().is_none()).await;
    assert_eq!(*opened.failures.borrow(), [StorageError::Closed]);
    assert_eq!(records.read_all().await, Err(StorageError::Closed));
    records.open().await.expect("IndexedDB");
    assert_eq!(records.read_all().await, Ok(Vec::new()));
    assert_eq!(opened.failures.borrow().len(), 1);
}

/// A newer version may use a format that this version does not know.
#[wasm_bindgen_test]
async fn storage_of_a_newer_version_is_not_opened() {
    reset_browser().await;
    let factory = idb::Factory::new().expect("IndexedDB");
    let newer = factory.open("atelier", Some(1_000)).expect("a request");
    let newer = Rc::new(newer.await.expect("a newer version's database"));
    let database = newer.clone();
    close_before_next_test(move || database.close());
    let opened = Opened::closed();
    assert_eq!(opened.records.open().await, Err(StorageError::Newer));
    assert!(opened.records.storage().is_none());
    newer.close();
    delete_database().await;
    assert_eq!(opened.records.open().await, Ok(()));
}
