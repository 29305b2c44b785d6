//! What sending a batch will take, said before it is sent.

use atelier_contract::MAX_BATCH_ITEMS;

use crate::plural::counted;

/// Above this many items the page asks once more: each may cost money.
pub const ASKS_ABOVE: usize = 100;

/// Items and the calls they are sent in, up to [`MAX_BATCH_ITEMS`] each, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub items: usize,
}

impl Plan {
    /// How many calls of up to [`MAX_BATCH_ITEMS`] items each.
    pub fn calls(self) -> usize {
        self.items.div_ceil(MAX_BATCH_ITEMS)
    }

    /// So many, more than [`ASKS_ABOVE`], are not sent by one press.
    pub fn asks_once_more(self) -> bool {
        self.items > ASKS_ABOVE
    }

    /// `25 items in 3 calls`
    pub fn user_message(self) -> String {
        format!(
            "{} in {}",
            counted(self.items, "item"),
            counted(self.calls(), "call")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_exactly() {
        for (items, sentence) in [
            (0, "0 items in 0 calls"),
            (1, "1 item in 1 call"),
            (10, "10 items in 1 call"),
            (25, "25 items in 3 calls"),
        ] {
            assert_eq!(Plan { items }.user_message(), sentence);
        }
        assert!(!Plan { items: 100 }.asks_once_more());
        assert!(Plan { items: 101 }.asks_once_more());
    }
}
