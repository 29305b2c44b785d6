//! Remembers which items of an interrupted submission became tasks. The user may remove these tasks before the table is
//! shown again, but their rows were sent and must not be sent twice.

use std::collections::{BTreeMap, HashSet};

use atelier_engine::BatchKey;
use gloo_timers::future::TimeoutFuture;

use crate::browser::local::LocalStore;
use crate::reactive::boxed::spawn;
use crate::reactive::until::until;
use crate::runner::Runner;

/// How long to wait until the leading tab has stored the tasks that it received from a closed page, in milliseconds.
pub(super) const SETTLED_AFTER_MS: u32 = 1_000;

const KEY: &str = "atelier.sending";

/// The batches whose submission is in progress or was interrupted, with the items that became tasks.
type Noted = BTreeMap<BatchKey, HashSet<usize>>;

fn read() -> Noted {
    let text = LocalStore::Browser.read(KEY);
    let noted = text.and_then(|text| serde_json::from_str(&text).ok());
    noted.unwrap_or_default()
}

fn change(change: impl FnOnce(&mut Noted)) {
    let mut noted = read();
    change(&mut noted);
    match serde_json::to_string(&noted) {
        // If the browser refuses to store this, the stored tasks are the only evidence of which rows were sent.
        Ok(text) if !noted.is_empty() => drop(LocalStore::Browser.write(KEY, &text)),
        _ => LocalStore::Browser.remove(KEY),
    }
}

pub(super) fn begin(batch: &BatchKey) {
    change(|noted| drop(noted.insert(batch.clone(), HashSet::new())));
}

pub(super) fn end(batch: &BatchKey) {
    change(|noted| drop(noted.remove(batch)));
}

pub(super) fn batches() -> Vec<BatchKey> {
    read().into_keys().collect()
}

pub(super) fn items(batch: &BatchKey) -> HashSet<usize> {
    read().remove(batch).unwrap_or_default()
}

/// Records the tasks of interrupted submissions, before the user can remove some.
pub fn note_interrupted(runner: Runner) {
    if read().is_empty() {
        return;
    }
    spawn(async move {
        until(move || runner.is_open().then_some(())).await;
        TimeoutFuture::new(SETTLED_AFTER_MS).await;
        change(|noted| {
            for (batch, items) in noted {
                items.extend(runner.known_items(batch));
            }
        });
    });
}
