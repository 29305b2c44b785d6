//! What is done for an output whose address is dead: the service is asked for a fresh one, else the copy
//! is shown that this browser keeps, else it is said what happened.

/// How long the service's word on an address is waited for.
const TIMEOUT_MS: u32 = 15_000;

/// A page that has just opened has no leader yet, or not yet the guest's credentials: what is waited for
/// is looked at again this often.
pub const ASK_MS: u32 = 2_000;

/// What is known so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// It is an address that a service gave, not the data itself.
    pub is_link: bool,
    /// There was no network at some time since the address was found dead.
    pub was_offline: bool,
    /// The task belongs to another service address or User ID than the ones that are set.
    pub is_foreign: bool,
    /// The service has said again where the task's outputs are.
    pub is_answered: bool,
    /// How long its word was waited for.
    pub waited_ms: u32,
    /// A copy was looked for, and there is none.
    pub has_no_copy: bool,
}

/// What is to be done next.
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

/// Why the output is not shown, and what can be done. `is_dead`: its host says so; else it may not let the
/// page load it. `keeps_outputs`: copies are made of other ones.
pub fn explanation(is_dead: bool, is_foreign: bool, keeps_outputs: bool) -> String {
    let mut parts = vec![match is_dead {
        true => {
            "No longer available: the service's address for this output is dead and no copy was kept."
        }
        false => {
            "Not shown: the file is gone, or its host does not let this page load it; no copy was kept."
        }
    }];
    if is_foreign {
        parts.push(
            "The service was not asked for a fresh one: this task belongs to another service address or User ID.",
        );
    }
    parts.push("Run again makes it anew.");
    if !keeps_outputs {
        parts.push("Keep outputs, in Settings, makes copies from now on.");
    }
    parts.join(" ")
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
            explanation(true, false, true),
            "No longer available: the service's address for this output is dead and no copy was kept. \
             Run again makes it anew."
        );
        assert_eq!(
            explanation(false, true, false),
            "Not shown: the file is gone, or its host does not let this page load it; no copy was kept. \
             The service was not asked for a fresh one: this task belongs to another service address or \
             User ID. Run again makes it anew. Keep outputs, in Settings, makes copies from now on."
        );
    }
}
