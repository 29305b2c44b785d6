use serde_json::{Value, json};

use super::Engine;
use crate::{Millis, duration};

/// Why no calls are made at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockReason {
    /// The browser says that there is no network.
    Offline,
    /// The service asked for fewer calls.
    RateLimited { until: Millis },
    /// The service refuses the credentials.
    Unauthorized,
    /// A submission was not answered; the others wait, so that they do not meet the same.
    Unanswered { until: Millis },
    /// Tasks can't be kept any more: the person is asked before any is sent.
    NotKept,
}

impl BlockReason {
    /// As tabs tell each other of it.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Offline => "Offline".into(),
            Self::Unauthorized => "Unauthorized".into(),
            Self::NotKept => "NotKept".into(),
            Self::RateLimited { until } => json!({ "RateLimited": until }),
            Self::Unanswered { until } => json!({ "Unanswered": until }),
        }
    }

    /// `None` for what only another version knows.
    pub fn from_value(value: &Value) -> Option<Self> {
        Some(match value.as_str() {
            Some("Offline") => Self::Offline,
            Some("Unauthorized") => Self::Unauthorized,
            Some("NotKept") => Self::NotKept,
            Some(_) => return None,
            None => {
                let until = |name| value.get(name).and_then(Value::as_u64);
                match (until("RateLimited"), until("Unanswered")) {
                    (Some(until), _) => Self::RateLimited { until },
                    (None, Some(until)) => Self::Unanswered { until },
                    (None, None) => return None,
                }
            }
        })
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
            BlockReason::RateLimited { until } => {
                format!("Rate-limited, next try in {}.", wait(until))
            }
            BlockReason::Unauthorized => {
                "The service does not accept the credentials, so everything waits. Check them in Settings.".into()
            }
            BlockReason::NotKept => {
                "Nothing is sent for now: this browser can't keep tasks, and a task that is sent and \
                 not kept is lost with this tab."
                    .into()
            }
            BlockReason::Unanswered { until } => format!(
                "The service did not answer the last submission. The rest waits, next try in {}.",
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
            return Some(BlockReason::RateLimited { until });
        }
        let would_send = self.next_line().is_some() || self.next_again().is_some();
        if self.asks_before_sending() && would_send {
            return Some(BlockReason::NotKept);
        }
        let until = self.pause.unanswered_until(now)?;
        let is_waiting = !self.send_queue.is_empty() || !self.again.is_empty();
        is_waiting.then_some(BlockReason::Unanswered { until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tabs of different versions may be open at the same time.
    #[test]
    fn tabs_tell_each_other_in_the_words_they_always_used() {
        for (reason, told) in [
            (BlockReason::Offline, r#""Offline""#),
            (BlockReason::Unauthorized, r#""Unauthorized""#),
            (BlockReason::NotKept, r#""NotKept""#),
            (
                BlockReason::RateLimited { until: Millis::MAX },
                r#"{"RateLimited":18446744073709551615}"#,
            ),
            (BlockReason::Unanswered { until: 7 }, r#"{"Unanswered":7}"#),
        ] {
            assert_eq!(reason.to_value().to_string(), told);
            let value: Value = serde_json::from_str(told).unwrap();
            assert_eq!(BlockReason::from_value(&value), Some(reason));
        }
        for unknown in [
            json!("Asleep"),
            json!({"Asleep": 1}),
            json!(null),
            json!({"Unanswered": "x"}),
        ] {
            assert_eq!(BlockReason::from_value(&unknown), None);
        }
    }
}
