//! The message about a second submission of a task; see [`atelier_engine::TaskKey::late`].

use atelier_engine::{Phase, Task};

/// Returns the text after the words `Another submission`. It is unknown which of the two submissions was the first.
pub fn other_submission_text(task: &Task, other: &Task) -> &'static str {
    let has_both = task.state.id().is_some();
    match other.state.phase() {
        _ if other.state.id().is_some() && has_both => {
            " of this was accepted as well. Both may be billed."
        }
        _ if other.state.id().is_some() => " of this was accepted, and may be billed.",
        Phase::Queued => " of this waits to be sent.",
        Phase::Submitting => " of this is being sent.",
        Phase::Failed => " of this was not accepted.",
        _ => " of this may have been accepted as well.",
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::{ApiError, TaskId};
    use atelier_engine::TaskState;

    use super::*;
    use crate::testing::task;

    #[test]
    fn both_may_be_billed_only_if_both_were_accepted() {
        let in_state = |state| Task {
            state,
            ..task("a", 0)
        };
        let id = || TaskId("1".into());
        let error = ApiError::malformed("x");
        let message = String::new();
        let taken = in_state(TaskState::Gone { id: id() });
        let others = [
            (TaskState::Fetching { id: id() }, "Both may be billed."),
            (TaskState::Queued, "waits to be sent."),
            (TaskState::Submitting, "is being sent."),
            (TaskState::Failed { id: None, message }, "was not accepted."),
            (
                TaskState::Unconfirmed { error },
                "may have been accepted as well.",
            ),
        ];
        for (state, end) in others {
            let other = in_state(state);
            assert!(
                other_submission_text(&taken, &other).ends_with(end),
                "{other:?}"
            );
        }
        let unsent = in_state(TaskState::Queued);
        assert!(
            other_submission_text(&unsent, &taken).ends_with("was accepted, and may be billed.")
        );
    }
}
