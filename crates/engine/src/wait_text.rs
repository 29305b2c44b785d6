//! What is said while a task runs: what it usually takes, and from then on how long it has taken. The median is
//! what is said, never a range of it: a wait that is longer than usual must not be called usual.

use atelier_contract::{ApiError, StatusWord};

use crate::engine::{MAX_BYTES, MAX_OUTPUT_BYTES};
use crate::{Millis, Phase, Task, TaskState, duration};

const SECOND: Millis = 1_000;

/// How a wait stands.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitText {
    /// A sentence.
    pub message: String,
    /// The part that is over, 0 to 1, while less has passed than is usual.
    pub fraction: Option<f64>,
}

/// `usual`: the median of what came before, if anything did.
pub fn wait_text(elapsed: Millis, usual: Option<Millis>) -> WaitText {
    let Some(usual) = usual else {
        return WaitText {
            message: "Generating.".into(),
            fraction: None,
        };
    };
    let fraction = (elapsed < usual).then(|| elapsed as f64 / usual as f64);
    let message = if elapsed < SECOND {
        "Generating.".into()
    } else if elapsed / SECOND <= usual.div_ceil(SECOND) {
        usual_text(usual)
    } else {
        format!(
            "{}, longer than the usual {}.",
            duration::text(elapsed),
            length(usual)
        )
    };
    WaitText { message, fraction }
}

/// What has not reached the service is on no way to its end, nor is that known of what gives no answer.
pub fn is_under_way(task: &Task) -> bool {
    task.state.id().is_some() && task.poll_error.is_none()
}

/// Where the service says how it stands in a word that the interface does not name, be it another one for an end: that
/// it goes on being asked is all that is known.
pub fn unknown_word(task: &Task) -> Option<String> {
    let TaskState::Running { word, .. } = &task.state else {
        return None;
    };
    match word {
        StatusWord::Other(word) if !word.is_empty() => Some(format!(
            "The service says “{word}”. Atelier keeps asking until it says completed or failed."
        )),
        _ => None,
    }
}

/// `Usually 3 s.`
pub fn usual_text(usual: Millis) -> String {
    format!("Usually {}.", length(usual))
}

/// Without false precision.
fn length(usual: Millis) -> String {
    match usual {
        0..57_500 => format!("{} s", ((usual + SECOND / 2) / SECOND).max(1)),
        _ => duration::about(usual),
    }
}

/// Why nothing is known of a task at present.
#[derive(Debug, Clone, PartialEq)]
pub struct PollErrorText {
    /// Says what happens about it, and what it may cost.
    pub message: String,
    /// More about it, for people who want to know.
    pub details: String,
}

/// No answer came, or none that settles it, and it goes on being tried. Submissions are only tried again under a key that the service
/// takes once. `page_origin`: that of the page.
pub fn poll_error_text(task: &Task, now: Millis, page_origin: &str) -> Option<PollErrorText> {
    let trouble = task.poll_error.as_ref()?;
    if trouble.error.is_too_large() && !task.watching {
        let (done, most) = match task.state.phase() {
            Phase::Fetching => (
                "Completed, but the answer with the output",
                MAX_OUTPUT_BYTES,
            ),
            _ => ("What the service says of it", MAX_BYTES),
        };
        let most = most >> 20;
        return Some(PollErrorText {
            message: format!(
                "{done} is larger than {most} MB and was not read. It is not asked for again by itself: Follow again does."
            ),
            details: "The service has it under its task id. Fewer or smaller outputs make a smaller answer, above \
                      all where the service puts them into it instead of giving their addresses."
                .to_owned(),
        });
    }
    let since = rough(now.saturating_sub(trouble.since));
    let error = task.account.user_message(&trouble.error, page_origin);
    if task.state.phase() == Phase::Queued {
        return task.paused.then(|| PollErrorText {
            message: "Not accepted. It is sent again once its batch is resumed.".to_owned(),
            details: error,
        });
    }
    let is_refused =
        matches!(trouble.error, ApiError::Unauthorized { .. }) && !trouble.error.is_other_refusal();
    // An answer that broke off was one.
    let is_unanswered = trouble.error.is_unreachable() && !trouble.error.is_cut();
    let none = match is_unanswered {
        true => format!("No answer for {since}"),
        // It answers, but does not say what has become of the task.
        false => format!("No usable answer for {since}"),
    };
    let again = format!("{none}. Trying again");
    let (message, details) = match (task.state.phase(), &task.idempotency_key) {
        // A key belongs to the token that it was sent with: with another one it would be a submission of its own.
        (Phase::Submitting, Some(_)) if is_refused => (
            "The service refuses the credentials. It is sent again if they are taken after all; with others, you \
             decide."
                .to_owned(),
            format!("{error} What was sent before may have been taken."),
        ),
        // The one before may have had another key, or another token, to which its key belongs.
        (Phase::Submitting, Some(_)) if task.resubmitted => (
            format!("{again}; this is billed once at most, beside what was sent before it."),
            format!(
                "{error} It is sent again under its key, which the service takes once. What was sent before may \
                 have been taken as well."
            ),
        ),
        (Phase::Submitting, Some(_)) => (
            format!("{again}; you will be billed once at most."),
            format!(
                "{error} It is sent again under the key of the first, which the service takes once."
            ),
        ),
        (Phase::Submitting, None) => (
            format!("{none}. The service may have received it, and may bill it."),
            error,
        ),
        (Phase::Fetching, _) => (
            format!(
                "Completed; the output could not be fetched for {since}. It is asked for again by itself."
            ),
            error,
        ),
        _ if is_unanswered => (
            format!(
                "Status unknown for {since}. The service does not answer; it is asked again by itself."
            ),
            error,
        ),
        _ => (
            format!(
                "Status unknown for {since}. The service does not say what has become of it; it is asked again \
                 by itself."
            ),
            error,
        ),
    };
    Some(PollErrorText { message, details })
}

/// Without the seconds of minutes.
fn rough(ms: Millis) -> String {
    match ms {
        60_000..3_600_000 => format!("{} min", ms / 60_000),
        _ => duration::text(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PollError;
    use crate::engine::tests::task;
    use atelier_contract::TaskId;
    use proptest::prelude::*;

    /// Guards against `usually a few seconds` at the eleventh of a run that took three.
    #[test]
    fn what_is_longer_than_usual_is_said_to_be() {
        let message = |elapsed, usual| wait_text(elapsed, usual).message;
        assert_eq!(message(400, Some(3_200)), "Generating.");
        assert_eq!(message(1_000, Some(3_200)), "Usually 3 s.");
        assert_eq!(message(4_000, Some(3_200)), "Usually 3 s.");
        assert_eq!(
            message(11_300, Some(3_200)),
            "11 s, longer than the usual 3 s."
        );
        assert_eq!(message(20_000, Some(170_000)), "Usually about 3 min.");
        assert_eq!(message(60_000, None), "Generating.");
        assert_eq!(message(1_500, Some(300)), "Usually 1 s.");
    }

    #[test]
    fn the_bar_goes_as_far_as_is_usual_and_says_nothing_beyond() {
        assert_eq!(wait_text(1_600, Some(3_200)).fraction, Some(0.5));
        assert_eq!(wait_text(3_200, Some(3_200)).fraction, None);
        assert_eq!(wait_text(0, Some(0)).fraction, None);
        assert_eq!(wait_text(5_000, None).fraction, None);
    }

    /// Guards against a bar that is nearly full though nothing was ever sent.
    #[test]
    fn only_what_the_service_has_and_answers_for_is_under_way() {
        let mut task = task("a", 0);
        task.state = TaskState::Submitting;
        assert!(!is_under_way(&task));
        task.state = TaskState::Running {
            id: TaskId("1".into()),
            word: StatusWord::Processing,
        };
        assert!(is_under_way(&task));
        task.poll_error = Some(PollError {
            since: 0,
            error: ApiError::Timeout { after_ms: 5 },
        });
        assert!(!is_under_way(&task));
    }

    /// Guards against a promise of one bill where nothing keeps it.
    #[test]
    fn one_bill_is_promised_only_under_a_key() {
        let mut task = task("a", 0);
        task.state = TaskState::Submitting;
        assert_eq!(poll_error_text(&task, 63_000, ""), None);
        task.poll_error = Some(PollError {
            since: 0,
            error: ApiError::Timeout { after_ms: 5 },
        });
        let message = poll_error_text(&task, 63_000, "").unwrap().message;
        assert!(message.starts_with("No answer for 1 min. "), "{message}");
        assert!(!message.contains("once at most"), "{message}");
        task.idempotency_key = Some("a".into());
        assert_eq!(
            poll_error_text(&task, 63_000, "").unwrap().message,
            "No answer for 1 min. Trying again; you will be billed once at most."
        );
        // Two had been taken when it was said.
        task.resubmitted = true;
        let message = poll_error_text(&task, 63_000, "").unwrap().message;
        assert!(
            message.contains("beside what was sent before it"),
            "{message}"
        );
    }

    /// Guards against `No answer` where one came.
    #[test]
    fn refused_credentials_are_an_answer() {
        let mut task = task("a", 0);
        task.state = TaskState::Submitting;
        task.idempotency_key = Some("a".into());
        let error = ApiError::from_status(401, None, None);
        task.poll_error = Some(PollError { since: 0, error });
        let message = poll_error_text(&task, 1_000, "").unwrap().message;
        assert!(
            message.starts_with("The service refuses the credentials. "),
            "{message}"
        );
    }

    /// Guards against `Status unknown` of what is completed, and `does not answer` of a service that answers.
    #[test]
    fn what_is_not_known_is_told_from_what_is() {
        let mut task = task("a", 0);
        let mut message = |state: TaskState, status: u16| {
            let error = ApiError::from_status(status, None, None);
            (task.state, task.poll_error) = (state, Some(PollError { since: 0, error }));
            poll_error_text(&task, 9_000, "").unwrap().message
        };
        let id = TaskId("1".into());
        let running = TaskState::Running {
            id: id.clone(),
            word: StatusWord::Processing,
        };
        assert!(message(running.clone(), 502).contains("does not answer"));
        let answered = message(running, 422);
        assert!(answered.starts_with("Status unknown for "), "{answered}");
        assert!(!answered.contains("does not answer"), "{answered}");
        let fetched = message(TaskState::Fetching { id }, 404);
        assert!(
            fetched.starts_with("Completed; the output could not be fetched"),
            "{fetched}"
        );
    }

    /// Guards against `The service does not answer`, and a word on CORS, where an answer broke off.
    #[test]
    fn an_answer_that_broke_off_is_told_from_none() {
        let mut task = task("a", 0);
        let error = ApiError::Network {
            detail: ApiError::CUT.into(),
        };
        task.poll_error = Some(PollError { since: 0, error });
        let id = TaskId("1".into());
        let word = StatusWord::Processing;
        for state in [
            TaskState::Submitting,
            TaskState::Running {
                id: id.clone(),
                word,
            },
            TaskState::Fetching { id },
        ] {
            task.state = state;
            let said = poll_error_text(&task, 9_000, "https://page.example").unwrap();
            assert_eq!(
                said.details,
                "The service's answer broke off before its end."
            );
            assert!(
                !said.message.contains("does not answer"),
                "{}",
                said.message
            );
            assert!(!said.message.starts_with("No answer"), "{}", said.message);
        }
    }

    /// Guards against a person who does not know how to have what was not read.
    #[test]
    fn what_was_not_read_is_told_with_its_limit_and_a_way_to_have_it() {
        let mut task = task("a", 0);
        task.watching = false;
        let error = ApiError::malformed(ApiError::TOO_LARGE);
        task.poll_error = Some(PollError { since: 0, error });
        let id = TaskId("1".into());
        let word = StatusWord::Processing;
        for (state, most) in [
            (
                TaskState::Running {
                    id: id.clone(),
                    word,
                },
                "larger than 16 MB",
            ),
            (TaskState::Fetching { id }, "larger than 64 MB"),
        ] {
            task.state = state;
            let said = poll_error_text(&task, 9_000, "").unwrap().message;
            assert!(
                said.contains(most) && said.contains("Follow again"),
                "{said}"
            );
        }
    }

    /// Guards against `canceled` next to `Generating.`
    #[test]
    fn a_word_that_is_not_known_is_quoted() {
        let mut task = task("a", 0);
        for (word, expected) in [
            ("processing", None),
            ("", None),
            (
                "canceled",
                Some(
                    "The service says “canceled”. Atelier keeps asking until it says completed or failed.",
                ),
            ),
        ] {
            let id = TaskId("1".into());
            let word = StatusWord::from(word);
            task.state = TaskState::Running { id, word };
            assert_eq!(unknown_word(&task).as_deref(), expected);
        }
    }

    proptest! {
        #[test]
        fn a_part_is_a_part(elapsed: u64, usual: Option<u64>) {
            let fraction = wait_text(elapsed, usual).fraction;
            prop_assert!(fraction.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)));
        }
    }
}
