//! IndexedDB: the tables in which batches are composed, each under its model.
//!
//! They have a database of their own: an older Atelier in another tab, which has that of the tasks
//! open, holds up nothing here, and nothing here holds it up.

use std::cell::RefCell;
use std::rc::Rc;

use atelier_engine::Millis;
use atelier_engine::compose::revision::{News, Stored, Verdict, Wanted};
use futures::future::{Either, FutureExt, select};
use gloo_events::EventListener;
use gloo_timers::future::TimeoutFuture;
use idb::{
    Database, DatabaseEvent, Error, Factory, ObjectStoreParams, Query, Transaction,
    TransactionMode, TransactionResult,
};
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BroadcastChannel, MessageEvent};

use crate::erased::spawn;

const NAME: &str = "atelier-drafts";
const VERSION: u32 = 1;
const STORE: &str = "tables";
const CHANNEL: &str = "atelier-tables";

/// Storage that says nothing for this long is taken for one that never will.
const PATIENCE_MS: u32 = 3_000;
/// How often an opening is looked at.
const LOOK_MS: u32 = 10;

/// Why nothing can be kept or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Refused,
    Full,
    Silent,
}

impl Refusal {
    pub fn words(self) -> &'static str {
        match self {
            Self::Refused => "this browser refuses to store anything",
            Self::Full => "this browser's storage is full",
            Self::Silent => "this browser's storage does not answer",
        }
    }
}

impl From<Error> for Refusal {
    /// The browsers' own words differ and tell a person nothing; what matters is that it refused.
    fn from(_: Error) -> Self {
        Self::Refused
    }
}

/// A table as it is stored.
#[derive(Debug, Clone)]
pub struct Record {
    pub stored: Stored,
    /// JSON of an engine table.
    pub text: String,
}

/// What was found and done.
#[derive(Debug)]
pub struct Exchanged {
    /// What was read; after writing, what gave way to it without having been seen, or, if nothing
    /// was written, what is later.
    pub there: Option<Record>,
    /// As which revision the table was written, if it was.
    pub revision: Option<u64>,
}

#[derive(Clone)]
enum Connection {
    Closed,
    Opening,
    Open(Rc<Database>),
    Refused,
}

thread_local! {
    /// The one connection of this page. An opening that is not answered goes on: another one would
    /// only queue behind it.
    static CONNECTION: RefCell<Connection> = const { RefCell::new(Connection::Closed) };
}

/// Reads a table, or writes it unless another tab has written a later one since.
pub async fn exchange(model: &str, coming: Option<(Wanted, String)>) -> Result<Exchanged, Refusal> {
    let transaction = begin(coming.is_some()).await?;
    let work = transact(transaction, model.to_owned(), coming).boxed_local();
    match select(work, TimeoutFuture::new(PATIENCE_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right((_, work)) => {
            // It goes on, and may yet be done.
            spawn(async move {
                let _ = work.await;
            });
            Err(Refusal::Silent)
        }
    }
}

async fn transact(
    transaction: Transaction,
    model: String,
    coming: Option<(Wanted, String)>,
) -> Result<Exchanged, Refusal> {
    let there = record(&transaction, &model).await?;
    let Some((wanted, text)) = coming else {
        return Ok(Exchanged {
            there,
            revision: None,
        });
    };
    let (revision, there) = match wanted.beside(there.as_ref().map(|there| &there.stored)) {
        Verdict::Store { revision } => (Some(revision), None),
        Verdict::Replace { revision } => (Some(revision), there),
        Verdict::GiveWay => (None, there),
    };
    if let Some(revision) = revision {
        put(&transaction, &model, revision, &wanted, &text)?;
        // The browser aborts a transaction when the disk or the quota is full.
        if transaction.await? == TransactionResult::Aborted {
            return Err(Refusal::Full);
        }
    }
    Ok(Exchanged { there, revision })
}

/// Writes a table while the page is being closed: without a look at what is there, and without
/// waiting, since nothing that comes later would still be done. The revision that it got.
pub fn write_at_once(model: &str, wanted: &Wanted, text: &str) -> Option<u64> {
    let Connection::Open(database) = connection() else {
        return None;
    };
    let revision = wanted.base + 1;
    let transaction = database
        .transaction(&[STORE], TransactionMode::ReadWrite)
        .ok()?;
    put(&transaction, model, revision, wanted, text).ok()?;
    transaction.commit().ok()?;
    Some(revision)
}

/// As long as it lives, calls back with what other tabs say; without BroadcastChannel each tab is on
/// its own.
pub struct Channel {
    channel: Option<BroadcastChannel>,
    _listener: Option<EventListener>,
}

impl Channel {
    pub fn open(on_news: impl Fn(News) + 'static) -> Self {
        let channel = BroadcastChannel::new(CHANNEL).ok();
        let listener = channel.as_ref().map(|channel| {
            EventListener::new(channel, "message", move |event| {
                let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data);
                let text = data.and_then(|data| data.as_string());
                if let Some(news) = text.as_deref().and_then(News::read) {
                    on_news(news);
                }
            })
        });
        Self {
            channel,
            _listener: listener,
        }
    }

    pub fn tell(&self, news: &News) {
        if let Some(channel) = &self.channel {
            // It only fails on a closed channel, and this one is never closed.
            let _ = channel.post_message(&JsValue::from_str(&news.to_text()));
        }
    }
}

async fn begin(writes: bool) -> Result<Transaction, Refusal> {
    let mode = || match writes {
        true => TransactionMode::ReadWrite,
        false => TransactionMode::ReadOnly,
    };
    if let Ok(transaction) = database().await?.transaction(&[STORE], mode()) {
        return Ok(transaction);
    }
    // The browser has closed it, say because a person has cleared its data.
    set(Connection::Closed);
    Ok(database().await?.transaction(&[STORE], mode())?)
}

async fn database() -> Result<Rc<Database>, Refusal> {
    for _ in 0..PATIENCE_MS / LOOK_MS {
        match connection() {
            Connection::Open(database) => return Ok(database),
            Connection::Refused => {
                // The next one who needs it tries again.
                set(Connection::Closed);
                return Err(Refusal::Refused);
            }
            Connection::Closed => {
                set(Connection::Opening);
                spawn(async {
                    set(match open().await {
                        Ok(database) => Connection::Open(Rc::new(database)),
                        Err(_) => Connection::Refused,
                    });
                });
            }
            Connection::Opening => {}
        }
        TimeoutFuture::new(LOOK_MS).await;
    }
    Err(Refusal::Silent)
}

fn connection() -> Connection {
    CONNECTION.with_borrow(Clone::clone)
}

fn set(connection: Connection) {
    CONNECTION.replace(connection);
}

async fn open() -> Result<Database, Refusal> {
    let mut request = Factory::new()?.open(NAME, Some(VERSION))?;
    request.on_upgrade_needed(|event| {
        if let Ok(database) = event.database() {
            // It can only fail if the store exists, which is what is wanted.
            let _ = database.create_object_store(STORE, ObjectStoreParams::new());
        }
    });
    let mut database = request.await?;
    // A newer Atelier in another tab wants to upgrade, or a person to delete: give way.
    database.on_version_change(|event| {
        if let Ok(database) = event.database() {
            database.close();
        }
        set(Connection::Closed);
    });
    database.on_close(|_| set(Connection::Closed));
    Ok(database)
}

async fn record(transaction: &Transaction, model: &str) -> Result<Option<Record>, Refusal> {
    let key = Query::from(JsValue::from_str(model));
    let value = transaction.object_store(STORE)?.get(key)?.await?;
    Ok(value.and_then(|value| {
        let parts: Array = value.dyn_into().ok()?;
        Some(Record {
            stored: Stored {
                revision: parts.get(0).as_f64()? as u64,
                edited: parts.get(1).as_f64()? as Millis,
                writer: parts.get(2).as_string()?,
            },
            text: parts.get(3).as_string()?,
        })
    }))
}

fn put(
    transaction: &Transaction,
    model: &str,
    revision: u64,
    wanted: &Wanted,
    text: &str,
) -> Result<(), Refusal> {
    let parts = Array::of4(
        &JsValue::from_f64(revision as f64),
        &JsValue::from_f64(wanted.edited as f64),
        &JsValue::from_str(&wanted.writer),
        &JsValue::from_str(text),
    );
    let store = transaction.object_store(STORE)?;
    store.put(&parts, Some(&JsValue::from_str(model)))?;
    Ok(())
}
