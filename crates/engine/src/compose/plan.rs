//! What sending a batch will take, said before it is sent.

use std::ops::Range;

use atelier_contract::MAX_BATCH_ITEMS;

/// Above this many items the page asks once more: each may cost money.
pub const ASKS_ABOVE: usize = 100;

/// Items and the calls they are sent in, up to [`MAX_BATCH_ITEMS`] each, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub items: usize,
}

impl Plan {
    pub fn calls(self) -> usize {
        self.items.div_ceil(MAX_BATCH_ITEMS)
    }

    /// The items of each call.
    pub fn chunks(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.items)
            .step_by(MAX_BATCH_ITEMS)
            .map(move |start| start..self.items.min(start + MAX_BATCH_ITEMS))
    }

    pub fn asks_once_more(self) -> bool {
        self.items > ASKS_ABOVE
    }

    /// `25 items in 3 calls`
    pub fn sentence(self) -> String {
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        format!(
            "{} in {}",
            count(self.items, "item"),
            count(self.calls(), "call")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_said_exactly() {
        for (items, sentence) in [
            (0, "0 items in 0 calls"),
            (1, "1 item in 1 call"),
            (10, "10 items in 1 call"),
            (25, "25 items in 3 calls"),
        ] {
            assert_eq!(Plan { items }.sentence(), sentence);
        }
        assert!(!Plan { items: 100 }.asks_once_more());
        assert!(Plan { items: 101 }.asks_once_more());
    }

    proptest! {
        #[test]
        fn every_item_is_in_one_call_and_in_order(items in 0..5000usize) {
            let plan = Plan { items };
            let chunks: Vec<_> = plan.chunks().collect();
            prop_assert_eq!(chunks.len(), plan.calls());
            prop_assert!(chunks.iter().all(|chunk| (1..=10).contains(&chunk.len())));
            prop_assert!(chunks.into_iter().flatten().eq(0..items));
        }
    }
}
