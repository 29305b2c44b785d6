//! Why a task has not been sent, or is not asked about, as the person can see it in any tab.

use crate::{Account, BlockReason, Millis, Phase, Task};

/// Why nothing can be sent to a service that takes no guests.
pub const NO_CREDENTIALS: &str = "User ID and Access token are not set yet.";

/// What is known in a tab of why nothing is sent.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// The service and User ID that are set now.
    pub account: &'a Account,
    /// User ID and token are set, or the service takes guests. `None` while it has not said whether it does.
    pub has_credentials: Option<bool>,
    /// What holds the tab back that makes the calls.
    pub block_reason: Option<&'a BlockReason>,
    /// That tab is another one, and the browser has stopped it.
    pub is_leader_asleep: bool,
}

/// What to do about another tab that holds everything up.
const WAKE_IT: &str = "Looking at that tab, or closing it, lets it go on.";

/// Why this task waits: it is not sent yet, or not asked about. `None` where nothing holds it up.
pub fn wait_reason(task: &Task, sending: Sending<'_>, now: Millis) -> Option<String> {
    match task.state.phase() {
        Phase::Queued => Some(unsent(task, sending, now)),
        Phase::Running | Phase::Fetching if task.watching && !task.is_orphan() => {
            if let Some(why) = elsewhere(task, sending) {
                return Some(format!(
                    "Not followed: {why}. It goes on at the service, and is asked about once that is set again."
                ));
            }
            sending.is_leader_asleep.then(|| {
                format!(
                    "It goes on at the service. The tab of Atelier that asks about it is asleep. {WAKE_IT}"
                )
            })
        }
        Phase::Submitting if task.poll_error.is_some() && !sending.is_leader_asleep => {
            let why = elsewhere(task, sending)?;
            Some(format!(
                "No answer yet, and not sent again: {why}. The service may have received it, and may bill it."
            ))
        }
        // Whether it has left, that tab alone knows.
        Phase::Submitting if sending.is_leader_asleep => Some(in_sleeping_tab()),
        _ => None,
    }
}

/// Whether a task goes on at a service and nobody asks about it, because Settings name another account or none.
pub fn is_not_followed(task: &Task, sending: Sending<'_>) -> bool {
    let goes_on = matches!(task.state.phase(), Phase::Running | Phase::Fetching);
    goes_on && task.watching && !task.is_orphan() && elsewhere(task, sending).is_some()
}

/// Why no call can be made for a task, as Settings are now.
fn elsewhere(task: &Task, sending: Sending<'_>) -> Option<String> {
    if task.account.address != sending.account.address {
        let address = address_of(&task.account.address);
        return Some(format!(
            "its service, {address}, is not the one in Settings"
        ));
    }
    if sending.has_credentials? {
        let uid = &task.account.uid;
        let is_other = *uid != sending.account.uid;
        return is_other.then(|| format!("its User ID, {uid}, is not the one in Settings"));
    }
    Some("User ID and Access token are not set in Settings".into())
}

fn address_of(address: &str) -> &str {
    match address {
        "" => "the address that served this page",
        address => address,
    }
}

fn in_sleeping_tab() -> String {
    format!("Another tab of Atelier has this task, and is asleep. {WAKE_IT}")
}

fn unsent(task: &Task, sending: Sending<'_>, now: Millis) -> String {
    if task.taken_back {
        return "Taken back before it was sent. Its batch's page puts it into the table again."
            .into();
    }
    let unsent = match task.resubmitted {
        true => "An earlier submission was not answered, and may be billed.",
        false => "Nothing has left this browser.",
    };
    if task.account.address != sending.account.address {
        let address = address_of(&task.account.address);
        return format!("Waits until Settings name its service again, {address}. {unsent}");
    }
    match sending.has_credentials {
        Some(false) => return format!("{NO_CREDENTIALS} They are set in Settings. {unsent}"),
        Some(true) if task.account.uid != sending.account.uid => {
            return format!(
                "Waits until Settings name its User ID again, {}. {unsent}",
                task.account.uid
            );
        }
        _ => {}
    }
    if task.paused {
        return format!("Its batch is paused. {unsent}");
    }
    if sending.is_leader_asleep {
        return in_sleeping_tab();
    }
    match sending.block_reason {
        // What goes on at the service is of no use to a task that is not there.
        Some(BlockReason::Offline) => {
            format!("You are offline: it is sent once the network is back. {unsent}")
        }
        Some(block_reason) => format!("{} {unsent}", block_reason.user_message(now)),
        None => format!("Waiting to be sent. Two at a time wait for their answers. {unsent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TaskKey, TaskState};
    use atelier_contract::{Draft, ModelId, Schema};
    use serde_json::json;

    fn task(address: &str, uid: &str) -> Task {
        let body = json!({"success": true, "data": {
            "parameters": {"required": [], "optional": []}}});
        let schema = Schema::from_body(body, ModelId::new("image", "a")).unwrap();
        let input = schema.validate(&Draft::default(), false).unwrap();
        assert_eq!(
            input.model(),
            &ModelId {
                category: "image".into(),
                subcategory: "a".into()
            }
        );
        let account = Account {
            address: address.into(),
            uid: uid.into(),
        };
        Task::new(TaskKey("k".into()), account, "A".into(), input, 0)
    }

    /// Guards against a task that is Queued for ever without a word of why.
    #[test]
    fn every_reason_is_named() {
        let account = Account {
            address: "http://x".into(),
            uid: "u".into(),
        };
        let limited = BlockReason::RateLimited(9_000);
        let reason = |task: &Task, has_credentials, block_reason| {
            let sending = Sending {
                account: &account,
                has_credentials: Some(has_credentials),
                block_reason,
                is_leader_asleep: false,
            };
            wait_reason(task, sending, 1_000).unwrap_or_default()
        };
        let mine = task("http://x", "u");
        assert!(reason(&mine, true, None).starts_with("Waiting to be sent."));
        assert!(reason(&mine, true, Some(&limited)).contains("Rate-limited, next try in 8 s"));
        assert!(reason(&mine, false, None).starts_with(NO_CREDENTIALS));
        assert!(reason(&task("http://y", "u"), true, None).contains("http://y"));
        assert!(reason(&task("", "u"), true, None).contains("served this page"));
        assert!(reason(&task("http://x", "v"), true, None).contains("User ID again, v"));
        let mut paused = task("http://x", "u");
        paused.paused = true;
        assert!(reason(&paused, true, None).contains("paused"));
    }

    /// Guards against `Generating. You can close this page.` at a task that nobody asks about.
    #[test]
    fn what_goes_on_without_being_asked_about_says_so() {
        let account = Account {
            address: "http://x".into(),
            uid: "u".into(),
        };
        let reason = |task: &Task, has_credentials| {
            let sending = Sending {
                account: &account,
                has_credentials: Some(has_credentials),
                block_reason: None,
                is_leader_asleep: false,
            };
            wait_reason(task, sending, 0)
        };
        let running = |address: &str, uid: &str| Task {
            state: crate::TaskState::Running {
                id: atelier_contract::TaskId("1".into()),
                word: atelier_contract::StatusWord::Processing,
            },
            ..task(address, uid)
        };
        assert_eq!(reason(&running("http://x", "u"), true), None);
        let without = reason(&running("http://x", "u"), false).unwrap();
        assert!(
            without.contains("User ID and Access token are not set"),
            "{without}"
        );
        assert!(
            reason(&running("http://x", "v"), true)
                .unwrap()
                .contains("its User ID, v,")
        );
        assert!(
            reason(&running("http://y", "u"), true)
                .unwrap()
                .contains("http://y")
        );
        let hidden = Task {
            watching: false,
            ..running("http://y", "u")
        };
        assert_eq!(reason(&hidden, true), None);
        let mine = Sending {
            account: &account,
            has_credentials: Some(true),
            block_reason: None,
            is_leader_asleep: false,
        };
        assert!(is_not_followed(&running("http://y", "u"), mine));
        assert!(!is_not_followed(&running("http://x", "u"), mine));
        assert!(!is_not_followed(&hidden, mine));
        assert!(
            !is_not_followed(&task("http://y", "u"), mine),
            "it was not sent"
        );
        // Guards against words about credentials where the service takes guests, and is only away.
        let away = Sending {
            account: &account,
            has_credentials: None,
            block_reason: None,
            is_leader_asleep: false,
        };
        assert_eq!(wait_reason(&running("http://x", "guest"), away, 0), None);
        let queued = wait_reason(&task("http://x", "guest"), away, 0).unwrap();
        assert!(queued.starts_with("Waiting to be sent."), "{queued}");
    }

    /// Guards against `Sending the request.` at what a frozen tab was to send.
    #[test]
    fn what_another_tab_has_that_is_asleep_says_what_wakes_it() {
        let account = Account {
            address: String::new(),
            uid: "me".into(),
        };
        let reason = |task: &Task, is_leader_asleep| {
            let sending = Sending {
                account: &account,
                has_credentials: Some(true),
                block_reason: None,
                is_leader_asleep,
            };
            wait_reason(task, sending, 0)
        };
        let in_state = |state| Task {
            state,
            ..task("", "me")
        };
        let submitting = in_state(TaskState::Submitting);
        assert_eq!(reason(&submitting, false), None);
        let said = reason(&submitting, true).unwrap();
        assert!(said.ends_with(WAKE_IT), "{said}");
        // Its state is from before: the tab may have sent it, and not said so.
        assert!(!said.contains("Nothing has left"), "{said}");
        let said = reason(&in_state(TaskState::Queued), true).unwrap();
        assert!(said.contains(WAKE_IT), "{said}");
        let running = in_state(TaskState::Running {
            id: atelier_contract::TaskId("1".into()),
            word: atelier_contract::StatusWord::Processing,
        });
        assert_eq!(reason(&running, false), None);
        let said = reason(&running, true).unwrap();
        assert!(said.starts_with("It goes on at the service."), "{said}");
        let hidden = Task {
            watching: false,
            ..running
        };
        assert_eq!(reason(&hidden, true), None);
        let ready = in_state(TaskState::Ready {
            id: atelier_contract::TaskId("1".into()),
            outputs: Vec::new(),
        });
        assert_eq!(reason(&ready, true), None);
    }

    /// Guards against `Nothing has left this browser` at what was sent before.
    #[test]
    fn what_was_sent_before_may_be_billed() {
        let account = Account {
            address: String::new(),
            uid: "me".into(),
        };
        let sending = Sending {
            account: &account,
            has_credentials: Some(true),
            block_reason: None,
            is_leader_asleep: false,
        };
        let again = Task {
            resubmitted: true,
            ..task("", "me")
        };
        let reason = wait_reason(&again, sending, 0).unwrap();
        assert!(reason.ends_with("may be billed."), "{reason}");
    }

    /// Guards against words about running tasks beside one that was never sent.
    #[test]
    fn offline_it_says_when_this_one_is_sent() {
        let account = Account {
            address: String::new(),
            uid: "me".into(),
        };
        let sending = Sending {
            account: &account,
            has_credentials: Some(true),
            block_reason: Some(&BlockReason::Offline),
            is_leader_asleep: false,
        };
        let reason = wait_reason(&task("", "me"), sending, 0).unwrap();
        assert_eq!(
            reason,
            "You are offline: it is sent once the network is back. Nothing has left this browser."
        );
    }
}
