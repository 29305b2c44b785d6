//! Keys that two tabs come to by themselves for the same thing.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{BatchKey, Millis, TaskKey};

impl BatchKey {
    /// Of so many rows of a model's table that was edited last at this time, in whichever tab: each edit makes another
    /// batch of them.
    pub fn of_table(model: &str, edited: Millis, rows: usize) -> Self {
        Self(derived(&("table", model, edited, rows)))
    }

    /// The key of the first task of its item at this place, from 0. The same batch sent twice is known as one by it, here
    /// and at a service that honours keys.
    pub fn item(&self, index: usize) -> TaskKey {
        TaskKey(derived(&("item", &self.0, index)))
    }
}

/// 128 bits as text, as a drawn key has them.
fn derived(of: &impl Hash) -> String {
    let half = |which: u8| {
        let mut hasher = DefaultHasher::new();
        which.hash(&mut hasher);
        of.hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
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
        let keys: HashSet<TaskKey> = (0..1_000).map(|index| batch.item(index)).collect();
        assert_eq!(keys.len(), 1_000);
        assert_eq!(batch.item(0).0.len(), 32);
        // The next attempt of one is no other item.
        assert!(!keys.contains(&batch.item(0).retry()));
    }
}
