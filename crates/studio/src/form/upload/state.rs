//! The state machine of one upload. Failures that may pass are retried; all others end it.

use atelier_contract::{ApiError, Uploaded};
use atelier_engine::Millis;

use crate::output::output_cache::size;

/// The wait before the first retry, which doubles with each failure in a row, and its maximum, in milliseconds.
const FIRST_WAIT: Millis = 1_000;
const MAX_WAIT: Millis = 30_000;

/// The number of failures in a row after which an upload ends. While the service can't be reached and no byte was sent, the
/// upload is retried endlessly.
const MAX_FAILURES: u32 = 8;

const RATE_LIMITED: &str = "The service limits the rate of calls.";

#[derive(Debug, Clone, PartialEq)]
pub enum UploadState {
    /// Nothing is sent yet.
    Waiting,
    /// The numbers are bytes.
    Sending {
        sent: u64,
        total: u64,
    },
    /// Nothing can be sent at present.
    Blocked(Block),
    /// The last attempt failed, or the service limits the rate of calls.
    RetryingAt {
        at: Millis,
        message: String,
        /// Whether the user may try before that time.
        can_skip: bool,
    },
    /// A copy for the request is made.
    Embedding,
    Done(Uploaded),
    Failed {
        message: String,
        /// Whether another attempt with the same file may succeed.
        can_retry: bool,
    },
    Canceled,
}

/// Why nothing can be sent. The upload goes on by itself when that changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block {
    Offline,
    /// There is no account for the service of the upload.
    NoAccount,
}

impl Block {
    fn user_message(self) -> &'static str {
        match self {
            Self::Offline => "You are offline. The upload continues when you're back online.",
            Self::NoAccount => {
                "Uploading needs an account: enter User ID and Access token in Settings. The upload then continues."
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UploadEvent {
    Blocked(Block),
    /// The service allows no calls before this time.
    RateLimited(Millis),
    /// An attempt begins.
    Started {
        total: u64,
    },
    /// Bytes were sent in the current attempt.
    Progress {
        sent: u64,
        total: u64,
    },
    /// The current attempt ended. `failures`: the number of failed attempts in a row, with this one.
    Ended {
        result: Result<Uploaded, ApiError>,
        failures: u32,
        now: Millis,
    },
    /// The service accepted the file, but it does not fit the parameter.
    Unfit {
        message: String,
    },
    /// The user cancels the upload, or changes the field.
    Cancel,
    /// The user tries a failed upload again, or does not wait for the next attempt.
    Retry,
    /// The user wants the picture to be put into the request instead.
    Embed,
    /// The picture is put into the request instead; otherwise a message.
    Embedded(Result<Uploaded, String>),
}

impl UploadState {
    /// Returns the state after an event. Events that don't fit the state change nothing.
    pub fn after(&self, event: UploadEvent) -> Self {
        match (self, event) {
            (
                Self::Failed {
                    can_retry: true, ..
                }
                | Self::RetryingAt { can_skip: true, .. },
                UploadEvent::Retry,
            ) => Self::Waiting,
            (Self::Failed { .. }, UploadEvent::Embed) => Self::Embedding,
            (state, _) if !state.is_running() => state.clone(),
            (_, UploadEvent::Cancel) => Self::Canceled,
            (Self::Embedding, UploadEvent::Embedded(Ok(uploaded))) => Self::Done(uploaded),
            (Self::Embedding, UploadEvent::Embedded(Err(message))) => Self::Failed {
                message,
                can_retry: false,
            },
            (Self::Embedding, _) => Self::Embedding,
            (state, event) if !matches!(state, Self::Sending { .. }) => match event {
                UploadEvent::Blocked(block) => Self::Blocked(block),
                UploadEvent::RateLimited(at) => Self::RetryingAt {
                    at,
                    message: RATE_LIMITED.to_owned(),
                    can_skip: false,
                },
                UploadEvent::Started { total } => Self::Sending { sent: 0, total },
                UploadEvent::Unfit { message } => Self::Failed {
                    message,
                    can_retry: false,
                },
                _ => state.clone(),
            },
            (Self::Sending { .. }, UploadEvent::Progress { sent, total }) => Self::Sending {
                sent: sent.min(total),
                total,
            },
            (
                Self::Sending { sent, .. },
                UploadEvent::Ended {
                    result,
                    failures,
                    now,
                },
            ) => match result {
                Ok(uploaded) => Self::Done(uploaded),
                Err(error) => after_failure(&error, *sent, failures, now),
            },
            (_, UploadEvent::Unfit { message }) => Self::Failed {
                message,
                can_retry: false,
            },
            (state, _) => state.clone(),
        }
    }

    /// Whether the upload will go on by itself.
    pub fn is_running(&self) -> bool {
        matches!(
            self,
            Self::Waiting
                | Self::Blocked(_)
                | Self::Sending { .. }
                | Self::RetryingAt { .. }
                | Self::Embedding
        )
    }
}

/// Returns the state after a failed attempt, in which `sent` bytes were sent: a retry, or the end.
fn after_failure(error: &ApiError, sent: u64, failures: u32, now: Millis) -> UploadState {
    let message = message(error);
    let may_pass = match error {
        // Another attempt would send the whole file to the same place again.
        ApiError::Network { detail } => detail != ApiError::REDIRECTED,
        ApiError::Timeout { .. } | ApiError::RateLimited { .. } | ApiError::Server { .. } => true,
        _ => false,
    };
    let is_endless = error.is_unreachable() && sent == 0;
    if may_pass && (is_endless || failures < MAX_FAILURES) {
        let doublings = failures.saturating_sub(1).min(10);
        let wait = (FIRST_WAIT << doublings).min(MAX_WAIT);
        let wait = wait.max(error.retry_after_ms().unwrap_or_default());
        let at = now.saturating_add(wait);
        return UploadState::RetryingAt {
            at,
            message,
            can_skip: error.retry_after_ms().is_none(),
        };
    }
    UploadState::Failed {
        message,
        // The same bytes would be refused again.
        can_retry: !matches!(error, ApiError::Invalid { .. }) && !is_without_uploads(error),
    }
}

/// Whether an error means that the service accepts no uploads: 404, 405, or a 403 whose message is about uploads.
pub fn is_without_uploads(error: &ApiError) -> bool {
    match error {
        ApiError::NotFound { .. } => true,
        ApiError::Unauthorized {
            message,
            is_forbidden: true,
        } => message.to_ascii_lowercase().contains("upload"),
        _ => false,
    }
}

/// Returns the message of a failure: the service's own words if there are any.
fn message(error: &ApiError) -> String {
    match error {
        ApiError::Invalid { message, .. } if !message.is_empty() => message.clone(),
        ApiError::Unauthorized { message, .. }
            if (error.is_other_refusal() || is_without_uploads(error)) && !message.is_empty() =>
        {
            message.clone()
        }
        ApiError::NotFound { .. } => {
            "This service takes addresses only: enter the address of the file.".to_owned()
        }
        _ => error.user_message(),
    }
}

/// Returns the share that is sent, in percent.
pub fn percent(sent: u64, total: u64) -> u64 {
    match total {
        0 => 0,
        _ => (u128::from(sent.min(total)) * 100 / u128::from(total)) as u64,
    }
}

/// Returns the progress of a running upload in numbers; empty for others.
pub fn progress_text(state: &UploadState) -> String {
    match state {
        // The service checks the file.
        UploadState::Sending { sent, total } if sent == total && *total > 0 => "100 %".to_owned(),
        UploadState::Sending { sent, total } => {
            let (sent_size, total_size) = (size(*sent), size(*total));
            format!("{} %, {sent_size} of {total_size}", percent(*sent, *total))
        }
        _ => String::new(),
    }
}

/// Returns why a running upload does not proceed at present; empty for others. `time`: formats a time of day.
pub fn wait_text(state: &UploadState, time: impl Fn(Millis) -> String) -> String {
    match state {
        UploadState::Waiting => "Waiting".to_owned(),
        UploadState::Embedding => "Making a copy for the request".to_owned(),
        UploadState::Blocked(block) => block.user_message().to_owned(),
        UploadState::RetryingAt { at, message, .. } => {
            format!("{message} Next try at {}.", time(*at))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> ApiError {
        ApiError::Network { detail: "x".into() }
    }

    fn sending() -> UploadState {
        UploadState::Waiting.after(UploadEvent::Started { total: 100 })
    }

    fn failed(error: ApiError, failures: u32) -> UploadState {
        sending().after(UploadEvent::Ended {
            result: Err(error),
            failures,
            now: 1_000_000,
        })
    }

    fn wait_of(state: &UploadState) -> Option<Millis> {
        match state {
            UploadState::RetryingAt { at, .. } => Some(at - 1_000_000),
            _ => None,
        }
    }

    /// Guards against a file that is sent again and again to a service, or a proxy, that never accepts it.
    #[test]
    fn failures_that_may_not_pass_are_not_retried_endlessly() {
        let half = sending().after(UploadEvent::Progress {
            sent: 50,
            total: 100,
        });
        let after = |failures| {
            half.after(UploadEvent::Ended {
                result: Err(network()),
                failures,
                now: 1_000_000,
            })
        };
        assert!(wait_of(&after(MAX_FAILURES - 1)).is_some());
        assert!(matches!(
            after(MAX_FAILURES),
            UploadState::Failed {
                can_retry: true,
                ..
            }
        ));
        let redirected = ApiError::Network {
            detail: ApiError::REDIRECTED.into(),
        };
        assert!(matches!(failed(redirected, 1), UploadState::Failed { .. }));
    }

    #[test]
    fn an_upload_is_sent_and_done() {
        let uploaded = Uploaded {
            url: "http://a/b".into(),
            ..Uploaded::default()
        };
        let state = sending();
        assert_eq!(
            state,
            UploadState::Sending {
                sent: 0,
                total: 100
            }
        );
        let state = state.after(UploadEvent::Progress {
            sent: 120,
            total: 100,
        });
        assert_eq!(
            state,
            UploadState::Sending {
                sent: 100,
                total: 100
            }
        );
        let done = state.after(UploadEvent::Ended {
            result: Ok(uploaded.clone()),
            failures: 0,
            now: 0,
        });
        assert_eq!(done, UploadState::Done(uploaded));
        for event in [
            UploadEvent::Cancel,
            UploadEvent::Retry,
            UploadEvent::Started { total: 1 },
        ] {
            assert_eq!(done.after(event), done);
        }
    }

    #[test]
    fn an_unreachable_service_is_retried_endlessly_with_backoff() {
        let waits = [1, 2, 3, 5, 6, 100].map(|failures| wait_of(&failed(network(), failures)));
        let expected = [1_000, 2_000, 4_000, 16_000, 30_000, 30_000].map(Some);
        assert_eq!(waits, expected);
        for status in [408, 502, 503, 504] {
            let error = ApiError::from_status(status, None, None);
            assert!(wait_of(&failed(error, 1_000)).is_some(), "{status}");
        }
        let again = failed(network(), 1).after(UploadEvent::Started { total: 100 });
        assert_eq!(again, sending());
    }

    #[test]
    fn retry_after_is_a_minimum() {
        for (status, retry_after, wait) in [
            (429, Some(5_000), 5_000),
            (429, Some(0), 1_000),
            (429, None, 1_000),
            (503, Some(90_000), 90_000),
            (500, None, 1_000),
        ] {
            let error = ApiError::from_status(status, None, retry_after);
            assert_eq!(wait_of(&failed(error, 1)), Some(wait), "{status}");
        }
    }

    #[test]
    fn a_service_that_keeps_failing_ends_the_upload() {
        for status in [429, 500, 507] {
            let error = ApiError::from_status(status, None, None);
            assert!(wait_of(&failed(error.clone(), 7)).is_some());
            let state = failed(error, 8);
            assert!(
                matches!(
                    state,
                    UploadState::Failed {
                        can_retry: true,
                        ..
                    }
                ),
                "{state:?}"
            );
            assert_eq!(state.after(UploadEvent::Retry), UploadState::Waiting);
        }
    }

    #[test]
    fn refusals_are_final_and_show_the_message_of_the_service() {
        let body = serde_json::json!({"success": false, "message": "The image can't be decoded."});
        for (status, is_retryable) in [
            (400, false),
            (413, false),
            (415, false),
            (422, false),
            (401, true),
            (402, true),
            (403, true),
        ] {
            let state = failed(ApiError::from_status(status, Some(&body), None), 1);
            let UploadState::Failed { message, can_retry } = state else {
                panic!("{status}: {state:?}");
            };
            assert!(
                message.contains("The image can't be decoded."),
                "{status}: {message}"
            );
            assert_eq!(can_retry, is_retryable, "{status}");
        }
    }

    /// Guards against a dead end: the page offers to put the picture into the request instead.
    #[test]
    fn a_service_without_uploads_is_recognized() {
        let off =
            serde_json::json!({"success": false, "message": "This service accepts no uploads."});
        let token =
            serde_json::json!({"success": false, "message": "The access token is not valid."});
        for (status, body, expected) in [
            (404, None, true),
            (405, None, true),
            (403, Some(&off), true),
            (403, Some(&token), false),
            (401, Some(&token), false),
            (415, Some(&off), false),
            (503, None, false),
        ] {
            let error = ApiError::from_status(status, body, None);
            assert_eq!(is_without_uploads(&error), expected, "{status}");
            if expected {
                let state = failed(error, 1);
                assert!(
                    matches!(
                        state,
                        UploadState::Failed {
                            can_retry: false,
                            ..
                        }
                    ),
                    "{state:?}"
                );
            }
        }
    }

    #[test]
    fn a_blocked_upload_goes_on() {
        for block in [Block::Offline, Block::NoAccount] {
            let blocked = UploadState::Waiting.after(UploadEvent::Blocked(block));
            assert_eq!(blocked, UploadState::Blocked(block));
            assert!(blocked.is_running());
            assert_eq!(
                blocked.after(UploadEvent::Started { total: 100 }),
                sending()
            );
            assert_eq!(blocked.after(UploadEvent::Cancel), UploadState::Canceled);
        }
        assert_eq!(
            sending().after(UploadEvent::Blocked(Block::Offline)),
            sending()
        );
    }

    #[test]
    fn a_rate_limit_is_shown_and_cannot_be_skipped() {
        let limited = UploadState::Waiting.after(UploadEvent::RateLimited(7));
        let text = wait_text(&limited, |at| format!("00:00:0{at}"));
        assert_eq!(
            text,
            "The service limits the rate of calls. Next try at 00:00:07."
        );
        assert_eq!(limited.after(UploadEvent::Retry), limited);
        let asked = failed(ApiError::from_status(429, None, Some(5_000)), 1);
        assert_eq!(asked.after(UploadEvent::Retry), asked);
        let lost = failed(network(), 1);
        assert_eq!(lost.after(UploadEvent::Retry), UploadState::Waiting);
    }

    #[test]
    fn a_running_upload_can_be_canceled() {
        for state in [UploadState::Waiting, sending(), failed(network(), 1)] {
            assert_eq!(state.after(UploadEvent::Cancel), UploadState::Canceled);
        }
        let refused = failed(ApiError::from_status(415, None, None), 1);
        for event in [UploadEvent::Cancel, UploadEvent::Retry] {
            assert_eq!(refused.after(event), refused);
        }
    }

    #[test]
    fn a_refused_picture_can_be_embedded() {
        let refused = failed(ApiError::from_status(404, None, None), 1);
        let embedding = refused.after(UploadEvent::Embed);
        assert_eq!(embedding, UploadState::Embedding);
        // Generate waits for the copy.
        assert!(embedding.is_running());
        let embedded = Uploaded::default();
        let event = UploadEvent::Embedded(Ok(embedded.clone()));
        assert_eq!(embedding.after(event.clone()), UploadState::Done(embedded));
        assert_eq!(embedding.after(UploadEvent::Cancel), UploadState::Canceled);
        // The user has canceled it, or has chosen another file meanwhile.
        for state in [UploadState::Canceled, sending(), refused] {
            assert_eq!(state.after(event.clone()), state);
        }
        let broken = embedding.after(UploadEvent::Embedded(Err("It is broken.".into())));
        assert!(matches!(
            broken,
            UploadState::Failed {
                can_retry: false,
                ..
            }
        ));
    }

    #[test]
    fn progress_in_words() {
        let text = |sent, total| progress_text(&UploadState::Sending { sent, total });
        assert_eq!(text(0, 12_000_000), "0 %, 0 kB of 12 MB");
        assert_eq!(text(3_240_000, 12_000_000), "27 %, 3.3 MB of 12 MB");
        assert_eq!(text(12_000_000, 12_000_000), "100 %");
        assert_eq!(text(0, 0), "0 %, 0 kB of 0 kB");
        assert_eq!(percent(u64::MAX, u64::MAX), 100);
        assert_eq!(progress_text(&UploadState::Canceled), "");
        let wait = |state| wait_text(&state, |at| at.to_string());
        assert!(wait(failed(network(), 1)).ends_with(" Next try at 1001000."));
        assert_eq!(wait(sending()), "");
    }
}
