//! Why items of a batch failed, in one line.

use std::collections::HashSet;

use crate::text::plural::counted;

/// The first of the reasons, and how many others there are.
pub fn reasons_message(reasons: &[String]) -> String {
    let Some(first) = reasons.first() else {
        return String::new();
    };
    let others = reasons.iter().filter(|reason| *reason != first);
    let others: HashSet<&String> = others.collect();
    match others.len() {
        0 => first.clone(),
        n => format!("{first} And {}.", counted(n, "other reason")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_all_share_is_said_once() {
        let said = |reasons: &[&str]| {
            let reasons: Vec<String> = reasons.iter().map(|&reason| reason.to_owned()).collect();
            reasons_message(&reasons)
        };
        assert_eq!(said(&[]), "");
        assert_eq!(said(&["No.", "No."]), "No.");
        assert_eq!(said(&["No.", "Full.", "No."]), "No. And 1 other reason.");
        assert_eq!(
            said(&["No.", "Full.", "Late.", "Late."]),
            "No. And 2 other reasons."
        );
    }
}
