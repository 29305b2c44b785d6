//! Helpers for the tests of the runner's parts.
//!
//! The test page simulates several tabs. Each of them has its own channel, request for leadership and connection to storage,
//! by which the browser distinguishes tabs.

use std::cell::RefCell;

use atelier_contract::json;
use atelier_engine::{Millis, Task};
use gloo_timers::future::TimeoutFuture;
use idb::Factory;
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;

use super::Runner;
use super::parts::Parts;
use crate::browser::clock;
use crate::browser::storage::{Storage, Store};
use crate::reactive::boxed::effect;
use crate::state::notices::Notices;
use crate::state::session::{Session, Settings};
use crate::testing::mount_nothing;

/// The name of the database of tasks.
pub const DATABASE: &str = "atelier";

thread_local! {
    /// One session for all tests, because its event listeners last as long as the page.
    static SESSION: (Owner, Session) = {
        mount_nothing();
        let owner = Owner::new();
        let session = owner.with(Session::start);
        (owner, session)
    };
    /// Closes the tabs and databases of the last test. A test that fails leaves them open.
    static OPENED: RefCell<Vec<Close>> = const { RefCell::new(Vec::new()) };
}

type Close = Box<dyn FnOnce()>;

/// Registers a function that closes something before the next test.
pub fn close_before_next_test(close: impl FnOnce() + 'static) {
    OPENED.with_borrow_mut(|opened| opened.push(Box::new(close)));
}

/// Creates an owner that is cleaned up before the next test, if not earlier.
pub fn owner() -> Owner {
    let owner = Owner::new();
    let created = owner.clone();
    close_before_next_test(move || created.cleanup());
    owner
}

pub fn session() -> Session {
    SESSION.with(|(_, session)| *session)
}

/// Closes what the last test has left open, clears all storage, and signs out.
pub async fn reset_browser() {
    for close in OPENED.take() {
        close();
    }
    let storage = window().local_storage().ok().flatten();
    let storage = storage.expect("localStorage");
    storage.clear().expect("localStorage that can be cleared");
    session().save(Settings::default(), String::new(), true);
    delete_database().await;
}

/// Deletes the database. The pages that have it open are notified, and close it.
pub async fn delete_database() {
    let factory = Factory::new().expect("IndexedDB");
    let deleted = factory.delete(DATABASE).expect("a request");
    deleted.await.expect("a deleted database");
}

/// Returns a queued task of an account that is not signed in, so that it is not sent.
pub fn task(key: &str, created: Millis) -> Task {
    task_in(key, created, json!({"state": "queued"}))
}

/// Returns such a task in its final state, with outputs.
pub fn ready(key: &str, created: Millis, outputs: &[&str]) -> Task {
    let state = json!({"state": "ready", "id": format!("id of {key}"), "outputs": outputs});
    task_in(key, created, state)
}

/// Returns such a task while it runs.
pub fn running(key: &str, created: Millis) -> Task {
    let state = json!({"state": "running", "id": format!("id of {key}"), "word": "processing"});
    task_in(key, created, state)
}

/// Returns such a task after it has failed.
pub fn failed(key: &str, created: Millis) -> Task {
    let state = json!({"state": "failed", "id": null, "message": "no"});
    task_in(key, created, state)
}

fn task_in(key: &str, created: Millis, state: Value) -> Task {
    let model = json!({"category": "image", "subcategory": "strata"});
    let record = json!({
        "key": key,
        "account": {"address": "https://elsewhere.example", "uid": "somebody"},
        "model": model,
        "model_name": "Strata",
        "input": {"model": model, "values": {"prompt": key}},
        "created": created,
        "state": state,
        "watching": true,
    });
    Task::from_value(record).expect("a task")
}

/// Writes the records of tasks to storage, without notifying any tab.
pub async fn store_tasks(tasks: &[Task]) {
    let texts = tasks.iter().map(|task| task.to_value().to_string());
    let records = tasks.iter().zip(texts).map(|(task, text)| {
        let text = JsValue::from_str(&text);
        (Store::Tasks, task.key.0.clone(), text)
    });
    let records: Vec<_> = records.collect();
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    storage.put(&records).await.expect("written");
}

/// Returns all stored tasks, ordered by key.
pub async fn stored_tasks() -> Vec<Task> {
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    let tasks = texts.iter().map(|text| {
        let value = json::read(text).expect("JSON");
        Task::from_value(value).expect("a task")
    });
    tasks.collect()
}

/// Waits until exactly these tasks are stored.
pub async fn until_stored(wanted: &[Task]) {
    let start = clock::now();
    let mut found = stored_tasks().await;
    while found != wanted {
        assert!(clock::now() - start < 60_000, "timeout; stored: {found:?}");
        pause().await;
        found = stored_tasks().await;
    }
}

/// Waits up to a minute for a condition. The page itself may take ten seconds to find out whether a service supports
/// idempotency keys.
pub async fn until(what: &str, is_met: impl Fn() -> bool) {
    let start = clock::now();
    while !is_met() {
        assert!(
            clock::now() - start < 60_000,
            "timeout while waiting for {what}"
        );
        pause().await;
    }
}

/// Waits long enough for messages to be delivered.
pub async fn pause() {
    TimeoutFuture::new(10).await;
}

/// A tab, closed when it is dropped.
pub struct Tab {
    owner: Owner,
    pub runner: Runner,
}

impl Tab {
    /// Opens a tab, and waits until it has read the stored tasks.
    pub async fn open() -> Self {
        let tab = Self::begin();
        until("the stored tasks", || tab.runner.is_open.get_untracked()).await;
        tab
    }

    /// Opens a tab, and waits until it is the leader.
    pub async fn open_leading() -> Self {
        let tab = Self::open().await;
        tab.until_leader().await;
        tab
    }

    /// Opens a tab without waiting for storage.
    pub fn begin() -> Self {
        let session = session();
        let owner = owner();
        let runner = owner.with(|| {
            let runner = Runner::new(session, Notices::new());
            runner.begin();
            runner
        });
        Self { owner, runner }
    }

    pub fn parts(&self) -> Parts {
        self.runner.parts()
    }

    /// Records each value that a view would show.
    pub fn follow<T: Send + Sync + 'static>(
        &self,
        read: impl Fn() -> T + 'static,
    ) -> StoredValue<Vec<T>> {
        self.owner.with(|| {
            let seen = StoredValue::new(Vec::new());
            effect(move || {
                let found = read();
                seen.update_value(|seen| seen.push(found));
            });
            seen
        })
    }

    /// Waits until this tab is the leader.
    pub async fn until_leader(&self) {
        until("the right to lead", || self.parts().tabs.leads()).await;
    }

    /// Returns the listed keys, in order.
    pub fn keys(&self) -> Vec<String> {
        let keys = untrack(|| self.runner.keys());
        keys.iter().map(|key| key.0.clone()).collect()
    }

    /// Waits until the tab lists exactly these tasks.
    pub async fn until_listed(&self, keys: &[&str]) {
        until(&format!("{keys:?} to be listed"), || self.keys() == keys).await;
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.owner.cleanup();
    }
}
