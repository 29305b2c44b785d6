//! What is said while a task runs: what it usually takes, and from then on how long it has taken. The median is
//! what is said, never a range of it: a wait that is longer than usual must not be called usual.

use atelier_contract::{ApiError, StatusWord};

use crate::{Millis, Phase, Task, TaskState, duration};

const SECOND: Millis = 1_000;

/// How a wait stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// A sentence.
    pub said: String,
    /// The part that is over, 0 to 1, while less has passed than is usual.
    pub part: Option<f64>,
}

/// `usual`: the median of what came before, if anything did.
pub fn waiting(elapsed: Millis, usual: Option<Millis>) -> Waiting {
    let Some(usual) = usual else {
        return Waiting {
            said: "Generating.".into(),
            part: None,
        };
    };
    let part = (elapsed < usual).then(|| elapsed as f64 / usual as f64);
    let said = if elapsed < SECOND {
        "Generating.".into()
    } else if elapsed / SECOND <= usual.div_ceil(SECOND) {
        said_of(usual)
    } else {
        format!(
            "{}, longer than the usual {}.",
            duration::text(elapsed),
            length(usual)
        )
    };
    Waiting { said, part }
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
pub fn said_of(usual: Millis) -> String {
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
pub struct Trouble {
    /// What happens about it, and what it may cost.
    pub said: String,
    /// For who wants to know.
    pub why: String,
}

/// No answer came, or none that settles it, and it goes on being tried. Submissions are only tried again under a key that the service
/// takes once. `page_origin`: that of the page.
pub fn trouble(task: &Task, now: Millis, page_origin: &str) -> Option<Trouble> {
    let trouble = task.poll_error.as_ref()?;
    let since = rough(now.saturating_sub(trouble.since));
    let error = task.account.user_message(&trouble.error, page_origin);
    let is_refused = matches!(trouble.error, ApiError::Unauthorized { .. });
    let again = format!("No answer for {since}. Trying again");
    let (said, why) = match (task.state.phase(), &task.idempotency_key) {
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
            format!("No answer for {since}. The service may have received it, and may bill it."),
            error,
        ),
        _ => (
            format!(
                "Status unknown for {since}. The service does not answer; it is asked again by itself."
            ),
            error,
        ),
    };
    Some(Trouble { said, why })
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
        let said = |elapsed, usual| waiting(elapsed, usual).said;
        assert_eq!(said(400, Some(3_200)), "Generating.");
        assert_eq!(said(1_000, Some(3_200)), "Usually 3 s.");
        assert_eq!(said(4_000, Some(3_200)), "Usually 3 s.");
        assert_eq!(
            said(11_300, Some(3_200)),
            "11 s, longer than the usual 3 s."
        );
        assert_eq!(said(20_000, Some(170_000)), "Usually about 3 min.");
        assert_eq!(said(60_000, None), "Generating.");
        assert_eq!(said(1_500, Some(300)), "Usually 1 s.");
    }

    #[test]
    fn the_bar_goes_as_far_as_is_usual_and_says_nothing_beyond() {
        assert_eq!(waiting(1_600, Some(3_200)).part, Some(0.5));
        assert_eq!(waiting(3_200, Some(3_200)).part, None);
        assert_eq!(waiting(0, Some(0)).part, None);
        assert_eq!(waiting(5_000, None).part, None);
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
        assert_eq!(trouble(&task, 63_000, ""), None);
        task.poll_error = Some(PollError {
            since: 0,
            error: ApiError::Timeout { after_ms: 5 },
        });
        let said = trouble(&task, 63_000, "").unwrap().said;
        assert!(said.starts_with("No answer for 1 min. "), "{said}");
        assert!(!said.contains("once at most"), "{said}");
        task.idempotency_key = Some("a".into());
        assert_eq!(
            trouble(&task, 63_000, "").unwrap().said,
            "No answer for 1 min. Trying again; you will be billed once at most."
        );
        // Two had been taken when it was said.
        task.resubmitted = true;
        let said = trouble(&task, 63_000, "").unwrap().said;
        assert!(said.contains("beside what was sent before it"), "{said}");
    }

    /// Guards against `No answer` where one came.
    #[test]
    fn refused_credentials_are_an_answer() {
        let mut task = task("a", 0);
        task.state = TaskState::Submitting;
        task.idempotency_key = Some("a".into());
        let error = ApiError::from_status(401, None, None);
        task.poll_error = Some(PollError { since: 0, error });
        let said = trouble(&task, 1_000, "").unwrap().said;
        assert!(
            said.starts_with("The service refuses the credentials. "),
            "{said}"
        );
    }

    /// Guards against `canceled` beside `Generating.`
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
            let part = waiting(elapsed, usual).part;
            prop_assert!(part.is_none_or(|part| (0.0..=1.0).contains(&part)));
        }
    }
}
