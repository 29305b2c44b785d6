//! Stores the rate limits of services, for the next page that makes calls.
//!
//! Uses `localStorage`, because its writes are synchronous. A page may be closed right after it received a limit, and a
//! record in IndexedDB would not be written then.

use atelier_contract::json::{self, Record};
use atelier_engine::RateLimit;
use serde_json::{Map, Value};

use crate::browser::clock;
use crate::browser::local::LocalStore;

/// The key of the times at which the limits end, by the address of the service.
const WAITS: &str = "atelier.waits";

/// The key of the times at which the limits began. They are not stored under [`WAITS`], because earlier versions read it.
const SINCE: &str = "atelier.waits.since";

/// Returns the stored limits that have not ended.
pub(super) fn stored_limits() -> Vec<RateLimit> {
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

/// Stores a limit. It replaces an earlier limit of the same service.
pub(super) fn store_limit(limit: RateLimit) {
    let (mut all, mut all_since) = (Record::new(), Record::new());
    let mut limits = stored_limits();
    limits.retain(|other| other.address != limit.address);
    limits.push(limit);
    for limit in limits {
        all.put(&limit.address, limit.until.into());
        all_since.put_some(&limit.address, limit.since.map(Into::into));
    }
    // If storage refuses, the record of the refused task still contains the limit.
    LocalStore::Browser.write(SINCE, &all_since.into_value().to_string());
    LocalStore::Browser.write(WAITS, &all.into_value().to_string());
}

fn read(key: &str) -> Map<String, Value> {
    let stored = LocalStore::Browser.read(key);
    let record = stored.and_then(|text| Record::read(json::read(&text)?));
    record.unwrap_or_default().rest()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use atelier_engine::Millis;

    /// A time in the distant future.
    const LATE: Millis = 99_000_000_000_000;

    fn store(waits: &str, since: &str) {
        assert!(LocalStore::Browser.write("atelier.waits", waits));
        assert!(LocalStore::Browser.write("atelier.waits.since", since));
    }

    fn stored() -> [Option<String>; 2] {
        ["atelier.waits", "atelier.waits.since"].map(|name| LocalStore::Browser.read(name))
    }

    fn found() -> Vec<(String, Millis, Option<Millis>)> {
        let found = stored_limits().into_iter();
        let mut found: Vec<_> = found.map(|it| (it.address, it.until, it.since)).collect();
        found.sort();
        found
    }

    #[wasm_bindgen_test]
    fn stored_limits_are_read_and_written_in_the_same_format() {
        store(
            r#"{"https://s.example":99000000000000,"https://over.example":5,"":99000000000000}"#,
            r#"{"https://s.example":1700000000000,"https://over.example":4}"#,
        );
        let known = (
            "https://s.example".to_owned(),
            LATE,
            Some(1_700_000_000_000),
        );
        // An earlier version stored the page's own service under an empty address, without a beginning.
        assert_eq!(found(), [(String::new(), LATE, None), known]);
        store_limit(RateLimit {
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
    fn limits_in_unknown_formats_are_ignored() {
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
