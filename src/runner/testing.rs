//! Shared by the tests of the runner's parts.
//!
//! To a browser a tab is what has a channel, a claim to lead and a connection to storage of its own: this
//! one page has several of them.

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
    /// One for all tests: what follows the page's events lives as long as the page.
    static SESSION: (Owner, Session) = {
        mount_nothing();
        let owner = Owner::new();
        let session = owner.with(Session::start);
        (owner, session)
    };
    /// The tabs that tests have opened. A test that fails leaves its tabs open.
    static OPENED: RefCell<Vec<Close>> = const { RefCell::new(Vec::new()) };
}

type Close = Box<dyn FnOnce()>;

/// Closes something before the next test.
pub fn closing(close: impl FnOnce() + 'static) {
    OPENED.with_borrow_mut(|opened| opened.push(Box::new(close)));
}

/// An owner that is cleaned up before the next test, if it is not before.
pub fn owner() -> Owner {
    let owner = Owner::new();
    let left = owner.clone();
    closing(move || left.cleanup());
    owner
}

pub fn session() -> Session {
    SESSION.with(|(_, session)| *session)
}

/// Nothing is stored, and no account is signed in.
pub async fn start_afresh() {
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
    deleted.await.expect("no such database any more");
}

/// A task of an account that is not signed in here: nothing of it is sent.
pub fn task(key: &str, created: Millis) -> Task {
    task_in(key, created, json!({"state": "queued"}))
}

/// The same at its end.
pub fn ready(key: &str, created: Millis, outputs: &[&str]) -> Task {
    let state = json!({"state": "ready", "id": format!("id of {key}"), "outputs": outputs});
    task_in(key, created, state)
}

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

/// Puts records into storage, without a word to any tab.
pub async fn put(tasks: &[Task]) {
    let texts = tasks.iter().map(|task| task.to_value().to_string());
    let records = tasks.iter().zip(texts).map(|(task, text)| {
        let text = JsValue::from_str(&text);
        (Store::Tasks, task.key.0.clone(), text)
    });
    let records: Vec<_> = records.collect();
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    storage.put(&records).await.expect("written");
}

/// Gives all stored tasks, by their keys.
pub async fn stored() -> Vec<Task> {
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    let tasks = texts.iter().map(|text| {
        let value = json::read(text).expect("JSON");
        Task::from_value(value).expect("a task")
    });
    tasks.collect()
}

/// Waits until these are stored, and no others.
pub async fn until_stored(wanted: &[Task]) {
    let begun = clock::now();
    let mut found = stored().await;
    while found != wanted {
        assert!(clock::now() - begun < 60_000, "in vain: {found:?}");
        pause().await;
        found = stored().await;
    }
}

/// Waits up to a minute for something that others do. The page itself waits up to ten seconds to learn whether a
/// service knows keys.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = clock::now();
    while !is_so() {
        assert!(clock::now() - begun < 60_000, "waited in vain for {what}");
        pause().await;
    }
}

/// Waits long enough for messages to be heard.
pub async fn pause() {
    TimeoutFuture::new(10).await;
}

/// A tab, closed when it is dropped.
pub struct Tab {
    owner: Owner,
    pub runner: Runner,
}

impl Tab {
    /// Opens a tab that has read what is stored.
    pub async fn open() -> Self {
        let tab = Self::begin();
        until("what is stored", || tab.runner.is_open.get_untracked()).await;
        tab
    }

    /// The same, and it is the one that leads.
    pub async fn open_leading() -> Self {
        let tab = Self::open().await;
        tab.leads().await;
        tab
    }

    /// Opens a tab, and does not wait for storage.
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

    /// Notes each value that a person would be shown.
    pub fn follow<T: Send + Sync + 'static>(
        &self,
        look: impl Fn() -> T + 'static,
    ) -> StoredValue<Vec<T>> {
        self.owner.with(|| {
            let seen = StoredValue::new(Vec::new());
            effect(move || {
                let found = look();
                seen.update_value(|seen| seen.push(found));
            });
            seen
        })
    }

    /// Waits until it leads.
    pub async fn leads(&self) {
        until("the right to lead", || self.parts().tabs.leads()).await;
    }

    /// The keys that are listed, in their order.
    pub fn keys(&self) -> Vec<String> {
        let keys = untrack(|| self.runner.keys());
        keys.iter().map(|key| key.0.clone()).collect()
    }

    /// Waits until it lists these.
    pub async fn lists(&self, keys: &[&str]) {
        until(&format!("{keys:?} to be listed"), || self.keys() == keys).await;
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.owner.cleanup();
    }
}
