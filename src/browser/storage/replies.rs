//! Caches the last replies of services about their models, byte for byte, by URL.
//!
//! A reply is stored with the time at which the service sent it, and as bytes, because some browsers store no blobs in private
//! windows. [`Store::ReplyFacts`] contains the time and the size of each reply, which decide which replies are evicted.

use atelier_engine::Millis;
use atelier_studio::connection::cached_replies::{CachedReply, MAX_BYTES, replies_to_evict};
use idb::{KeyRange, Query, Transaction, TransactionMode, TransactionResult};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::database::{Database, Store, in_time};
use super::error::StorageError;

/// The timeout of a read or deletion, in milliseconds.
const TIMEOUT_MS: u32 = 2_000;

/// A cached reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// When the service sent it, in ms since 1970.
    pub since: Millis,
    pub body: Vec<u8>,
}

/// Returns the cached reply for this URL.
pub async fn read(url: &str) -> Option<Reply> {
    let key = Query::from(JsValue::from_str(url));
    let found = async move {
        let transaction = begin(TransactionMode::ReadOnly).await?;
        let found = transaction
            .object_store(Store::Replies.name())?
            .get(key)?
            .await?;
        Ok::<_, StorageError>(found.and_then(|record| reply(&record)))
    };
    in_time(TIMEOUT_MS, found).await.ok().flatten()
}

/// Caches the reply for this URL, unless it is larger than [`MAX_BYTES`].
pub async fn write(url: &str, since: Millis, body: &Uint8Array) {
    if body.length() as usize > MAX_BYTES {
        return;
    }
    // A failure is harmless as long as the service is available.
    let _ = put(url, since, body).await;
}

async fn put(
    url: &str,
    since: Millis,
    body: &Uint8Array,
) -> Result<TransactionResult, StorageError> {
    let since = JsValue::from_f64(since as f64);
    let bytes = JsValue::from(body.length());
    let key = JsValue::from_str(url);
    let transaction = begin(TransactionMode::ReadWrite).await?;
    let replies = transaction.object_store(Store::Replies.name())?;
    let facts = transaction.object_store(Store::ReplyFacts.name())?;
    let record = Array::of2(&since, body);
    replies.put(&record, Some(&key))?;
    facts.put(&Array::of2(&since, &bytes), Some(&key))?;
    let keys = facts.get_all_keys(None, None)?.await?;
    let known = facts.get_all(None, None)?.await?;
    let cached = keys.into_iter().zip(known);
    let cached = cached.filter_map(|(key, fact)| {
        let fact: Array = fact.dyn_into().ok()?;
        Some(CachedReply {
            key: key.as_string()?,
            since: fact.get(0).as_f64()? as Millis,
            bytes: fact.get(1).as_f64()? as usize,
        })
    });
    for key in replies_to_evict(cached.collect(), url) {
        let key = JsValue::from_str(&key);
        replies.delete(Query::from(key.clone()))?;
        facts.delete(Query::from(key))?;
    }
    Ok(transaction.await?)
}

/// Deletes all cached replies.
pub async fn clear() {
    let cleared = async {
        let transaction = begin(TransactionMode::ReadWrite).await?;
        let all = || {
            let [from, to] = ["", "\u{ffff}"].map(JsValue::from_str);
            KeyRange::bound(&from, &to, None, Some(true))
        };
        transaction
            .object_store(Store::Replies.name())?
            .delete(all()?)?;
        transaction
            .object_store(Store::ReplyFacts.name())?
            .delete(all()?)?;
        Ok::<_, StorageError>(transaction.await?)
    };
    // If storage fails, the replies can't be read either.
    let _ = in_time(TIMEOUT_MS, cleared).await;
}

/// Parses a stored record. Returns `None` for the format of another version.
fn reply(record: &JsValue) -> Option<Reply> {
    let record: &Array = record.dyn_ref()?;
    let body: Uint8Array = record.get(1).dyn_into().ok()?;
    Some(Reply {
        since: record.get(0).as_f64()? as Millis,
        body: body.to_vec(),
    })
}

async fn begin(mode: TransactionMode) -> Result<Transaction, StorageError> {
    Database::Replies
        .begin(&[Store::Replies, Store::ReplyFacts], mode)
        .await
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn sent_at(since: Millis, text: &str) -> Reply {
        Reply {
            since,
            body: text.into(),
        }
    }

    fn bytes(text: &str) -> Uint8Array {
        Uint8Array::from(text.as_bytes())
    }

    async fn put_record(url: &str, record: &JsValue) {
        let transaction = begin(TransactionMode::ReadWrite).await.expect("begun");
        let store = transaction.object_store("replies").expect("a store");
        let request = store.put(record, Some(&JsValue::from_str(url)));
        request.expect("a request");
        transaction.await.expect("written");
    }

    #[wasm_bindgen_test]
    async fn replies_are_read_unchanged_and_replace_earlier_ones() {
        clear().await;
        let url = "https://s.example/api/models";
        assert_eq!(read(url).await, None);
        let record = Array::of2(&1_700_000_000_000.0.into(), &bytes(r#"{"data": []}"#));
        put_record(url, &record).await;
        let expected = sent_at(1_700_000_000_000, r#"{"data": []}"#);
        assert_eq!(read(url).await, Some(expected));
        let later = r#"{"data": [1.0, 18446744073709551615]}"#;
        write(url, 1_700_000_000_001, &bytes(later)).await;
        write("/api/models", 5, &bytes("{}")).await;
        assert_eq!(read(url).await, Some(sent_at(1_700_000_000_001, later)));
        clear().await;
        assert_eq!(read(url).await, None);
        assert_eq!(read("/api/models").await, None);
    }

    #[wasm_bindgen_test]
    async fn records_in_an_unknown_format_are_ignored() {
        clear().await;
        for odd in [
            "null",
            "7",
            r#""text""#,
            "{}",
            "[]",
            "[5]",
            r#"[5,"{}"]"#,
            "[5,{}]",
        ] {
            let record = js_sys::JSON::parse(odd).expect("JSON");
            put_record("/odd", &record).await;
            assert_eq!(read("/odd").await, None, "{odd}");
        }
        let wrong_time = Array::of2(&"5".into(), &bytes("{}"));
        put_record("/odd", &wrong_time).await;
        assert_eq!(read("/odd").await, None);
        // Additional fields are ignored.
        let more = Array::of3(&5.into(), &bytes("{}"), &"later".into());
        put_record("/odd", &more).await;
        assert_eq!(read("/odd").await, Some(sent_at(5, "{}")));
        clear().await;
    }

    #[wasm_bindgen_test]
    async fn oldest_reply_is_evicted_and_too_large_replies_are_not_cached() {
        clear().await;
        let long = "x".repeat(MAX_BYTES);
        write("/too long", 9, &bytes(&format!("{long}x"))).await;
        assert_eq!(read("/too long").await, None);
        for at in 0..5 {
            write(&format!("/{at}"), at, &bytes(&long)).await;
        }
        assert_eq!(read("/0").await, None, "the oldest reply was not evicted");
        assert!(read("/1").await.is_some() && read("/4").await.is_some());
        clear().await;
    }
}
