//! Decides how to show an output whose URL no longer works: first ask the service for a fresh URL, then show this
//! browser's copy, then explain the failure.

use atelier_contract::ApiError;

use atelier_contract::output::OutputKind;

/// The maximum time to wait for the service's response, in milliseconds.
const TIMEOUT_MS: u32 = 15_000;

/// The interval at which to check again, in milliseconds. A page that was just opened may have no leader or no guest
/// account yet.
pub const ASK_MS: u32 = 2_000;

/// The facts about an output whose URL no longer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// Whether the output is a URL or a reference, and not the data itself.
    pub is_link: bool,
    /// Whether the browser was offline at some time since the URL failed.
    pub was_offline: bool,
    /// Whether the task belongs to another service address or User ID than the current one.
    pub is_foreign: bool,
    /// Whether the service has returned the output URLs again.
    pub is_answered: bool,
    /// The time spent waiting for the service's response, in milliseconds.
    pub waited_ms: u32,
    /// Whether this browser has no copy.
    pub has_no_copy: bool,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Ask the service for a fresh URL, and wait [`ASK_MS`] for its response. If the URL differs, show the output
    /// again.
    AskService,
    /// Wait [`ASK_MS`] for the task's account to be set.
    AwaitAccount,
    /// Show the copy, if there is one.
    UseCopy,
    /// Start again once the network is back.
    WaitForNetwork,
    /// Explain the failure: see [`explanation`].
    Explain,
}

impl Facts {
    /// Returns the next step.
    pub fn next(&self) -> Step {
        let may_ask =
            self.is_link && !self.was_offline && !self.is_answered && self.waited_ms < TIMEOUT_MS;
        match self {
            Self {
                has_no_copy: true, ..
            } if self.was_offline => Step::WaitForNetwork,
            Self {
                has_no_copy: true, ..
            } => Step::Explain,
            _ if !may_ask => Step::UseCopy,
            Self {
                is_foreign: false, ..
            } => Step::AskService,
            _ if self.waited_ms == 0 => Step::AwaitAccount,
            _ => Step::UseCopy,
        }
    }
}

/// The result of a request for the output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// The host returns the file, but the browser can't show it.
    There,
    /// The host reports that there is no such file.
    Gone,
    /// The network or the host may be down.
    OutOfReach,
    /// The host answers, but CORS keeps the page from reading the response.
    Unreadable,
    /// The data was stored in this browser, but no longer is.
    NotStored,
}

impl File {
    /// Classifies the response to a request for the first bytes of the file. `is_answered`: the host answers a request
    /// whose response is not read (`no-cors`).
    pub fn of<T>(answer: &Result<T, ApiError>, is_answered: bool) -> Self {
        match answer {
            Ok(_) => Self::There,
            Err(ApiError::Network { .. }) if is_answered => Self::Unreadable,
            Err(error) if error.is_retryable() => Self::OutOfReach,
            Err(_) => Self::Gone,
        }
    }

    /// Whether a later attempt may succeed.
    pub fn may_succeed_later(self) -> bool {
        matches!(self, Self::OutOfReach | Self::Unreadable)
    }
}

/// Explains why an output is not shown and what the user can do. Free options are first. `keeps_outputs`: whether
/// copies of outputs are stored.
pub fn explanation(file: File, is_foreign: bool, keeps_outputs: bool) -> String {
    match file {
        File::There => return cannot_show(None),
        File::Unreadable => {
            return "Not shown: the file's host answers, but does not let this page read the answer (CORS), so the cause is \
                    unknown. Open it in a new tab to see the file or the host's error. Atelier tries again when you return to \
                    this page."
                .into();
        }
        File::Gone | File::OutOfReach | File::NotStored => {}
    }
    let is_gone = matches!(file, File::Gone | File::NotStored);
    let mut parts = vec![match file {
        File::NotStored => {
            "No longer available: the file is not in this browser's storage, and the service did not return it again."
        }
        File::Gone => {
            "No longer available: the service's address for this output no longer works, and no copy was kept."
        }
        _ => {
            "Not loaded: the network or the file's host may be down or blocked, and no copy was kept. Atelier tries again when \
             you return to this page or the network is back."
        }
    }];
    if is_foreign {
        parts.push(
            "The service was not asked for a new address: this task belongs to another service address or User ID.",
        );
    }
    if !keeps_outputs && file != File::NotStored {
        parts.push("To keep copies from now on, turn on Keep outputs in Settings.");
    }
    parts.push(match is_gone {
        true => "Run again generates it again, as a new run.",
        false => "If it stays unavailable, Run again generates it again, as a new run.",
    });
    parts.join(" ")
}

/// Returns the message for a file that exists and that the browser can't show as this kind. Browsers support only some
/// codecs of video and audio files.
pub fn cannot_show(kind: Option<OutputKind>) -> String {
    let what = match kind {
        Some(OutputKind::Video) => "play it: its encoding may not be supported, such as H.265",
        Some(OutputKind::Audio) => "play it",
        _ => "show it",
    };
    format!(
        "Not shown: the file exists, but this browser can't {what}. Download it to open it with another program. If it is \
         damaged, Run again generates it again, as a new run."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Facts = Facts {
        is_link: true,
        was_offline: false,
        is_foreign: false,
        is_answered: false,
        waited_ms: 0,
        has_no_copy: false,
    };

    #[test]
    fn asks_the_service_then_uses_the_copy_then_explains() {
        let foreign = Facts {
            is_foreign: true,
            ..LINK
        };
        let offline = Facts {
            was_offline: true,
            ..LINK
        };
        let without_copy = |facts: Facts| Facts {
            has_no_copy: true,
            ..facts
        };
        let after = |waited_ms: u32, facts: Facts| Facts { waited_ms, ..facts };
        let answered = Facts {
            is_answered: true,
            ..LINK
        };
        let data = Facts {
            is_link: false,
            ..LINK
        };
        for (facts, step) in [
            (LINK, Step::AskService),
            (after(14_000, LINK), Step::AskService),
            (after(16_000, LINK), Step::UseCopy),
            (answered, Step::UseCopy),
            (data, Step::UseCopy),
            (foreign, Step::AwaitAccount),
            (after(2_000, foreign), Step::UseCopy),
            (offline, Step::UseCopy),
            (without_copy(LINK), Step::Explain),
            (without_copy(answered), Step::Explain),
            (without_copy(foreign), Step::Explain),
            (without_copy(data), Step::Explain),
            (without_copy(offline), Step::WaitForNetwork),
        ] {
            assert_eq!(facts.next(), step, "{facts:?}");
        }
    }

    /// An intact file that the browser can't show must be neither loaded repeatedly nor reported as gone.
    #[test]
    fn an_existing_file_is_not_reported_as_gone() {
        let of = |error: ApiError| File::of(&Err::<(), _>(error), false);
        let away = ApiError::Network {
            detail: String::new(),
        };
        assert_eq!(File::of(&Ok(()), false), File::There);
        assert_eq!(
            File::of(&Err::<(), _>(away.clone()), true),
            File::Unreadable
        );
        assert_eq!(of(away), File::OutOfReach);
        assert_eq!(of(ApiError::from_status(404, None, None)), File::Gone);
        assert!(File::OutOfReach.may_succeed_later());
        assert!(!File::There.may_succeed_later() && !File::Gone.may_succeed_later());
        let message = explanation(File::There, false, false);
        assert!(
            message.starts_with("Not shown: the file exists"),
            "{message}"
        );
        let message = cannot_show(Some(OutputKind::Video));
        assert!(
            message.contains("can't play it") && message.contains("Download it"),
            "{message}"
        );
        let message = explanation(File::Unreadable, false, false);
        assert!(
            message.contains("CORS") && !message.contains("No longer available"),
            "{message}"
        );
    }

    /// Every sequence of steps ends, for any responses.
    #[test]
    fn every_sequence_of_steps_ends() {
        for bits in 0..16_u8 {
            let is = |bit: u8| bits & (1 << bit) != 0;
            let mut facts = Facts {
                is_link: is(0),
                was_offline: is(1),
                is_foreign: is(2),
                is_answered: is(3),
                ..LINK
            };
            let steps = std::iter::from_fn(|| {
                let step = facts.next();
                match step {
                    Step::AskService | Step::AwaitAccount => facts.waited_ms += ASK_MS,
                    Step::UseCopy => facts.has_no_copy = true,
                    Step::WaitForNetwork | Step::Explain => return None,
                }
                Some(step)
            });
            assert!(steps.take(20).count() < 20, "{bits:b}");
        }
    }

    #[test]
    fn explains_the_cause_and_the_options() {
        assert_eq!(
            explanation(File::Gone, false, true),
            "No longer available: the service's address for this output no longer works, and no copy was kept. \
             Run again generates it again, as a new run."
        );
        // Advice that costs money is last.
        assert_eq!(
            explanation(File::OutOfReach, true, false),
            "Not loaded: the network or the file's host may be down or blocked, and no copy was kept. Atelier tries again when \
             you return to this page or the network is back. The service was not asked for a new address: this task belongs to \
                 another service address or User ID. To keep copies from now on, turn on Keep outputs in Settings. If it stays \
                     unavailable, Run again generates it again, as a new run."
        );
    }
}
