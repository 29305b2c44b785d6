//! Until when services want no calls, for the page that makes calls next.
//!
//! In `localStorage`, because that is written by the time the call returns: a page may be left the
//! moment after it was told, and a record in IndexedDB would not be written then.

use atelier_contract::json::{self, Record};
use atelier_engine::Millis;
use serde_json::{Map, Value};

use crate::browser::clock;
use crate::browser::local::Place;

const WAITS: &str = "atelier.waits";

/// Waits that are not over, by the services' addresses.
pub(super) fn kept() -> Vec<(String, Millis)> {
    let now = clock::now();
    let waits = read().into_iter();
    let waits = waits.filter_map(|(address, until)| Some((address, json::number(until)?)));
    waits.filter(|(_, until)| *until > now).collect()
}

pub(super) fn keep(address: &str, until: Millis) {
    let mut record = Record::new();
    for (address, until) in kept() {
        record.put(&address, until.into());
    }
    record.put(address, until.into());
    // Refused, it is still in the record of the task that was told.
    Place::Browser.write(WAITS, &record.into_value().to_string());
}

fn read() -> Map<String, Value> {
    let kept = Place::Browser.read(WAITS);
    let record = kept.and_then(|text| Record::read(json::read(&text)?));
    record.unwrap_or_default().rest()
}
