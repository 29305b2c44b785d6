//! What sending a batch will take, said before it is sent.

use atelier_contract::MAX_BATCH_ITEMS;

use crate::plural::counted;

/// Above this many items the page asks once more: each may cost money.
pub const ASKS_ABOVE: usize = 100;

/// Items and the calls they are sent in, up to [`MAX_BATCH_ITEMS`] each, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub items: usize,
    /// How many outputs they ask for; what is paid may go by these.
    pub outputs: usize,
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

    /// `25 items in 3 calls`, with `, 100 outputs` where each makes several.
    pub fn user_message(self) -> String {
        let outputs = match self.outputs > self.items {
            true => format!(", {}", counted(self.outputs, "output")),
            false => String::new(),
        };
        format!(
            "{} in {}{outputs}",
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
        let plan = |items, outputs| Plan { items, outputs };
        for (items, outputs, sentence) in [
            (0, 0, "0 items in 0 calls"),
            (1, 1, "1 item in 1 call"),
            (10, 10, "10 items in 1 call"),
            (25, 25, "25 items in 3 calls"),
            (25, 100, "25 items in 3 calls, 100 outputs"),
            (1, 4, "1 item in 1 call, 4 outputs"),
        ] {
            assert_eq!(plan(items, outputs).user_message(), sentence);
        }
        assert!(!plan(100, 400).asks_once_more());
        assert!(plan(101, 101).asks_once_more());
    }
}
