//! Makes messages about why a task has not been sent or is not polled, for all tabs.

use crate::{Account, BlockReason, Millis, MissingCredentials, Phase, Task, duration};

/// The data of a tab that determines whether tasks are sent.
#[derive(Debug, Clone, Copy)]
pub struct SendingState<'a> {
    /// The current service and User ID.
    pub account: &'a Account,
    pub access: Access,
    /// The reason that blocks the leader's calls.
    pub block_reason: Option<&'a BlockReason>,
    /// Whether another tab leads and the browser has frozen it.
    pub is_leader_asleep: bool,
    /// Whether a newer release stores the tasks, so that this tab makes no calls any more.
    pub is_superseded: bool,
}

/// Whether calls can be made with the current account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// User ID and token are set, or the service accepts guests.
    Given,
    /// The user must set these credentials first.
    Missing(MissingCredentials),
    /// Nothing is set, and it is unknown whether the service accepts guests.
    Unknown,
}

/// The reason why no call can be made for a task with the current Settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccountMismatch {
    Service,
    UserId,
    NotSet(MissingCredentials),
}

/// The minimum duration in milliseconds of a rate limit that is shown at running tasks.
const LONG_WAIT: Millis = 60_000;

/// The advice about a leader that is asleep.
const WAKE_ADVICE: &str = "Switch to that tab or close it to continue.";

/// Returns why the task is not sent or not polled. `None` if nothing blocks it.
pub fn wait_reason(task: &Task, sending: SendingState<'_>, now: Millis) -> Option<String> {
    match task.state.phase() {
        Phase::Queued => Some(unsent_reason(task, sending, now)),
        Phase::Running | Phase::Fetching if task.watching && !task.is_orphan() => {
            if sending.is_superseded {
                return Some(
                    "Not followed in this tab: a newer version of Atelier follows this task. It keeps running at the service."
                        .into(),
                );
            }
            if let Some(why) = account_mismatch_message(task, sending) {
                return Some(format!(
                    "Not followed: {why}. It keeps running at the service, and is followed once you set that again."
                ));
            }
            if sending.is_leader_asleep {
                return Some(format!(
                    "It keeps running at the service. The tab of Atelier that follows it is asleep. {WAKE_ADVICE}"
                ));
            }
            match sending.block_reason {
                Some(BlockReason::RateLimited(until)) if until.saturating_sub(now) >= LONG_WAIT => {
                    Some(format!(
                        "It keeps running at the service, which asks for fewer calls: its status is checked again in {}.",
                        duration::text(until.saturating_sub(now).div_ceil(1_000) * 1_000)
                    ))
                }
                _ => None,
            }
        }
        Phase::Submitting if task.poll_error.is_some() && !sending.is_leader_asleep => {
            let why = account_mismatch_message(task, sending)?;
            Some(format!(
                "No answer yet, and not sent again: {why}. The service may have received it, and may bill it."
            ))
        }
        // Only the leader knows whether the request was sent.
        Phase::Submitting if sending.is_leader_asleep => Some(sleeping_leader_message()),
        _ => None,
    }
}

/// Whether a running task is not polled because another account, or none, is set.
pub fn is_not_followed(task: &Task, sending: SendingState<'_>) -> bool {
    let is_running = matches!(task.state.phase(), Phase::Running | Phase::Fetching);
    is_running && task.watching && !task.is_orphan() && account_mismatch(task, sending).is_some()
}

/// Whether a task has not been sent because another account, or none, is set.
pub fn waits_for_account(task: &Task, sending: SendingState<'_>) -> bool {
    let is_to_be_sent = task.state.phase() == Phase::Queued && !task.taken_back;
    is_to_be_sent && task.removed.is_none() && account_mismatch(task, sending).is_some()
}

/// Whether an unsent task waits for the user, because its batch is paused or because Settings, credentials or storage
/// block it.
pub fn waits_for_user(task: &Task, sending: SendingState<'_>) -> bool {
    let is_blocked = matches!(
        sending.block_reason,
        Some(BlockReason::Unauthorized | BlockReason::StorageError)
    );
    let is_held = task.paused || task.taken_back || is_blocked;
    task.state.phase() == Phase::Queued && (is_held || account_mismatch(task, sending).is_some())
}

/// Returns the duration of the current attempt. `None` if the task has ended, is not polled, or waits for the user.
pub fn elapsed(task: &Task, sending: SendingState<'_>, now: Millis) -> Option<Millis> {
    let is_running = task.is_active() && !waits_for_user(task, sending);
    is_running.then(|| now.saturating_sub(task.attempt_start()))
}

/// Returns why the service can't be asked about a task with the current Settings.
pub fn not_asked_reason(task: &Task, sending: SendingState<'_>) -> Option<String> {
    let why = account_mismatch_message(task, sending)?;
    Some(format!(
        "Not asked: {why}. The service is asked once you set that again."
    ))
}

fn account_mismatch(task: &Task, sending: SendingState<'_>) -> Option<AccountMismatch> {
    match sending.access {
        _ if task.account.address != sending.account.address => Some(AccountMismatch::Service),
        Access::Missing(missing) => Some(AccountMismatch::NotSet(missing)),
        Access::Given if task.account.uid != sending.account.uid => Some(AccountMismatch::UserId),
        Access::Given | Access::Unknown => None,
    }
}

fn account_mismatch_message(task: &Task, sending: SendingState<'_>) -> Option<String> {
    Some(match account_mismatch(task, sending)? {
        AccountMismatch::Service => {
            let address = shown_address(&task.account.address);
            format!("its service, {address}, is not the one in Settings")
        }
        AccountMismatch::UserId => {
            let uid = &task.account.uid;
            format!("its User ID, {uid}, is not the one in Settings")
        }
        AccountMismatch::NotSet(missing) => format!("{} not set in Settings", missing.with_verb()),
    })
}

fn shown_address(address: &str) -> &str {
    match address {
        "" => "the address that served this page",
        address => address,
    }
}

fn sleeping_leader_message() -> String {
    format!("Another tab of Atelier has this task, and is asleep. {WAKE_ADVICE}")
}

/// Whether and how a queued task has been sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentState {
    Unsent,
    /// The service has not accepted it: it was refused for now, or its call was stopped.
    Refused,
    /// The service may have accepted it.
    Unanswered,
}

impl SentState {
    fn of(task: &Task) -> Self {
        match (task.resubmitted, task.submitted.or(task.not_before)) {
            (true, _) => Self::Unanswered,
            (false, Some(_)) => Self::Refused,
            (false, None) => Self::Unsent,
        }
    }
}

fn unsent_reason(task: &Task, sending: SendingState<'_>, now: Millis) -> String {
    let sent_state = SentState::of(task);
    if task.taken_back {
        let before = match sent_state {
            SentState::Unsent => "it was sent",
            SentState::Refused | SentState::Unanswered => "the service accepted it",
        };
        return format!(
            "Taken back before {before}. To put it into the table again, open its batch."
        );
    }
    if sending.is_superseded {
        let unless = match (sent_state, task.retry_of.is_some()) {
            (SentState::Unsent, true) => "this retry was not sent",
            (SentState::Unsent, false) => "nothing was sent",
            (SentState::Refused, true) => "the service has not accepted this retry",
            (SentState::Refused, false) => "the service has accepted nothing",
            (SentState::Unanswered, _) => "only an earlier submission may be billed",
        };
        return format!(
            "Not sent from this tab: a newer version of Atelier has taken over. Reload this page to see whether it has this \
             task; if not, {unless}. Press Edit first to keep its inputs in the form."
        );
    }
    let unsent = match sent_state {
        SentState::Unsent if task.retry_of.is_some() => "This retry has not left this browser.",
        SentState::Unsent => "Nothing has left this browser.",
        SentState::Refused if task.retry_of.is_some() => {
            "The service has not accepted this retry so far."
        }
        SentState::Refused => "The service has accepted nothing so far.",
        SentState::Unanswered => "An earlier submission was not answered, and may be billed.",
    };
    match account_mismatch(task, sending) {
        Some(AccountMismatch::Service) => {
            let address = shown_address(&task.account.address);
            return format!(
                "Waits until its service, {address}, is set in Settings again. {unsent}"
            );
        }
        Some(AccountMismatch::UserId) => {
            let uid = &task.account.uid;
            return format!("Waits until its User ID, {uid}, is set in Settings again. {unsent}");
        }
        Some(AccountMismatch::NotSet(missing)) => {
            let (why, it) = (missing.user_message(), missing.pronoun());
            return format!("{why} Enter {it} in Settings. {unsent}");
        }
        None => {}
    }
    if task.paused {
        return format!("Its batch is paused. {unsent}");
    }
    if sending.is_leader_asleep {
        return sleeping_leader_message();
    }
    match sending.block_reason {
        // The general offline message is about running tasks; this task has not been sent.
        Some(BlockReason::Offline) => {
            format!("You are offline: it is sent once the network is back. {unsent}")
        }
        // The account is unknown until the service answers.
        None | Some(BlockReason::Unreachable) if sending.access == Access::Unknown => {
            format!("Waiting to be sent: the service has not answered yet. {unsent}")
        }
        Some(BlockReason::Unauthorized) => {
            let why = BlockReason::Unauthorized.user_message(now);
            format!("{why} Check them in Settings. {unsent}")
        }
        Some(block_reason) => format!("{} {unsent}", block_reason.user_message(now)),
        None => format!("Waiting to be sent. At most two requests are in flight. {unsent}"),
    }
}

#[cfg(test)]
mod tests;
