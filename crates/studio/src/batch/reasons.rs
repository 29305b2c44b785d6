//! Summarizes in one line why items of a batch failed.

use std::collections::HashSet;

use crate::text::plural::counted;

/// Returns the first reason and the number of different other reasons.
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
    fn a_shared_reason_is_shown_once() {
        let message = |reasons: &[&str]| {
            let reasons: Vec<String> = reasons.iter().map(|&reason| reason.to_owned()).collect();
            reasons_message(&reasons)
        };
        assert_eq!(message(&[]), "");
        assert_eq!(message(&["No.", "No."]), "No.");
        assert_eq!(message(&["No.", "Full.", "No."]), "No. And 1 other reason.");
        assert_eq!(
            message(&["No.", "Full.", "Late.", "Late."]),
            "No. And 2 other reasons."
        );
    }
}
