//! Why a task has not been sent, or is not asked about, as the person can see it in any tab.

use crate::{Account, BlockReason, Millis, Phase, Task, duration};

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
    /// A newer Atelier keeps the tasks: this tab, of an older one, makes no calls any more.
    pub is_superseded: bool,
}

/// A wait that the service asks for is worth a word at each task that goes on, if it is as long as this.
const LONG_WAIT: Millis = 60_000;

/// What to do about another tab that holds everything up.
const WAKE_IT: &str = "Looking at that tab, or closing it, lets it go on.";

/// Why this task waits: it is not sent yet, or not asked about. `None` where nothing holds it up.
pub fn wait_reason(task: &Task, sending: Sending<'_>, now: Millis) -> Option<String> {
    match task.state.phase() {
        Phase::Queued => Some(unsent(task, sending, now)),
        Phase::Running | Phase::Fetching if task.watching && !task.is_orphan() => {
            if sending.is_superseded {
                return Some(
                    "Not followed from here: a newer Atelier keeps this task. It goes on at the \
                     service, and the newer one asks about it."
                        .into(),
                );
            }
            if let Some(why) = elsewhere(task, sending) {
                return Some(format!(
                    "Not followed: {why}. It goes on at the service, and is asked about once that is set again."
                ));
            }
            if sending.is_leader_asleep {
                return Some(format!(
                    "It goes on at the service. The tab of Atelier that asks about it is asleep. {WAKE_IT}"
                ));
            }
            match sending.block_reason {
                Some(BlockReason::RateLimited(until)) if until.saturating_sub(now) >= LONG_WAIT => {
                    Some(format!(
                        "It goes on at the service, which asks for fewer calls: how far it is, is asked again in {}.",
                        duration::text(until.saturating_sub(now).div_ceil(1_000) * 1_000)
                    ))
                }
                _ => None,
            }
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
    if sending.is_superseded {
        return "Not sent from here: a newer Atelier has taken over. Reload this page to see \
                whether that one has this task; if not, nothing was sent. Press Edit first to \
                keep its inputs in the form."
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
        // As whom it would be sent is not known before.
        None | Some(BlockReason::Unreachable) if sending.has_credentials.is_none() => {
            format!("Waiting to be sent: the service has not answered yet. {unsent}")
        }
        Some(block_reason) => format!("{} {unsent}", block_reason.user_message(now)),
        None => format!("Waiting to be sent. Two at a time wait for their answers. {unsent}"),
    }
}

#[cfg(test)]
mod tests;
