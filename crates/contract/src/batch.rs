//! Batch calls with several tasks, and their responses.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ApiError;
use crate::json::Record;

/// The maximum number of items in a batch call (INTERFACE "Limits": 1 to 10).
pub const MAX_BATCH_ITEMS: usize = 10;

/// The body of the three batch endpoints (INTERFACE "POST /v2/generate-batch" and its siblings).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchRequest {
    /// The bodies of 1 to [`MAX_BATCH_ITEMS`] single calls.
    pub requests: Vec<Value>,
}

impl BatchRequest {
    pub fn into_value(self) -> Value {
        let mut record = Record::new();
        record.put("requests", Value::Array(self.requests));
        record.into_value()
    }
}

/// An entry of a batch response (INTERFACE "Batch result entry").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchEntry {
    /// The position of the item in `requests`, from 0 (INTERFACE "Batch result entry").
    pub index: usize,
    /// The HTTP status of the item; 200 to 299 is success.
    pub status: u16,
    /// The response that the single endpoint returns for the item.
    pub body: Value,
}

/// A batch response, with one entry per item; `None` for an item without a usable entry.
///
/// Entries that are missing, surplus, out of order, repeated or malformed affect only their own items. If no entry has
/// an `index` and there is one entry per item, entries are assigned by their positions. Otherwise, entries without an
/// `index` can't be assigned.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchReply {
    pub entries: Vec<Option<BatchEntry>>,
}

impl BatchReply {
    /// Assigns the entries of a batch response to the `count` items of the call.
    ///
    /// # Errors
    ///
    /// [`ApiError::Refused`] if the response has `success: false` and no results; [`ApiError::Malformed`] if it has no
    /// results for another reason.
    pub fn from_body(body: &Value, count: usize) -> Result<Self, ApiError> {
        let results = body.pointer("/data/results").and_then(Value::as_array);
        let Some(results) = results else {
            if body.get("success") == Some(&Value::Bool(false)) {
                return Err(ApiError::refused(body));
            }
            return Err(ApiError::malformed("the batch reply has no results"));
        };
        let indexes: Vec<Option<usize>> = results.iter().map(index_of).collect();
        let indexed = results.iter().any(|entry| entry.get("index").is_some());
        let is_unsure = !indexed && results.len() != count;
        if is_unsure || counts_from_one(&indexes, count) {
            return Ok(Self {
                entries: vec![None; count],
            });
        }
        let mut entries: Vec<Option<BatchEntry>> = vec![None; count];
        let mut repeated = vec![false; count];
        for (position, result) in results.iter().enumerate() {
            let index = if indexed {
                indexes[position]
            } else {
                Some(position)
            };
            let Some(index) = index.filter(|index| *index < count) else {
                continue;
            };
            if entries[index].is_some() {
                repeated[index] = true;
            }
            entries[index] = entry(index, result);
        }
        // Neither of two entries for the same item can be trusted.
        for (entry, repeated) in entries.iter_mut().zip(repeated) {
            if repeated {
                *entry = None;
            }
        }
        Ok(Self { entries })
    }
}

/// Returns the index of an entry: a number, or a number as text.
fn index_of(entry: &Value) -> Option<usize> {
    let index = entry.get("index")?;
    match index.as_str() {
        Some(text) => text.parse().ok(),
        None => usize::try_from(index.as_u64()?).ok(),
    }
}

/// Whether the indexes seem to count from 1, possibly with some missing. If they were read as counting from 0, each
/// item would get the response of another item.
fn counts_from_one(indexes: &[Option<usize>], count: usize) -> bool {
    !indexes.contains(&Some(0)) && indexes.contains(&Some(count))
}

fn entry(index: usize, result: &Value) -> Option<BatchEntry> {
    let body = result.get("body").filter(|body| body.is_object())?;
    let status = match result.get("status") {
        Some(status) => u16::try_from(status.as_u64()?).ok()?,
        // Without a status, `success` in the body decides.
        None if body.get("success") == Some(&Value::Bool(true)) => 200,
        None => return None,
    };
    Some(BatchEntry {
        index,
        status,
        body: body.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn result(index: usize) -> Value {
        json!({"index": index, "status": 200, "body": {"success": true, "data": {"id": index}}})
    }

    fn reply(results: Vec<Value>, count: usize) -> Vec<Option<usize>> {
        let body = json!({"success": true, "data": {"results": results}});
        let entries = BatchReply::from_body(&body, count).unwrap().entries;
        entries
            .into_iter()
            .map(|e| e.map(|e| e.body["data"]["id"].as_u64().unwrap() as usize))
            .collect()
    }

    #[test]
    fn bad_entries_affect_only_their_items() {
        let results = vec![
            result(2),
            json!({"index": 1, "status": "x", "body": {}}),
            result(9),
            result(0),
        ];
        assert_eq!(reply(results, 4), [Some(0), None, Some(2), None]);
    }

    #[test]
    fn an_item_with_two_entries_has_none() {
        assert_eq!(
            reply(vec![result(0), result(0), result(1)], 2),
            [None, Some(1)]
        );
    }

    /// Guards against showing outputs next to the wrong prompts.
    #[test]
    fn rejects_indexes_that_count_from_1() {
        assert_eq!(
            reply(vec![result(1), result(2), result(3)], 3),
            [None, None, None]
        );
        assert_eq!(reply(vec![result(1), result(3)], 3), [None, None, None]);
        assert_eq!(
            reply(vec![result(1), result(2)], 3),
            [None, Some(1), Some(2)]
        );
    }

    #[test]
    fn uses_positions_if_no_entry_has_an_index() {
        let bare = |id: usize| json!({"status": 200, "body": {"data": {"id": id}}});
        assert_eq!(reply(vec![bare(5), bare(6)], 2), [Some(5), Some(6)]);
        assert_eq!(reply(vec![bare(5), result(1)], 2), [None, Some(1)]);
    }

    /// If an entry is missing or surplus, the positions of all later entries are wrong.
    #[test]
    fn uses_positions_only_with_one_entry_per_item() {
        let bare = |id: usize| json!({"status": 200, "body": {"data": {"id": id}}});
        assert_eq!(reply(vec![bare(6)], 2), [None, None]);
        assert_eq!(reply(vec![bare(4), bare(5), bare(6)], 2), [None, None]);
    }

    #[test]
    fn accepts_an_index_as_text() {
        let entry = |index: &str, id: usize| json!({"index": index, "status": 200, "body": {"data": {"id": id}}});
        assert_eq!(
            reply(vec![entry("1", 6), entry("0", 5), entry("x", 7)], 3),
            [Some(5), Some(6), None]
        );
    }

    proptest! {
        #[test]
        fn assigns_entries_in_any_order(order in Just((0..10usize).collect::<Vec<_>>()).prop_shuffle()) {
            let results = order.into_iter().map(result).collect();
            prop_assert_eq!(reply(results, 10), (0..10).map(Some).collect::<Vec<_>>());
        }
    }
}
