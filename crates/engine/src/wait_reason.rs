//! Why a Queued task has not been sent, as the person can see it in any tab.

use crate::{Account, BlockReason, Millis, Phase, Task};

/// Why nothing can be sent to a service that takes no guests.
pub const NO_CREDENTIALS: &str = "User ID and Access token are not set yet.";

/// What is known in a tab of why nothing is sent.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// The service and User ID that are set now.
    pub account: &'a Account,
    /// User ID and token are set, or the service takes guests.
    pub has_credentials: bool,
    /// What holds the tab back that makes the calls.
    pub block_reason: Option<&'a BlockReason>,
}

/// Why this task waits; `None` where it is not Queued.
pub fn wait_reason(task: &Task, sending: Sending<'_>, now: Millis) -> Option<String> {
    if task.state.phase() != Phase::Queued {
        return None;
    }
    if task.taken_back {
        return Some(
            "Taken back before it was sent. Its batch's page puts it into the table again.".into(),
        );
    }
    let unsent = "Nothing has left this browser.";
    if task.account.address != sending.account.address {
        let address = match task.account.address.as_str() {
            "" => "the address that served this page",
            address => address,
        };
        return Some(format!(
            "Waits until Settings name its service again, {address}. {unsent}"
        ));
    }
    if !sending.has_credentials {
        return Some(format!(
            "{NO_CREDENTIALS} They are set in Settings. {unsent}"
        ));
    }
    if task.account.uid != sending.account.uid {
        return Some(format!(
            "Waits until Settings name its User ID again, {}. {unsent}",
            task.account.uid
        ));
    }
    if task.paused {
        return Some(format!("Its batch is paused. {unsent}"));
    }
    Some(match sending.block_reason {
        // What goes on at the service is of no use to a task that is not there.
        Some(BlockReason::Offline) => {
            format!("You are offline: it is sent once the network is back. {unsent}")
        }
        Some(block_reason) => format!("{} {unsent}", block_reason.user_message(now)),
        None => format!("Waiting to be sent. {unsent}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskKey;
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
                has_credentials,
                block_reason,
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

    /// Guards against words about running tasks beside one that was never sent.
    #[test]
    fn offline_it_says_when_this_one_is_sent() {
        let account = Account {
            address: String::new(),
            uid: "me".into(),
        };
        let sending = Sending {
            account: &account,
            has_credentials: true,
            block_reason: Some(&BlockReason::Offline),
        };
        let reason = wait_reason(&task("", "me"), sending, 0).unwrap();
        assert_eq!(
            reason,
            "You are offline: it is sent once the network is back. Nothing has left this browser."
        );
    }
}
