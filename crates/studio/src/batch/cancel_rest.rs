//! The question before the rest of a batch is canceled.

use atelier_engine::{Phase, Task};

use crate::text::plural::counted;

/// The number of items that are canceled without a question.
const MAX_UNASKED: usize = 3;

/// Whether to ask before this many tasks are canceled.
pub fn needs_question(count: usize) -> bool {
    count > MAX_UNASKED
}

/// Returns the question before these tasks are canceled.
pub fn question(tasks: &[&Task]) -> String {
    let count = tasks.len();
    let is_unsent = |task: &&&Task| task.state.phase() == Phase::Queued;
    let unsent = tasks.iter().filter(is_unsent).count();
    let mut question = format!("Cancel {}?", counted(count, "item"));
    if unsent > 0 {
        let unsent = counted(unsent, "item");
        question.push_str(&format!(" {unsent} not sent yet will be removed."));
    }
    if unsent < count {
        question.push_str(" The service may bill those that it has started.");
    }
    question
}

/// Returns the message after this many items were canceled.
pub fn user_message(count: usize) -> String {
    format!("Canceling {}.", counted(count, "item"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{queued, task};
    use serde_json::json;

    fn asked(unsent: usize, running: usize) -> String {
        let state = |is_unsent| match is_unsent {
            true => queued(),
            false => json!({"state": "running", "id": "t", "word": "processing"}),
        };
        let tasks: Vec<Task> = (0..unsent + running)
            .map(|index| task(&index.to_string(), index, 1, state(index < unsent)))
            .collect();
        question(&tasks.iter().collect::<Vec<_>>())
    }

    #[test]
    fn asks_before_more_than_a_few_items_are_canceled() {
        assert!(!needs_question(3));
        assert!(needs_question(4));
    }

    #[test]
    fn the_question_reports_what_is_lost_and_what_may_be_billed() {
        let unsent = "Cancel 4 items? 4 items not sent yet will be removed.";
        assert_eq!(asked(4, 0), unsent);
        let running = "Cancel 4 items? The service may bill those that it has started.";
        assert_eq!(asked(0, 4), running);
        let both = "Cancel 5 items? 1 item not sent yet will be removed. The service may bill those that it has started.";
        assert_eq!(asked(1, 4), both);
    }
}
