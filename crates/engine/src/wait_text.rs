//! Makes the messages of a running task: first its usual duration and, once that has passed, the elapsed time. The
//! usual duration is the median instead of a range, so that a longer wait is not called usual.

use atelier_contract::{ApiError, StatusWord};

use crate::engine::{MAX_BYTES, MAX_OUTPUT_BYTES};
use crate::{Millis, Phase, Task, TaskState, duration};

const SECOND: Millis = 1_000;

/// The progress of a wait.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitText {
    /// The message, a complete sentence.
    pub message: String,
    /// The elapsed fraction of the usual duration, from 0 to 1; `None` after it has passed.
    pub fraction: Option<f64>,
}

/// Returns the message of a running task. `usual` is the median of earlier durations in milliseconds, if there are any.
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
            usual_duration(usual)
        )
    };
    WaitText { message, fraction }
}

/// Whether the service has accepted the task and answers polls, so that a progress bar makes sense.
pub fn is_under_way(task: &Task) -> bool {
    task.state.id().is_some() && task.poll_error.is_none()
}

/// Returns a message that quotes the service's status if the interface doesn't define it. The status may be final, but
/// the task is still polled.
pub fn unknown_word(task: &Task) -> Option<String> {
    let TaskState::Running { word, .. } = &task.state else {
        return None;
    };
    match word {
        StatusWord::Other(word) if !word.is_empty() => Some(format!(
            "The service reports “{word}”. Atelier keeps checking until it reports completed or failed."
        )),
        _ => None,
    }
}

/// Returns the usual duration: `Usually 3 s.`
pub fn usual_text(usual: Millis) -> String {
    format!("Usually {}.", usual_duration(usual))
}

/// Formats the usual duration, rounded.
fn usual_duration(usual: Millis) -> String {
    match usual {
        0..57_500 => format!("{} s", ((usual + SECOND / 2) / SECOND).max(1)),
        _ => duration::about(usual),
    }
}

/// The message about a task whose status is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct PollErrorText {
    /// The next step, and its possible cost.
    pub message: String,
    /// Details on the cause.
    pub details: String,
}

/// Returns the message for a poll or submission that failed and is retried. Submissions are retried only with an
/// idempotency key. `page_origin` is the origin of the page.
pub fn poll_error_text(task: &Task, now: Millis, page_origin: &str) -> Option<PollErrorText> {
    let poll_error = task.poll_error.as_ref()?;
    if poll_error.error.is_too_large() && !task.watching {
        let (done, most) = match task.state.phase() {
            Phase::Fetching => (
                "Completed, but the answer with the output",
                MAX_OUTPUT_BYTES,
            ),
            _ => ("The status from the service", MAX_BYTES),
        };
        let most = most >> 20;
        return Some(PollErrorText {
            message: format!(
                "{done} is larger than {most} MB and was not read. It is not requested again automatically; press Follow again."
            ),
            details: "The service has the task under its task id. Fewer or smaller outputs make a smaller answer, especially if \
                      the service puts them into it instead of their addresses."
                .to_owned(),
        });
    }
    let since = rough_duration(now.saturating_sub(poll_error.since));
    let error = task.account.user_message(&poll_error.error, page_origin);
    if task.state.phase() == Phase::Queued {
        return task.paused.then(|| PollErrorText {
            message: "Not accepted. It is sent again once its batch is resumed.".to_owned(),
            details: error,
        });
    }
    let is_refused = matches!(poll_error.error, ApiError::Unauthorized { .. })
        && !poll_error.error.is_other_refusal();
    // A response that was cut off is still a response.
    let is_unanswered = poll_error.error.is_unreachable() && !poll_error.error.is_cut_off();
    let none = match is_unanswered {
        true => format!("No answer for {since}"),
        // The service answers, but the response doesn't contain the task's status.
        false => format!("No usable answer for {since}"),
    };
    let again = format!("{none}. Trying again");
    let (message, details) = match (task.state.phase(), &task.idempotency_key) {
        // A key is valid only with its token. With another token, the call would be a new submission.
        (Phase::Submitting, Some(_)) if is_refused => (
            "The service refuses the credentials. The task is sent again if they are accepted later; if you change them, you decide."
                .to_owned(),
            format!("{error} The earlier submission may have been accepted."),
        ),
        // The earlier submission may have had another key, or another token.
        (Phase::Submitting, Some(_)) if task.resubmitted => (
            format!("{again}; this submission is billed at most once, in addition to earlier ones."),
            format!(
                "{error} It is sent again with its key, which the service accepts once. The earlier submission may have been \
                 accepted as well."
            ),
        ),
        (Phase::Submitting, Some(_)) => (
            format!("{again}; you will be billed at most once."),
            format!(
                "{error} It is sent again with the same key, which the service accepts once."
            ),
        ),
        (Phase::Submitting, None) => (
            format!("{none}. The service may have received it, and may bill it."),
            error,
        ),
        (Phase::Fetching, _) => (
            format!(
                "Completed; the output could not be fetched for {since}. Atelier keeps trying."
            ),
            error,
        ),
        _ if is_unanswered => (
            format!(
                "Status unknown for {since}. The service does not answer; Atelier keeps trying."
            ),
            error,
        ),
        _ => (
            format!(
                "Status unknown for {since}. The service does not report it; Atelier keeps trying."
            ),
            error,
        ),
    };
    Some(PollErrorText { message, details })
}

/// Formats a duration, without the seconds above a minute.
fn rough_duration(ms: Millis) -> String {
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

    /// A task that takes longer than usual must not show only its usual duration.
    #[test]
    fn a_longer_wait_than_usual_is_shown() {
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
    fn the_fraction_ends_at_the_usual_duration() {
        assert_eq!(wait_text(1_600, Some(3_200)).fraction, Some(0.5));
        assert_eq!(wait_text(3_200, Some(3_200)).fraction, None);
        assert_eq!(wait_text(0, Some(0)).fraction, None);
        assert_eq!(wait_text(5_000, None).fraction, None);
    }

    /// A task that was never sent has no progress.
    #[test]
    fn only_accepted_tasks_with_answers_are_under_way() {
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

    /// Without a key, a resend may be charged twice.
    #[test]
    fn promises_a_single_charge_only_with_a_key() {
        let mut task = task("a", 0);
        task.state = TaskState::Submitting;
        assert_eq!(poll_error_text(&task, 63_000, ""), None);
        task.poll_error = Some(PollError {
            since: 0,
            error: ApiError::Timeout { after_ms: 5 },
        });
        let message = poll_error_text(&task, 63_000, "").unwrap().message;
        assert!(message.starts_with("No answer for 1 min. "), "{message}");
        assert!(!message.contains("at most once"), "{message}");
        task.idempotency_key = Some("a".into());
        assert_eq!(
            poll_error_text(&task, 63_000, "").unwrap().message,
            "No answer for 1 min. Trying again; you will be billed at most once."
        );
        // After two submissions, there may be two charges.
        task.resubmitted = true;
        let message = poll_error_text(&task, 63_000, "").unwrap().message;
        assert!(message.contains("in addition to earlier ones"), "{message}");
    }

    /// A refusal is an answer.
    #[test]
    fn refused_credentials_count_as_an_answer() {
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

    /// The status of a completed task is known, and a service that returns an error answers.
    #[test]
    fn distinguishes_an_unknown_status_from_an_unfetched_output() {
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

    /// A response that was cut off is an answer, and has no hint about CORS.
    #[test]
    fn a_response_that_was_cut_off_is_not_reported_as_missing() {
        let mut task = task("a", 0);
        let error = ApiError::Network {
            detail: ApiError::CUT_OFF.into(),
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
            let text = poll_error_text(&task, 9_000, "https://page.example").unwrap();
            assert_eq!(text.details, "The service's answer was cut off.");
            assert!(
                !text.message.contains("does not answer"),
                "{}",
                text.message
            );
            assert!(!text.message.starts_with("No answer"), "{}", text.message);
        }
    }

    /// The message must explain how to get an output that was too large.
    #[test]
    fn an_oversized_response_shows_its_limit_and_how_to_refetch() {
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
            let text = poll_error_text(&task, 9_000, "").unwrap().message;
            assert!(
                text.contains(most) && text.contains("Follow again"),
                "{text}"
            );
        }
    }

    /// An undefined status such as `canceled` must not be shown next to `Generating.`
    #[test]
    fn quotes_an_unknown_status() {
        let mut task = task("a", 0);
        for (word, expected) in [
            ("processing", None),
            ("", None),
            (
                "canceled",
                Some(
                    "The service reports “canceled”. Atelier keeps checking until it reports completed or failed.",
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
        fn the_fraction_is_between_0_and_1(elapsed: u64, usual: Option<u64>) {
            let fraction = wait_text(elapsed, usual).fraction;
            prop_assert!(fraction.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)));
        }
    }
}
