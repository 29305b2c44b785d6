//! Decides how an output is shown whose address is dead: the service is asked for a fresh address; if that fails, the
//! copy is shown that this browser keeps; and if there is none, a person is told what happened.

use atelier_contract::ApiError;

use atelier_contract::output::OutputKind;

/// How long the service's word on an address is waited for.
const TIMEOUT_MS: u32 = 15_000;

/// A page that has just opened has no leader yet, or not yet the guest's credentials: what is waited for is
/// looked at again this often, in milliseconds.
pub const ASK_MS: u32 = 2_000;

/// The knowledge about such an output so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// It is an address that a service gave, or a reference to data that it gave; not the data itself.
    pub is_link: bool,
    /// There was no network at some time since the address was found dead.
    pub was_offline: bool,
    /// The task belongs to another service address or User ID than the ones that are set.
    pub is_foreign: bool,
    /// The service has said again where the task's outputs are.
    pub is_answered: bool,
    /// How long its word was waited for, in milliseconds.
    pub waited_ms: u32,
    /// A copy was looked for, and there is none.
    pub has_no_copy: bool,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Ask the service for a fresh address, and wait for its word for [`ASK_MS`]. With another address
    /// the output is shown anew.
    AskService,
    /// Wait for [`ASK_MS`] whether the credentials come that the task belongs to.
    AwaitAccount,
    /// Show the copy, if there is one.
    UseCopy,
    /// Try from the beginning once there is a network.
    WaitForNetwork,
    /// Say what happened: see [`explanation`].
    Explain,
}

impl Facts {
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

/// The knowledge about the file at such an address, once it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// Its host gives it, and the browser can't show it.
    There,
    /// Its host says that there is none.
    Gone,
    /// The network may be down, or its host.
    OutOfReach,
    /// Its host answers, and does not let the page read what it says (CORS).
    Unreadable,
    /// The service gave it as data, which was stored in this browser, and is not there any more.
    NotStored,
}

impl File {
    /// By the answer to a request for its first bytes; `is_answered`: its host answers a request of which nothing is read.
    pub fn of<T>(answer: &Result<T, ApiError>, is_answered: bool) -> Self {
        match answer {
            Ok(_) => Self::There,
            Err(ApiError::Network { .. }) if is_answered => Self::Unreadable,
            Err(error) if error.is_retryable() => Self::OutOfReach,
            Err(_) => Self::Gone,
        }
    }

    /// Another try at another time may show it.
    pub fn is_worth_another_try(self) -> bool {
        matches!(self, Self::OutOfReach | Self::Unreadable)
    }
}

/// Why the output is not shown, and what can be done: what costs nothing first. `keeps_outputs`: copies are made of
/// other ones.
pub fn explanation(file: File, is_foreign: bool, keeps_outputs: bool) -> String {
    match file {
        File::There => return cannot_show(None),
        File::Unreadable => {
            return "Not shown: the file's host answers, but does not let this page read the answer (CORS). So the page can't \
                    tell what is wrong with the file. Open it in a new tab to see it, or what its host says. It is tried again \
                    by itself once you return to this page."
                .into();
        }
        File::Gone | File::OutOfReach | File::NotStored => {}
    }
    let is_gone = matches!(file, File::Gone | File::NotStored);
    let mut parts = vec![match file {
        File::NotStored => {
            "No longer available: the file can't be found in this browser's storage, and the service has not given it again."
        }
        File::Gone => {
            "No longer available: the service's address for this output is dead and no copy was kept."
        }
        _ => {
            "Not loaded: the network may be away or blocked, or the file's host is down; no copy was kept. It is tried again by itself once you return to this page, or the network does."
        }
    }];
    if is_foreign {
        parts.push(
            "The service was not asked for a fresh one: this task belongs to another service address or User ID.",
        );
    }
    if !keeps_outputs && file != File::NotStored {
        parts.push("Keep outputs, in Settings, makes copies from now on.");
    }
    parts.push(match is_gone {
        true => "Run again makes it anew, as a new run.",
        false => "Should it stay away, Run again makes it anew, as a new run.",
    });
    parts.join(" ")
}

/// The message for a file that is there and that the browser can't show, as what it was tried. A browser plays only some of
/// the formats that a film or a sound may have inside.
pub fn cannot_show(kind: Option<OutputKind>) -> String {
    let what = match kind {
        Some(OutputKind::Video) => {
            "play it: it may be encoded in a way that this browser doesn't know, such as H.265"
        }
        Some(OutputKind::Audio) => "play it",
        _ => "show it",
    };
    format!(
        "Not shown: the file is there, and this browser can't {what}. Download it, to open it with another program. Should it \
         be broken, Run again makes it anew, as a new run."
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
    fn the_service_is_asked_then_the_copy_looked_for_then_it_is_explained() {
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

    /// Guards against a picture that is loaded again and again although it is whole and the browser can't show it, and of
    /// which it is said that it is gone.
    #[test]
    fn a_file_that_is_there_is_not_said_to_be_gone() {
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
        assert!(File::OutOfReach.is_worth_another_try());
        assert!(!File::There.is_worth_another_try() && !File::Gone.is_worth_another_try());
        let said = explanation(File::There, false, false);
        assert!(said.starts_with("Not shown: the file is there"), "{said}");
        let said = cannot_show(Some(OutputKind::Video));
        assert!(
            said.contains("can't play it") && said.contains("Download it"),
            "{said}"
        );
        let said = explanation(File::Unreadable, false, false);
        assert!(
            said.contains("CORS") && !said.contains("No longer available"),
            "{said}"
        );
    }

    /// Every way leads to an end, whatever the answers are.
    #[test]
    fn it_comes_to_an_end() {
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
    fn it_says_what_happened_and_what_to_do() {
        assert_eq!(
            explanation(File::Gone, false, true),
            "No longer available: the service's address for this output is dead and no copy was kept. \
             Run again makes it anew, as a new run."
        );
        // What costs is the last advice.
        assert_eq!(
            explanation(File::OutOfReach, true, false),
            "Not loaded: the network may be away or blocked, or the file's host is down; no copy was kept. It is tried again by itself once you return to this page, or the network does. The \
             service was not asked for a fresh one: this task belongs to another service address or User ID. Keep \
             outputs, in Settings, makes copies from now on. Should it stay away, Run again makes it anew, as a new \
             run."
        );
    }
}
