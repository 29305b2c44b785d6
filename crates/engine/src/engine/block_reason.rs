use atelier_contract::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Engine;
use crate::{Millis, duration};

/// Why no calls are made at present. Tabs of different versions tell each other of it: names and shapes
/// do not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockReason {
    /// The browser says that there is no network.
    Offline,
    /// The service asked for fewer calls, until then.
    RateLimited(Millis),
    /// The service refuses the credentials.
    Unauthorized,
    /// A submission was not answered; the others wait until then, so that they do not meet the same.
    Unanswered(Millis),
    /// Tasks can't be kept any more: the person is asked before any is sent.
    #[serde(rename = "NotKept")]
    StorageError,
}

impl BlockReason {
    /// As tabs tell each other of it.
    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// `None` for what only another version knows.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    /// For a person: what is going on and for how long.
    pub fn user_message(&self, now: Millis) -> String {
        let wait =
            |until: &Millis| duration::text(until.saturating_sub(now).div_ceil(1_000) * 1_000);
        match self {
            BlockReason::Offline => {
                "You are offline. Running tasks go on at the service; Atelier asks again once the network is back."
                    .into()
            }
            BlockReason::RateLimited(until) => {
                format!("Rate-limited, next try in {}.", wait(until))
            }
            BlockReason::Unauthorized => {
                "The service does not accept the credentials, so everything waits. Check them in Settings.".into()
            }
            BlockReason::StorageError => {
                "Nothing is sent for now: this browser can't keep tasks, and a task that is sent and \
                 not kept is lost with this tab."
                    .into()
            }
            BlockReason::Unanswered(until) => format!(
                "The service does not answer. Next try in {}.",
                wait(until)
            ),
        }
    }
}

impl Engine {
    /// Why no calls are made at present, if that is so.
    pub fn block_reason(&self, now: Millis) -> Option<BlockReason> {
        if !self.online {
            return Some(BlockReason::Offline);
        }
        if self.is_refused() {
            return Some(BlockReason::Unauthorized);
        }
        if let Some(until) = self.services.blocked_until(&self.account.address, now) {
            return Some(BlockReason::RateLimited(until));
        }
        let would_send = self.next_queued().is_some() || self.next_again().is_some();
        if self.asks_before_sending() && would_send {
            return Some(BlockReason::StorageError);
        }
        let until = self.pause.unanswered_until(now)?;
        let is_waiting = !self.send_queue.is_empty() || !self.timers.resends.is_empty();
        is_waiting.then_some(BlockReason::Unanswered(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Tabs of different versions may be open at the same time.
    #[test]
    fn tabs_tell_each_other_in_the_words_they_always_used() {
        for (reason, told) in [
            (BlockReason::Offline, r#""Offline""#),
            (BlockReason::Unauthorized, r#""Unauthorized""#),
            (BlockReason::StorageError, r#""NotKept""#),
            (
                BlockReason::RateLimited(Millis::MAX),
                r#"{"RateLimited":18446744073709551615}"#,
            ),
            (BlockReason::Unanswered(7), r#"{"Unanswered":7}"#),
        ] {
            assert_eq!(reason.to_value().to_string(), told);
            let value: Value = serde_json::from_str(told).unwrap();
            assert_eq!(BlockReason::from_value(value), Some(reason));
        }
        for unknown in [
            json!("Asleep"),
            json!({"Asleep": 1}),
            json!(null),
            json!({"Unanswered": "x"}),
        ] {
            assert_eq!(BlockReason::from_value(unknown), None);
        }
    }
}
