//! The message shown after items of a batch were sent again.

use crate::text::plural::{agreeing, counted};

/// Returns a message with the number of items that were sent again (or, if `is_held`, wait to be sent). It also
/// explains what to do about `lacking` items, which lack the values of their secret parameters.
pub fn user_message(sent: usize, lacking: usize, is_held: bool) -> String {
    let items = counted(sent, "item");
    let mut message = match (sent, is_held) {
        (0, _) => "Nothing was sent again.".to_owned(),
        (_, true) => format!(
            "{items} {} to be sent again.",
            agreeing(sent, "waits", "wait")
        ),
        (_, false) => format!("Sent again: {items}."),
    };
    if lacking > 0 {
        message.push_str(&format!(
            " {} not: {} secret parameters are not stored. Check your usage in the service's dashboard, then dismiss \
             {}; to generate {} again, enter the secret in the form and send the input from there.",
            match lacking {
                1 => "1 item is".to_owned(),
                lacking => format!("{lacking} items are"),
            },
            agreeing(lacking, "its", "their"),
            agreeing(lacking, "it", "them"),
            agreeing(lacking, "it", "them"),
        ));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items without the values of their secret parameters are not sent.
    #[test]
    fn only_items_that_were_sent_count_as_sent() {
        assert_eq!(user_message(3, 0, false), "Sent again: 3 items.");
        assert_eq!(user_message(3, 0, true), "3 items wait to be sent again.");
        assert_eq!(user_message(1, 0, true), "1 item waits to be sent again.");
        let some = user_message(1, 2, false);
        let start = "Sent again: 1 item. 2 items are not: their secret parameters are not stored.";
        assert!(some.starts_with(start), "{some}");
        assert!(some.contains("dismiss them"), "{some}");
        let none = user_message(0, 1, false);
        let start = "Nothing was sent again. 1 item is not: its secret parameters are not stored.";
        assert!(none.starts_with(start), "{none}");
    }
}
