use std::cell::RefCell;

use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{
    closing, delete_database, owner, put, ready, start_afresh, stored, task, until,
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
async fn what_is_written_is_read_again() {
    start_afresh().await;
    let opened = Opened::new().await;
    let tasks = [task("a", 10), ready("b", 20, &["https://x/1"])];
    opened.records.write(&tasks).await.expect("written");
    assert_eq!(opened.records.read_all().await, Ok(tasks.to_vec()));
    assert!(untrack(|| opened.notices.list()).is_empty());
}

/// Of a newer version, or damaged: it may still be of use.
#[wasm_bindgen_test]
async fn what_cannot_be_read_is_left_as_it_is_and_a_person_is_told() {
    start_afresh().await;
    let opened = Opened::new().await;
    let storage = opened.records.storage().expect("storage");
    let unread = [("x", "{"), ("y", r#"{"key":"y","later":true}"#)];
    let unread = unread.map(|(key, text)| (Store::Tasks, key.to_owned(), JsValue::from_str(text)));
    storage.put(&unread).await.expect("written");
    let known = [task("a", 10)];
    opened.records.write(&known).await.expect("written");
    assert_eq!(opened.records.read_all().await, Ok(known.to_vec()));
    let said = untrack(|| opened.notices.list());
    assert_eq!(said.len(), 1);
    assert!(
        said[0]
            .text
            .starts_with("2 stored tasks could not be read.")
    );
    let all = opened.records.write_all(known.iter());
    all.await.expect("written");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    assert_eq!(texts.len(), 3);
}

#[wasm_bindgen_test]
async fn while_storage_is_not_open_nothing_is_read_or_deleted_and_all_is_written_later() {
    start_afresh().await;
    let known = [task("a", 10), task("b", 20)];
    put(&known).await;
    let opened = Opened::closed();
    let records = opened.records;
    assert_eq!(records.read_all().await, Err(StorageError::Closed));
    // The write that waits for storage holds nothing up.
    assert_eq!(records.write(&[task("c", 30)]).await, Ok(()));
    records.store_batch(&BatchKey("batch".into()), "{}".to_owned());
    let deleted = records.delete(vec![record_of(&known[0])]);
    assert_eq!(deleted.await, Err(StorageError::Closed));
    let all = records.write_all(known.iter());
    assert_eq!(all.await, Err(StorageError::Closed));
    assert!(opened.failures.borrow().is_empty(), "it is not open yet");

    records.open().await.expect("IndexedDB");
    // What was to be deleted is taken for deleted.
    assert_eq!(records.read_all().await, Ok(vec![known[1].clone()]));
    assert_eq!(stored().await.len(), 2, "and is still there");
    let rest = [known[1].clone(), task("c", 30)];
    records.write_all(rest.iter()).await.expect("written");
    assert_eq!(stored().await, rest);
    let storage = records.storage().expect("storage");
    let batches = storage.all_texts(Store::Batches).await.expect("records");
    assert_eq!(batches, ["{}"]);
    // It is deleted by now: what comes under its name, say with another browser's history, is new.
    put(&known[..1]).await;
    assert_eq!(records.read_all().await.map(|all| all.len()), Ok(3));
}

#[wasm_bindgen_test]
async fn what_is_deleted_is_gone_at_once_and_may_come_again() {
    start_afresh().await;
    let opened = Opened::new().await;
    let records = opened.records;
    let known = [task("a", 10), task("b", 20)];
    records.write(&known).await.expect("written");
    let deleted = records.delete(vec![record_of(&known[0])]);
    assert_eq!(records.read_all().await, Ok(vec![known[1].clone()]));
    deleted.await.expect("deleted");
    assert_eq!(stored().await, known[1..]);
    records.write(&known[..1]).await.expect("written");
    assert_eq!(records.read_all().await, Ok(known.to_vec()));
}

#[wasm_bindgen_test]
async fn a_batch_that_was_deleted_is_not_written_again() {
    start_afresh().await;
    let opened = Opened::new().await;
    let records = opened.records;
    let (gone, kept) = (BatchKey("gone".into()), BatchKey("kept".into()));
    records.store_batch(&gone, r#"{"n":1}"#.to_owned());
    records.store_batch(&kept, r#"{"n":2}"#.to_owned());
    // The task is from an earlier visit.
    records.know_batch(&BatchKey("read".into()), r#"{"n":3}"#.to_owned());
    records.delete_batch(&gone);
    records.write_all([].iter()).await.expect("written");
    let storage = records.storage().expect("storage");
    let batches = storage.all_texts(Store::Batches).await.expect("records");
    assert_eq!(batches, [r#"{"n":2}"#, r#"{"n":3}"#]);
}

/// A person clears the site's data.
#[wasm_bindgen_test]
async fn a_storage_that_is_taken_away_is_said_once_and_can_be_opened_again() {
    start_afresh().await;
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

/// Another one reads and writes what this one cannot know.
#[wasm_bindgen_test]
async fn the_storage_of_a_newer_version_is_not_opened() {
    start_afresh().await;
    let factory = idb::Factory::new().expect("IndexedDB");
    let newer = factory.open("atelier", Some(1_000)).expect("a request");
    let newer = Rc::new(newer.await.expect("a newer version's database"));
    let left = newer.clone();
    closing(move || left.close());
    let opened = Opened::closed();
    assert_eq!(opened.records.open().await, Err(StorageError::Newer));
    assert!(opened.records.storage().is_none());
    newer.close();
    delete_database().await;
    assert_eq!(opened.records.open().await, Ok(()));
}
