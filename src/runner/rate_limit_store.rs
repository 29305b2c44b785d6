//! Until when services want no calls, for the page that makes calls next.
//!
//! In `localStorage`, because that is written by the time the call returns: a page may be left the
//! moment after it was told, and a record in IndexedDB would not be written then.

use atelier_contract::json::{self, Record};
use atelier_engine::RateLimit;
use serde_json::{Map, Value};

use crate::browser::clock;
use crate::browser::local::LocalStore;

/// Until when, by the services' addresses.
const WAITS: &str = "atelier.waits";

/// Since when. By itself, because earlier versions read the other one.
const SINCE: &str = "atelier.waits.since";

/// Gives the kept limits that are not over.
pub(super) fn kept() -> Vec<RateLimit> {
    let now = clock::now();
    let mut since = read(SINCE);
    let limits = read(WAITS).into_iter().filter_map(|(address, until)| {
        let since = since.remove(&address).and_then(json::number);
        Some(RateLimit {
            until: json::number(until)?,
            since,
            address,
        })
    });
    limits.filter(|limit| limit.until > now).collect()
}

pub(super) fn keep(limit: RateLimit) {
    let (mut all, mut all_since) = (Record::new(), Record::new());
    let mut limits = kept();
    limits.retain(|other| other.address != limit.address);
    limits.push(limit);
    for limit in limits {
        all.put(&limit.address, limit.until.into());
        all_since.put_some(&limit.address, limit.since.map(Into::into));
    }
    // If storage refuses, the record of the task that was refused still has it.
    LocalStore::Browser.write(SINCE, &all_since.into_value().to_string());
    LocalStore::Browser.write(WAITS, &all.into_value().to_string());
}

fn read(key: &str) -> Map<String, Value> {
    let kept = LocalStore::Browser.read(key);
    let record = kept.and_then(|text| Record::read(json::read(&text)?));
    record.unwrap_or_default().rest()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use atelier_engine::Millis;

    /// A point in time that no test lives to see.
    const LATE: Millis = 99_000_000_000_000;

    fn store(waits: &str, since: &str) {
        assert!(LocalStore::Browser.write("atelier.waits", waits));
        assert!(LocalStore::Browser.write("atelier.waits.since", since));
    }

    fn stored() -> [Option<String>; 2] {
        ["atelier.waits", "atelier.waits.since"].map(|name| LocalStore::Browser.read(name))
    }

    fn found() -> Vec<(String, Millis, Option<Millis>)> {
        let found = kept().into_iter();
        let mut found: Vec<_> = found.map(|it| (it.address, it.until, it.since)).collect();
        found.sort();
        found
    }

    #[wasm_bindgen_test]
    fn stored_waits_are_read_and_written_as_they_were() {
        store(
            r#"{"https://s.example":99000000000000,"https://over.example":5,"":99000000000000}"#,
            r#"{"https://s.example":1700000000000,"https://over.example":4}"#,
        );
        let known = (
            "https://s.example".to_owned(),
            LATE,
            Some(1_700_000_000_000),
        );
        // An earlier version stored the page's own service like this, without the time since when.
        assert_eq!(found(), [(String::new(), LATE, None), known]);
        keep(RateLimit {
            address: "https://s.example".into(),
            until: LATE + 1,
            since: Some(8),
        });
        assert_eq!(
            stored().map(Option::unwrap_or_default),
            [
                r#"{"":99000000000000,"https://s.example":99000000000001}"#,
                r#"{"https://s.example":8}"#
            ]
        );
        store("{}", "{}");
    }

    #[wasm_bindgen_test]
    fn what_a_newer_version_keeps_in_another_way_is_no_wait() {
        for odd in [
            "",
            "{",
            "[]",
            "null",
            "7",
            r#"{"https://s.example":{"until":1}}"#,
        ] {
            store(odd, odd);
            assert_eq!(found(), [], "{odd}");
            store(r#"{"https://s.example":99000000000000}"#, odd);
            let wait = ("https://s.example".to_owned(), LATE, None);
            assert_eq!(found(), [wait], "{odd}");
        }
        store("{}", "{}");
    }
}
