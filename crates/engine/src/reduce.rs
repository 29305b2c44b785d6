//! The state machine of a task. A [`TaskState`] changes only here.

use atelier_contract::{ApiError, StatusWord, TaskId};

use crate::TaskState;

/// An event of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The request is about to be sent.
    Send,
    /// The user cancelled the task before it was sent.
    Cancel,
    /// The service accepted the task.
    Accepted {
        id: TaskId,
        word: StatusWord,
        error: Option<String>,
    },
    /// The service did not accept the task.
    Rejected { message: String },
    /// The task was never sent and can't be sent any more.
    Unsendable { message: String },
    /// It is unknown whether the service accepted the task.
    LostAnswer { error: ApiError },
    /// The task was temporarily refused (rate limit) or was never sent, so it may be sent again.
    PutBack,
    /// The service reported a status.
    Progress {
        word: StatusWord,
        error: Option<String>,
    },
    /// The service reports that the task was canceled, at the request of this or another program.
    Canceled,
    /// The service no longer knows the id.
    Gone,
    /// The service has refused the output repeatedly.
    OutputRefused { message: String },
    /// The output has been fetched.
    Ready { outputs: Vec<String> },
    /// The user resubmits an Unconfirmed task.
    Resubmit,
    /// The user cancels the resubmission before it is sent. The earlier submission stays uncertain.
    Withdraw,
}

/// A consequence of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Send the request, once the task is in storage.
    Send,
    /// Add the task to the send queue.
    Enqueue,
    /// Poll the status.
    Poll,
    /// Fetch the output.
    Fetch,
    /// The task has reached a terminal state: notify the user.
    Announce,
    /// Delete the task.
    Remove,
}

/// Returns the state after an event, and the effects. The function is total: an event that does not apply to a state
/// changes nothing.
///
/// `generate` costs money. [`Effect::Send`] follows only from [`Event::Send`] in `Queued`, and a task returns to
/// `Queued` only if the service has reported that it accepted nothing, if no request left the browser, or if the user
/// asks. A task that may have been accepted stays `Submitting` while it is resent with the same idempotency key.
pub fn apply(state: &TaskState, event: Event) -> (TaskState, Vec<Effect>) {
    use TaskState::{
        Canceled, Failed, Fetching, Gone, Queued, Ready, Running, Submitting, Unconfirmed,
    };
    match (state, event) {
        (Queued, Event::Send) => (Submitting, vec![Effect::Send]),
        (Queued, Event::Cancel) => (Queued, vec![Effect::Remove]),
        (Queued, Event::Unsendable { message }) => {
            (Failed { id: None, message }, vec![Effect::Announce])
        }

        // A late acceptance also determines the state of a task that is Unconfirmed or waits for its resubmission.
        (Queued | Submitting | Unconfirmed { .. }, Event::Accepted { id, word, error }) => {
            state_of_accepted(id, word, error)
        }
        (Submitting, Event::Rejected { message }) => {
            (Failed { id: None, message }, vec![Effect::Announce])
        }
        (Submitting, Event::LostAnswer { error }) => {
            (Unconfirmed { error }, vec![Effect::Announce])
        }
        (Submitting | Unconfirmed { .. }, Event::PutBack) => (Queued, vec![Effect::Enqueue]),

        (Queued, Event::Withdraw) => {
            let error = ApiError::Network {
                detail: ApiError::WITHDRAWN.into(),
            };
            (Unconfirmed { error }, vec![])
        }
        (Unconfirmed { .. }, Event::Resubmit) => (Queued, vec![Effect::Enqueue]),

        // The service knows a Gone task after all, because a proxy answered for the service before.
        (Running { id, .. } | Fetching { id } | Gone { id }, Event::Progress { word, error }) => {
            state_of_accepted(id.clone(), word, error)
        }
        (Running { id, .. } | Fetching { id } | Gone { id }, Event::Canceled) => {
            (Canceled { id: id.clone() }, vec![])
        }
        (Running { id, .. } | Fetching { id }, Event::Gone) => {
            (Gone { id: id.clone() }, vec![Effect::Announce])
        }
        (Fetching { id }, Event::OutputRefused { message }) => {
            let id = Some(id.clone());
            (Failed { id, message }, vec![Effect::Announce])
        }
        // The output was requested although the service does not report `completed`.
        (Running { id, .. }, Event::Ready { outputs }) if !outputs.is_empty() => (
            Ready {
                id: id.clone(),
                outputs,
            },
            vec![Effect::Announce],
        ),
        (Fetching { id }, Event::Ready { outputs }) => (
            Ready {
                id: id.clone(),
                outputs,
            },
            vec![Effect::Announce],
        ),

        // A refused output was requested again.
        (Failed { id: Some(id), .. }, Event::Ready { outputs })
            if !outputs.is_empty() && state.is_output_refused() =>
        {
            let id = id.clone();
            (Ready { id, outputs }, vec![Effect::Announce])
        }

        // The outputs were requested again. An empty response does not replace them.
        (Ready { id, .. }, Event::Ready { outputs }) if !outputs.is_empty() => (
            Ready {
                id: id.clone(),
                outputs,
            },
            vec![],
        ),

        (state, _) => (state.clone(), vec![]),
    }
}

/// Returns the state of an accepted task for the service's status.
fn state_of_accepted(
    id: TaskId,
    word: StatusWord,
    error: Option<String>,
) -> (TaskState, Vec<Effect>) {
    match word {
        StatusWord::Completed => (TaskState::Fetching { id }, vec![Effect::Fetch]),
        StatusWord::Failed => (
            TaskState::Failed {
                id: Some(id),
                message: error.unwrap_or_default(),
            },
            vec![Effect::Announce],
        ),
        word => (TaskState::Running { id, word }, vec![Effect::Poll]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;
    use proptest::prelude::*;

    fn any_word() -> impl Strategy<Value = StatusWord> {
        prop::sample::select(vec![
            "starting",
            "queued",
            "processing",
            "completed",
            "failed",
            "odd",
            "",
        ])
        .prop_map(StatusWord::from)
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let error = || ApiError::Network { detail: "x".into() };
        prop_oneof![
            Just(Event::Send),
            Just(Event::Cancel),
            ("[a-c]", any_word()).prop_map(|(id, word)| Event::Accepted {
                id: TaskId(id),
                word,
                error: None
            }),
            Just(Event::Rejected {
                message: "no".into()
            }),
            Just(Event::LostAnswer { error: error() }),
            Just(Event::Unsendable {
                message: "no".into()
            }),
            Just(Event::PutBack),
            any_word().prop_map(|word| Event::Progress { word, error: None }),
            Just(Event::Gone),
            Just(Event::Canceled),
            Just(Event::OutputRefused {
                message: "no".into()
            }),
            prop::collection::vec("[a-z]", 0..3).prop_map(|outputs| Event::Ready { outputs }),
            Just(Event::Resubmit),
        ]
    }

    proptest! {
        #[test]
        fn terminal_states_are_final_and_nothing_is_billed_twice(events in prop::collection::vec(any_event(), 0..60)) {
            let mut state = TaskState::Queued;
            let mut may_send = 1;
            for event in events {
                let asked = event == Event::Resubmit && state.phase() == Phase::Unconfirmed;
                let free = event == Event::PutBack
                    && matches!(state.phase(), Phase::Submitting | Phase::Unconfirmed);
                let (next, effects) = apply(&state, event);
                if asked || free {
                    may_send += 1;
                }
                for effect in &effects {
                    if *effect == Effect::Send {
                        may_send -= 1;
                    }
                }
                prop_assert!(may_send >= 0, "sent without being allowed to");
                if state.is_terminal() && state.phase() != Phase::Gone {
                    prop_assert_eq!(next.phase(), state.phase());
                    prop_assert!(effects.is_empty());
                }
                // A known id is never lost or replaced.
                if let Some(id) = state.id() {
                    prop_assert_eq!(next.id(), Some(id));
                }
                // A running task is polled.
                if next.phase() == Phase::Running && next != state {
                    prop_assert!(effects.contains(&Effect::Poll));
                }
                state = next;
            }
        }
    }

    #[test]
    fn only_the_service_ends_a_running_task() {
        let running = TaskState::Running {
            id: TaskId("1".into()),
            word: StatusWord::Processing,
        };
        for event in [
            Event::Rejected {
                message: "x".into(),
            },
            Event::LostAnswer {
                error: ApiError::malformed("x"),
            },
            Event::Unsendable {
                message: "x".into(),
            },
            Event::Cancel,
            Event::PutBack,
        ] {
            assert_eq!(apply(&running, event).0, running);
        }
    }
}
