//! Until when services want no calls, for the page that makes calls next.
//!
//! In `localStorage`, because that is written by the time the call returns: a page may be left the
//! moment after it was told, and a record in IndexedDB would not be written then.

use atelier_contract::json::{self, Record};
use atelier_engine::Millis;
use serde_json::{Map, Value};

use crate::browser::clock;
use crate::browser::local::LocalStore;

/// Until when, by the services' addresses.
const WAITS: &str = "atelier.waits";

/// Since when. By itself, because earlier versions read the other one.
const SINCE: &str = "atelier.waits.since";

pub(super) struct Wait {
    pub address: String,
    pub until: Millis,
    /// When the service said so. An earlier version has not kept it.
    pub since: Option<Millis>,
}

/// Waits that are not over.
pub(super) fn kept() -> Vec<Wait> {
    let now = clock::now();
    let mut since = read(SINCE);
    let waits = read(WAITS).into_iter().filter_map(|(address, until)| {
        let since = since.remove(&address).and_then(json::number);
        Some(Wait {
            until: json::number(until)?,
            since,
            address,
        })
    });
    waits.filter(|wait| wait.until > now).collect()
}

pub(super) fn keep(address: String, until: Millis, since: Millis) {
    let (mut all, mut all_since) = (Record::new(), Record::new());
    let mut waits = kept();
    waits.retain(|wait| wait.address != address);
    waits.push(Wait {
        address,
        until,
        since: Some(since),
    });
    for wait in waits {
        all.put(&wait.address, wait.until.into());
        all_since.put_some(&wait.address, wait.since.map(Into::into));
    }
    // Refused, it is still in the record of the task that was told.
    LocalStore::Browser.write(SINCE, &all_since.into_value().to_string());
    LocalStore::Browser.write(WAITS, &all.into_value().to_string());
}

fn read(key: &str) -> Map<String, Value> {
    let kept = LocalStore::Browser.read(key);
    let record = kept.and_then(|text| Record::read(json::read(&text)?));
    record.unwrap_or_default().rest()
}
