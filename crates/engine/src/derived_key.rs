//! Derives keys that are the same in all tabs without communication.

use siphasher::sip::SipHasher13;

use crate::{BatchKey, Millis, TaskKey};

// Two tabs can run different releases, and a stored table outlives both, so the hashed bytes and the hash function must
// never change. `std` guarantees neither for its hasher nor for `Hash`.

impl BatchKey {
    /// Derives the key of a batch from the model of the table, the time of its last edit and its number of rows. Each
    /// edit yields a different key.
    pub fn of_table(model: &str, edited: Millis, rows: usize) -> Self {
        Self(hex_key(&edit_bytes("table", model, edited, rows)))
    }
}

impl TaskKey {
    /// Derives the key of a task from a table row: its nonce and its current content. Sending the same row twice yields
    /// the same key, which this app and services with idempotency keys recognize.
    pub fn of_row(nonce: u64, draft: &str) -> Self {
        Self(hex_key(
            &[number_bytes("row", nonce), text_bytes(draft)].concat(),
        ))
    }
}

/// Derives the nonce for sending a row again.
pub fn next_nonce(nonce: u64) -> u64 {
    hash(&number_bytes("next", nonce))
}

/// Derives the nonce of a row that was stored without one, from its position `at` in a table last edited at `edited`.
pub fn stored_nonce(model: &str, edited: Millis, at: usize) -> u64 {
    hash(&edit_bytes("stored", model, edited, at))
}

/// Hashes a text to a number that is the same in every tab and release.
pub fn hash_text(of: &str) -> u64 {
    hash(&[text_bytes("text"), text_bytes(of)].concat())
}

/// Derives the number from which values such as the seed of a row are drawn. The same row always gets the same number.
pub fn row_random(nonce: u64) -> u64 {
    hash(&number_bytes("chance", nonce))
}

fn edit_bytes(kind: &str, model: &str, edited: Millis, rows: usize) -> Vec<u8> {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX).to_le_bytes();
    [
        text_bytes(kind),
        text_bytes(model),
        edited.to_le_bytes().into(),
        rows.into(),
    ]
    .concat()
}

fn number_bytes(kind: &str, number: u64) -> Vec<u8> {
    [text_bytes(kind), number.to_le_bytes().into()].concat()
}

/// Encodes a text, followed by a byte that UTF-8 never contains, so that "ab" + "c" differs from "a" + "bc".
fn text_bytes(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0xff]].concat()
}

/// Returns 128 bits as hexadecimal text, the format of randomly drawn keys.
fn hex_key(from: &[u8]) -> String {
    let half = |which: u8| hash(&[&[which], from].concat());
    format!("{:016x}{:016x}", half(0), half(1))
}

fn hash(from: &[u8]) -> u64 {
    SipHasher13::new().hash(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The derived keys must stay the same in all releases: with another key, a tab of an older release would submit
    /// the same row again.
    #[test]
    fn keys_match_those_of_other_releases() {
        let batch = BatchKey::of_table("image/a", 1_700_000_000_000, 12);
        assert_eq!(batch.0, "a156dc2555b4379c55f5a8fc855463ea");
        let row = TaskKey::of_row(7, "{}");
        assert_eq!(row.0, "247c603ec701ea1a2743de9a3db53b56");
        assert_eq!(next_nonce(7), 7_946_531_908_469_246_054);
        assert_eq!(stored_nonce("image/a", 5, 3), 2_401_137_922_089_448_985);
        assert_eq!(hash_text("a"), 8_702_010_342_854_030_479);
        assert_eq!(row_random(7), 7_230_249_400_009_211_907);
    }

    #[test]
    fn batch_keys_differ_by_model_edit_time_and_row_count() {
        let batch = BatchKey::of_table("image/a", 1_700_000_000_000, 12);
        assert_eq!(batch, BatchKey::of_table("image/a", 1_700_000_000_000, 12));
        let others = [
            BatchKey::of_table("image/b", 1_700_000_000_000, 12),
            BatchKey::of_table("image/a", 1_700_000_000_001, 12),
            BatchKey::of_table("image/a", 1_700_000_000_000, 11),
        ];
        assert!(!others.contains(&batch));
        assert_eq!(batch.0.len(), 32);
    }

    #[test]
    fn row_keys_are_unique_and_change_on_resend() {
        let nonces = (0..1_000).map(|at| stored_nonce("image/a", 5, at));
        let keys: HashSet<TaskKey> = nonces.map(|nonce| TaskKey::of_row(nonce, "{}")).collect();
        assert_eq!(keys.len(), 1_000);
        let first = stored_nonce("image/a", 5, 0);
        assert!(keys.contains(&TaskKey::of_row(first, "{}")));
        let others = [
            TaskKey::of_row(first, r#"{"a":1}"#),
            TaskKey::of_row(next_nonce(first), "{}"),
            TaskKey::of_row(first, "{}").retry(),
            TaskKey::of_row(stored_nonce("image/b", 5, 0), "{}"),
            TaskKey::of_row(stored_nonce("image/a", 6, 0), "{}"),
        ];
        assert!(others.iter().all(|other| !keys.contains(other)));
    }
}
