//! Notes which items of a batch were seen as tasks since its page was left in the midst of sending it. A person may
//! have removed them by the time that the table is looked at again, but they were sent all the same.

use std::collections::{BTreeMap, HashSet};

use atelier_engine::BatchKey;
use gloo_timers::future::TimeoutFuture;

use crate::browser::local::LocalStore;
use crate::reactive::boxed::spawn;
use crate::reactive::until::until;
use crate::runner::Runner;

/// By then the tab that leads has stored what it has heard from a page that is gone.
pub(super) const SETTLED_AFTER_MS: u32 = 1_000;

const PLACE: &str = "atelier.sending";

/// The batches that are under way, or were when their page was left.
type Noted = BTreeMap<BatchKey, HashSet<usize>>;

fn read() -> Noted {
    let text = LocalStore::Browser.read(PLACE);
    let noted = text.and_then(|text| serde_json::from_str(&text).ok());
    noted.unwrap_or_default()
}

fn change(change: impl FnOnce(&mut Noted)) {
    let mut noted = read();
    change(&mut noted);
    match serde_json::to_string(&noted) {
        // If storage refuses, the stored tasks have to tell it when the table is read.
        Ok(text) if !noted.is_empty() => drop(LocalStore::Browser.write(PLACE, &text)),
        _ => LocalStore::Browser.remove(PLACE),
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

/// Sees which tasks there are of batches that pages before have left, before a person can remove some.
pub fn note_what_was_left(runner: Runner) {
    if read().is_empty() {
        return;
    }
    spawn(async move {
        until(move || runner.is_open().then_some(())).await;
        TimeoutFuture::new(SETTLED_AFTER_MS).await;
        change(|noted| {
            for (batch, items) in noted {
                items.extend(runner.items_known(batch));
            }
        });
    });
}
