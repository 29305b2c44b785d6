//! The task as a state machine: the only place where a [`TaskState`] changes.

use atelier_contract::{ApiError, StatusWord, TaskId};

use crate::TaskState;

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The request for the task is about to leave.
    Send,
    /// A person took it back before it was sent.
    Cancel,
    /// The service has it.
    Accepted {
        id: TaskId,
        word: StatusWord,
        error: Option<String>,
    },
    /// The service said that it did not take it.
    Rejected { message: String },
    /// It was never sent, and can't be any more.
    Unsendable { message: String },
    /// Nothing is known of whether the service took it.
    LostAnswer { error: ApiError },
    /// It was not taken for now (rate limit) or never left the browser: it may be sent again.
    PutBack,
    /// The service's present word.
    Progress {
        word: StatusWord,
        error: Option<String>,
    },
    /// The service no longer knows the id.
    Gone,
    /// The service has said more than once that it does not give out the output.
    OutputRefused { message: String },
    /// The output is in hand.
    Ready { outputs: Vec<String> },
    /// A person sends an Unconfirmed once more.
    Resubmit,
    /// And takes that back before it was sent: of the one before nothing more is known than it was.
    Withdraw,
}

/// A consequence of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Let the request leave, once the task is in storage.
    Send,
    /// Wait for a turn to be sent.
    Enqueue,
    /// Ask for the status.
    Poll,
    /// Ask for the output.
    Fetch,
    /// The last word is known: tell the person.
    Announce,
    /// Forget the task.
    Remove,
}

/// The state after an event, and what follows. Total: an event that means nothing in a state
/// changes nothing.
///
/// `generate` costs money: [`Effect::Send`] follows from [`Event::Send`] in `Queued` alone, and a
/// task gets back to `Queued` only when the service has said that it took nothing, when nothing
/// left the browser, or when a person asks. What may have been taken stays `Submitting` while it is
/// sent again with the key that the service takes only once.
pub fn apply(state: &TaskState, event: Event) -> (TaskState, Vec<Effect>) {
    use TaskState::{Failed, Fetching, Gone, Queued, Ready, Running, Submitting, Unconfirmed};
    match (state, event) {
        (Queued, Event::Send) => (Submitting, vec![Effect::Send]),
        (Queued, Event::Cancel) => (Queued, vec![Effect::Remove]),
        (Queued, Event::Unsendable { message }) => {
            (Failed { id: None, message }, vec![Effect::Announce])
        }

        // A late answer is good news for an Unconfirmed, also while it waits to be sent once more: there is an id after all.
        (Queued | Submitting | Unconfirmed { .. }, Event::Accepted { id, word, error }) => {
            known(id, word, error)
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

        // What was said not to be known is known after all: something else stood in for the service then.
        (Running { id, .. } | Fetching { id } | Gone { id }, Event::Progress { word, error }) => {
            known(id.clone(), word, error)
        }
        (Running { id, .. } | Fetching { id }, Event::Gone) => {
            (Gone { id: id.clone() }, vec![Effect::Announce])
        }
        (Fetching { id }, Event::OutputRefused { message }) => {
            let id = Some(id.clone());
            (Failed { id, message }, vec![Effect::Announce])
        }
        // The output was asked for although the service does not say `completed`.
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

        // A person has asked once more for an output that was refused.
        (Failed { id: Some(id), .. }, Event::Ready { outputs })
            if !outputs.is_empty() && state.is_output_refused() =>
        {
            let id = id.clone();
            (Ready { id, outputs }, vec![Effect::Announce])
        }

        // A person has asked for the outputs once more; no outputs are worse than old ones.
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

/// The state of a task whose id is known, by the service's word.
fn known(id: TaskId, word: StatusWord, error: Option<String>) -> (TaskState, Vec<Effect>) {
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
            Just(Event::OutputRefused {
                message: "no".into()
            }),
            prop::collection::vec("[a-z]", 0..3).prop_map(|outputs| Event::Ready { outputs }),
            Just(Event::Resubmit),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens_a_terminal_state_stays_and_nothing_is_paid_twice(events in prop::collection::vec(any_event(), 0..60)) {
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
                // An id, once known, is never lost nor exchanged.
                if let Some(id) = state.id() {
                    prop_assert_eq!(next.id(), Some(id));
                }
                // A task that waits for the service is asked about.
                if next.phase() == Phase::Running && next != state {
                    prop_assert!(effects.contains(&Effect::Poll));
                }
                state = next;
            }
        }
    }

    #[test]
    fn only_the_service_ends_a_task() {
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
