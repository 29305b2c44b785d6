//! Limits on the number of items in a call and on the size of its response. After a response that is too large,
//! malformed or cut off, the call is repeated with half the items.

use atelier_contract::{ApiError, MAX_BATCH_ITEMS};

use super::CallKind;
use crate::Millis;

/// The maximum size of a response in bytes. JSON of the interface without outputs is much smaller.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The maximum size in bytes of a response with the outputs of one task, which may be data URIs. Parsing it takes
/// several times as much memory.
pub(crate) const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// The timeout of a call, in milliseconds.
const TIMEOUT: u32 = 30_000;

/// The timeout of `generate`, in milliseconds. The service may work before it answers, and a timeout makes a task
/// Unconfirmed.
const GENERATE_TIMEOUT: u32 = 90_000;

/// The extra time, in milliseconds, for a response with the outputs of one task after its first bytes have arrived. It
/// is sufficient for 64 MB over a slow connection.
const OUTPUT_TIME: u32 = 270_000;

/// The number of items doubles after this time without another unreadable response, in milliseconds.
const DOUBLES_AFTER: Millis = 120_000;

/// The limits of one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyLimits {
    /// The maximum size in bytes.
    pub bytes: u64,
    /// The timeout of the call, in milliseconds.
    pub timeout_ms: u32,
    /// The extra time in milliseconds if the first bytes of the response have arrived within the timeout.
    pub more_ms: u32,
}

impl ReplyLimits {
    pub const fn new(bytes: u64, timeout_ms: u32) -> Self {
        Self {
            bytes,
            timeout_ms,
            more_ms: 0,
        }
    }

    /// Returns the limits of the response to a call with this many items.
    pub fn of(kind: CallKind, items: usize) -> Self {
        let is_one_output = kind == CallKind::Response && items <= 1;
        Self {
            bytes: if is_one_output {
                MAX_OUTPUT_BYTES
            } else {
                MAX_BYTES
            },
            timeout_ms: match kind {
                CallKind::Generate => GENERATE_TIMEOUT,
                CallKind::Status | CallKind::Response | CallKind::Cancel => TIMEOUT,
            },
            more_ms: if is_one_output { OUTPUT_TIME } else { 0 },
        }
    }
}

/// The maximum number of items in a call of one kind, after an unreadable response.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemLimit {
    items: usize,
    since: Millis,
}

impl ItemLimit {
    /// Creates the limit after the response to a call with `asked` items could not be read.
    pub fn below(asked: usize, before: usize, now: Millis) -> Self {
        let items = (asked / 2).min(before).max(1);
        Self { items, since: now }
    }

    /// Doubles the limit.
    pub fn doubled(self, now: Millis) -> Self {
        let items = self.at(now) * 2;
        Self { items, since: now }
    }

    /// Returns the limit at a time: it doubles with time, up to the maximum of the interface.
    pub fn at(self, now: Millis) -> usize {
        let doublings = now.saturating_sub(self.since) / DOUBLES_AFTER;
        (self.items << doublings.min(4)).min(MAX_BATCH_ITEMS)
    }
}

/// Whether the response is unusable but may be usable with fewer items.
pub(super) fn is_unreadable(error: &ApiError) -> bool {
    let is_malformed = matches!(error, ApiError::Malformed { .. }) && !error.is_unreachable();
    is_malformed || error.is_cut_off()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_limit_halves_and_doubles_over_time() {
        let limit = ItemLimit::below(10, 10, 0);
        assert_eq!(limit.at(0), 5);
        assert_eq!(limit.at(DOUBLES_AFTER - 1), 5);
        assert_eq!(limit.at(DOUBLES_AFTER), 10);
        // Four concurrent calls with ten items each could not be read; this is the last of them.
        assert_eq!(ItemLimit::below(10, 2, 0).at(0), 2);
        assert_eq!(ItemLimit::below(1, 1, 0).at(0), 1);
        assert_eq!(ItemLimit::below(3, 10, 0).doubled(0).at(0), 2);
        let later = ItemLimit::below(2, 10, 1_000);
        assert_eq!(later.at(0), 1, "the clock was set back");
        assert_eq!(later.at(Millis::MAX), MAX_BATCH_ITEMS);
    }

    #[test]
    fn a_single_output_has_higher_limits_than_a_batch() {
        let of = |kind, items| ReplyLimits::of(kind, items).bytes;
        assert!(of(CallKind::Response, 1) > of(CallKind::Response, 2));
        assert_eq!(of(CallKind::Status, 1), of(CallKind::Status, 10));
        assert_eq!(ReplyLimits::of(CallKind::Response, 2).more_ms, 0);
    }
}
