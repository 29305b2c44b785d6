//! Says what sending a batch will take, before it is sent.

use atelier_contract::{Draft, MAX_BATCH_ITEMS, Schema};

use super::fill_method::Way;
use crate::output::expected_output;
use crate::text::plural::counted;

/// Above this many items the page asks once more: each may cost money.
pub const ASKS_ABOVE: usize = 100;

/// Items and the calls they are sent in, up to [`MAX_BATCH_ITEMS`] each, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How many items are sent.
    pub items: usize,
    /// How many outputs they ask for; what is paid may go by these.
    pub outputs: usize,
}

impl Plan {
    /// What these take, which can all be sent.
    pub fn of<'a>(drafts: impl Iterator<Item = &'a Draft>, schema: &Schema) -> Self {
        let mut plan = Self {
            items: 0,
            outputs: 0,
        };
        for draft in drafts {
            let outputs = expected_output::count_of_draft(draft, schema);
            plan.items += 1;
            plan.outputs = plan.outputs.saturating_add(outputs);
        }
        plan
    }

    /// How many calls of up to [`MAX_BATCH_ITEMS`] items each.
    pub fn calls(self) -> usize {
        self.items.div_ceil(MAX_BATCH_ITEMS)
    }

    /// Whether a person is asked once more, because there are more items than [`ASKS_ABOVE`].
    pub fn asks_once_more(self) -> bool {
        self.items > ASKS_ABOVE
    }

    /// `25 items in 3 calls`, with `, 100 outputs` where each makes several.
    pub fn user_message(self) -> String {
        format!(
            "{} in {}{}",
            counted(self.items, "item"),
            counted(self.calls(), "call"),
            self.outputs_message()
        )
    }

    /// `25 items of this sweep`, with the outputs as above.
    pub fn offer_message(self, way: Way) -> String {
        format!(
            "{} of this {}{}",
            counted(self.items, "item"),
            way.offers(),
            self.outputs_message()
        )
    }

    /// `2 rows of the table and 3 items of this sweep`, with the outputs as above.
    pub fn together_message(self, offered: Self, way: Way) -> String {
        format!(
            "{}{} of the table and {}",
            counted(self.items, "row"),
            self.outputs_message(),
            offered.offer_message(way)
        )
    }

    fn outputs_message(self) -> String {
        match self.outputs > self.items {
            true => format!(", {}", counted(self.outputs, "output")),
            false => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a sweep that says how many items it has, and not how many pictures are paid.
    #[test]
    fn what_is_offered_says_how_many_outputs_it_makes() {
        let plan = |items, outputs| Plan { items, outputs };
        let said = |items, outputs| plan(items, outputs).offer_message(Way::Sweep);
        assert_eq!(said(3, 9), "3 items of this sweep, 9 outputs");
        assert_eq!(said(1, 1), "1 item of this sweep");
        let both = plan(2, 2).together_message(plan(3, 9), Way::Sweep);
        let expected = "2 rows of the table and 3 items of this sweep, 9 outputs";
        assert_eq!(both, expected);
    }

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
