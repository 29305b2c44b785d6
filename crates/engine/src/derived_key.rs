//! Keys that two tabs come to by themselves for the same thing.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{BatchKey, Millis, TaskKey};

impl BatchKey {
    /// Of so many rows of a model's table that was edited last at this time, in whichever tab: each edit makes another
    /// batch of them.
    pub fn of_table(model: &str, edited: Millis, rows: usize) -> Self {
        Self(derived(&("table", model, edited, rows)))
    }
}

impl TaskKey {
    /// Of the row of a table with this nonce, as it stands. The same row sent twice is known as one by it, here and at a
    /// service that honours keys.
    pub fn of_row(nonce: u64, draft: &str) -> Self {
        Self(derived(&("row", nonce, draft)))
    }
}

/// Of a row that is to be sent once more.
pub fn next_nonce(nonce: u64) -> u64 {
    hashed(&("next", nonce))
}

/// Of a row that was stored at this place without one, in a table that was edited last at this time.
pub fn stored_nonce(model: &str, edited: Millis, at: usize) -> u64 {
    hashed(&("stored", model, edited, at))
}

/// 128 bits as text, as a drawn key has them.
fn derived(of: &impl Hash) -> String {
    let half = |which: u8| hashed(&(which, of));
    format!("{:016x}{:016x}", half(0), half(1))
}

fn hashed(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_same_rows_have_the_same_keys_and_others_have_others() {
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
    fn each_row_has_a_key_and_another_one_when_it_is_sent_once_more() {
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
