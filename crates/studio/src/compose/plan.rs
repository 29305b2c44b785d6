//! Counts the items, calls and outputs of a batch before it is sent.

use atelier_contract::{Draft, MAX_BATCH_ITEMS, Schema};

use super::fill_method::FillMethod;
use crate::output::expected_output;
use crate::text::plural::counted;

/// The number of items above which the user must confirm sending, because each item may be charged.
pub const CONFIRM_ABOVE: usize = 100;

/// The number of items to send, in calls of up to [`MAX_BATCH_ITEMS`] each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The number of items.
    pub items: usize,
    /// The number of outputs that the items request. The service may charge per output.
    pub outputs: usize,
}

impl Plan {
    /// Plans sending these drafts, which must all be valid.
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

    /// Returns the number of calls of up to [`MAX_BATCH_ITEMS`] items each.
    pub fn calls(self) -> usize {
        self.items.div_ceil(MAX_BATCH_ITEMS)
    }

    /// Whether the user must confirm, because there are more items than [`CONFIRM_ABOVE`].
    pub fn needs_confirmation(self) -> bool {
        self.items > CONFIRM_ABOVE
    }

    /// Returns a text such as `25 items in 3 calls`, followed by `, 100 outputs` if there are more outputs than items.
    pub fn user_message(self) -> String {
        format!(
            "{} in {}{}",
            counted(self.items, "item"),
            counted(self.calls(), "call"),
            self.outputs_message()
        )
    }

    /// Returns a text such as `25 items of this sweep`, with the outputs like [`Self::user_message`].
    pub fn offer_message(self, method: FillMethod) -> String {
        format!(
            "{} of this {}{}",
            counted(self.items, "item"),
            method.noun(),
            self.outputs_message()
        )
    }

    /// Returns a text such as `2 rows of the table and 3 items of this sweep`, with the outputs like
    /// [`Self::user_message`].
    pub fn together_message(self, offered: Self, method: FillMethod) -> String {
        format!(
            "{}{} of the table and {}",
            counted(self.items, "row"),
            self.outputs_message(),
            offered.offer_message(method)
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

    /// Outputs may be charged, so the number of items is not enough.
    #[test]
    fn an_offer_shows_the_number_of_outputs() {
        let plan = |items, outputs| Plan { items, outputs };
        let message = |items, outputs| plan(items, outputs).offer_message(FillMethod::Sweep);
        assert_eq!(message(3, 9), "3 items of this sweep, 9 outputs");
        assert_eq!(message(1, 1), "1 item of this sweep");
        let both = plan(2, 2).together_message(plan(3, 9), FillMethod::Sweep);
        let expected = "2 rows of the table and 3 items of this sweep, 9 outputs";
        assert_eq!(both, expected);
    }

    #[test]
    fn the_message_counts_items_calls_and_outputs() {
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
        assert!(!plan(100, 400).needs_confirmation());
        assert!(plan(101, 101).needs_confirmation());
    }
}
