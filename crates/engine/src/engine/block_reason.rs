use atelier_contract::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Engine;
use crate::{Millis, Phase, Task, duration};

/// The reason why no calls are made at present. It is sent between tabs of different versions, so names and types must
/// not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockReason {
    /// The browser reports that it is offline.
    Offline,
    /// The service asked for fewer calls, until this time.
    RateLimited(Millis),
    /// The service refuses the credentials.
    Unauthorized,
    /// A submission was not answered. Other submissions wait until this time, so that they don't fail in the same way.
    Unanswered(Millis),
    /// The service can't be reached.
    Unreachable,
    /// Tasks can't be stored. The user must confirm sending them.
    #[serde(rename = "NotKept")]
    StorageError,
}

impl BlockReason {
    /// Encodes the reason for messages between tabs.
    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    /// Decodes a reason. `None` for reasons that only another version knows.
    pub fn from_value(value: Value) -> Option<Self> {
        json::decode(value)
    }

    /// Whether the block ends at a known time.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::RateLimited(_) | Self::Unanswered(_))
    }

    /// Whether the user may retry at once. A rate limit can't be skipped.
    pub fn can_retry_now(&self) -> bool {
        !matches!(self, Self::RateLimited(_) | Self::StorageError)
    }

    /// Returns the message for the user: the reason, and how long it lasts.
    pub fn user_message(&self, now: Millis) -> String {
        let wait =
            |until: &Millis| duration::text(until.saturating_sub(now).div_ceil(1_000) * 1_000);
        match self {
            BlockReason::Offline => {
                "You are offline. Running tasks continue; we'll check them when you're back online."
                    .into()
            }
            BlockReason::RateLimited(until) => {
                format!("Rate-limited, next try in {}.", wait(until))
            }
            BlockReason::Unauthorized => {
                "The service does not accept the credentials. Nothing more is sent until it does.".into()
            }
            BlockReason::Unreachable => {
                "The service can't be reached. Waiting tasks are sent as soon as it answers.".into()
            }
            BlockReason::StorageError => {
                "Nothing is sent for now: this browser can't store tasks, and a task sent without being stored is lost if you \
                 close this tab."
                    .into()
            }
            BlockReason::Unanswered(until) => {
                format!("No usable answer from the service. Next try in {}.", wait(until))
            }
        }
    }
}

impl Engine {
    /// Returns why no calls are made at present, if they are blocked.
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
        let would_send = self.next_queued().is_some() || self.next_resend().is_some();
        if self.needs_storage_consent() && would_send {
            return Some(BlockReason::StorageError);
        }
        // A paused task waits for the user, not for the service.
        let would_go_on = self.next_queued().is_some() || !self.timers.resends.is_empty();
        if self.services.is_unreachable(&self.account.address)
            && (would_go_on || self.is_guest_waiting())
        {
            return Some(BlockReason::Unreachable);
        }
        if self.send_queue.is_empty() && self.timers.resends.is_empty() {
            return None;
        }
        let until = self.pause.unanswered_until(now)?;
        Some(BlockReason::Unanswered(until))
    }

    /// Whether a task without an account waits for this service to assign a guest account.
    fn is_guest_waiting(&self) -> bool {
        let is_waiting = |task: &Task| {
            task.account.address == self.account.address
                && task.state.phase() == Phase::Queued
                && task.removed.is_none()
                && !(task.paused || task.taken_back)
        };
        self.account.uid.is_empty() && self.tasks().any(is_waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Tabs of different versions may be open at the same time.
    #[test]
    fn block_reasons_keep_their_wire_format() {
        for (reason, sent) in [
            (BlockReason::Offline, r#""Offline""#),
            (BlockReason::Unauthorized, r#""Unauthorized""#),
            (BlockReason::StorageError, r#""NotKept""#),
            (
                BlockReason::RateLimited(Millis::MAX),
                r#"{"RateLimited":18446744073709551615}"#,
            ),
            (BlockReason::Unanswered(7), r#"{"Unanswered":7}"#),
            (BlockReason::Unreachable, r#""Unreachable""#),
        ] {
            assert_eq!(reason.to_value().to_string(), sent);
            let value: Value = serde_json::from_str(sent).unwrap();
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
