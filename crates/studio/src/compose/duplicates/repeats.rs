use std::collections::{HashMap, HashSet};

use atelier_contract::{Draft, Schema};
use atelier_engine::{Account, Task};

use super::{duplicates_in, tasks_by_seed, with_fixed_seeds};
use crate::compose::table::ToSend;
use crate::text::plural::{agreeing, counted};

/// Counts the items that Generate would send although their results exist or were requested already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeats {
    /// The number of items to send.
    pub all: usize,
    /// The number of items whose results exist or are being generated.
    pub made: usize,
    /// Whether some of the `made` items are still being generated.
    is_under_way: bool,
    /// The number of other items that are duplicates of each other.
    alike: usize,
    /// The number of other items that were sent before.
    sent_before: usize,
}

impl Repeats {
    pub fn of(to_send: &ToSend, schema: &Schema, account: &Account, tasks: &[&Task]) -> Self {
        let drafts: Vec<&Draft> = to_send.drafts.iter().collect();
        let by_seed = tasks_by_seed(schema, account, tasks);
        let fixed = with_fixed_seeds(&drafts, schema, &by_seed);
        let made = duplicates_in(&fixed, &by_seed, schema);
        let places: HashSet<usize> = made.iter().map(|it| it.at).collect();
        let mut counts = HashMap::new();
        for (_, input) in fixed.iter().filter(|(at, _)| !places.contains(at)) {
            *counts.entry(input).or_insert(0) += 1;
        }
        Self {
            all: drafts.len(),
            made: made.len(),
            is_under_way: made.iter().any(|it| it.is_under_way),
            alike: counts.into_values().filter(|count| *count > 1).sum(),
            sent_before: to_send.sent_before.difference(&places).count(),
        }
    }

    /// Returns a message such as `2 of these 4 items are generated already (same seed).`; empty if there are none.
    pub fn made_message(&self) -> String {
        let what = match self.is_under_way {
            true => "generated already or under way (same seed).",
            false => "generated already (same seed).",
        };
        match self.made {
            0 => String::new(),
            made => format!("{} {what}", self.which(made, "is", "are")),
        }
    }

    /// Returns a message such as `2 of these 4 items are identical (same seed): each is charged.`, followed by a sentence
    /// about the items that were sent before. It says "may be charged", because their earlier tasks may have failed and
    /// cost nothing.
    pub fn message(&self) -> String {
        let alike = (self.alike > 0).then(|| {
            let which = self.which(self.alike, "is", "are");
            format!("{which} identical (same seed): each is charged.")
        });
        let before = (self.sent_before > 0).then(|| {
            let which = self.which(self.sent_before, "was", "were");
            let each = match self.sent_before {
                1 => "it",
                _ => "each",
            };
            format!("{which} sent before: {each} is generated again, and may be charged again.")
        });
        let messages = [alike, before].into_iter().flatten();
        messages.collect::<Vec<_>>().join(" ")
    }

    /// Returns the label of the button that sends all items except the `made` ones: `Only the 2 new ones`.
    pub fn rest_label(&self) -> String {
        match (self.all - self.made, self.sent_before) {
            (1, 0) => "Only the new one".to_owned(),
            (rest, 0) => format!("Only the {rest} new ones"),
            (1, _) => "Only the other one".to_owned(),
            (rest, _) => format!("Only the {rest} others"),
        }
    }

    fn which(&self, count: usize, one: &'static str, several: &'static str) -> String {
        match (count, count == self.all) {
            (1, true) => format!("This item {one}"),
            (n, true) => format!("All {n} items {several}"),
            (n, false) => format!(
                "{n} of these {} {}",
                counted(self.all, "item"),
                agreeing(n, one, several)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_counts_existing_results() {
        for (made, all, expected) in [
            (0, 3, ""),
            (1, 1, "This item is generated already (same seed)."),
            (4, 4, "All 4 items are generated already (same seed)."),
            (1, 3, "1 of these 3 items is generated already (same seed)."),
            (
                2,
                3,
                "2 of these 3 items are generated already (same seed).",
            ),
        ] {
            let repeats = Repeats {
                made,
                all,
                ..Repeats::default()
            };
            assert_eq!(repeats.made_message(), expected);
        }
        let rest = |made, sent_before| {
            let repeats = Repeats {
                all: 3,
                made,
                sent_before,
                ..Repeats::default()
            };
            repeats.rest_label()
        };
        assert_eq!(
            (rest(2, 0).as_str(), rest(1, 0).as_str()),
            ("Only the new one", "Only the 2 new ones")
        );
        // Items that were sent before are not called new.
        assert_eq!(
            (rest(2, 1).as_str(), rest(1, 1).as_str()),
            ("Only the other one", "Only the 2 others")
        );
    }

    #[test]
    fn the_message_counts_duplicates_and_items_that_were_sent_before() {
        let message = |sent_before, alike, all| {
            let repeats = Repeats {
                all,
                alike,
                sent_before,
                ..Repeats::default()
            };
            repeats.message()
        };
        assert_eq!(message(0, 0, 2), "");
        assert_eq!(
            message(1, 0, 1),
            "This item was sent before: it is generated again, and may be charged again."
        );
        assert_eq!(
            message(2, 0, 3),
            "2 of these 3 items were sent before: each is generated again, and may be charged again."
        );
        let alike = "2 of these 4 items are identical (same seed): each is charged.";
        assert_eq!(message(0, 2, 4), alike);
    }
}
