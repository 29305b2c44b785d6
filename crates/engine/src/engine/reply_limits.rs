//! How many items a call may have, and how much of its reply is read. A reply that is too large to read, malformed or
//! cut off is asked for again with half the items.

use atelier_contract::{ApiError, MAX_BATCH_ITEMS};

use super::CallKind;
use crate::Millis;

/// The most bytes of a reply that are read: without outputs no JSON of the interface comes near it.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The same of a reply with the outputs of one task, which may be data URIs. Reading it takes several times as much
/// memory.
pub(crate) const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// How long a call may take before it counts as unanswered, in milliseconds.
const TIMEOUT: u32 = 30_000;

/// `generate` may do much before it answers, and giving up early makes a task Unconfirmed.
const GENERATE_TIMEOUT: u32 = 90_000;

/// How much longer the reply with the outputs of one task may take once it has begun: over a slow line 64 MB arrive.
const OUTPUT_TIME: u32 = 270_000;

/// After this time without another reply that could not be read, calls have twice as many items.
const DOUBLES_AFTER: Millis = 120_000;

/// The bounds of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyLimits {
    /// The most bytes that are read.
    pub bytes: u64,
    /// How long the call may take, in milliseconds.
    pub timeout_ms: u32,
    /// How much longer it may take if its reply has begun by then.
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

    /// The bounds of the reply to a call with so many items.
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
                CallKind::Status | CallKind::Response => TIMEOUT,
            },
            more_ms: if is_one_output { OUTPUT_TIME } else { 0 },
        }
    }
}

/// The most items in a call of one kind, since a reply to more could not be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemLimit {
    items: usize,
    since: Millis,
}

impl ItemLimit {
    /// After a reply to a call with so many items could not be read.
    pub fn below(asked: usize, before: usize, now: Millis) -> Self {
        let items = (asked / 2).min(before).max(1);
        Self { items, since: now }
    }

    /// Twice as many.
    pub fn doubled(self, now: Millis) -> Self {
        let items = self.at(now) * 2;
        Self { items, since: now }
    }

    pub fn at(self, now: Millis) -> usize {
        let doublings = now.saturating_sub(self.since) / DOUBLES_AFTER;
        (self.items << doublings.min(4)).min(MAX_BATCH_ITEMS)
    }
}

/// Whether an answer came that is of no use as it is, and with fewer items may be.
pub(super) fn is_unreadable(error: &ApiError) -> bool {
    let is_malformed = matches!(error, ApiError::Malformed { .. }) && !error.is_unreachable();
    is_malformed || error.is_cut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_half_the_items_and_slowly_more_again() {
        let limit = ItemLimit::below(10, 10, 0);
        assert_eq!(limit.at(0), 5);
        assert_eq!(limit.at(DOUBLES_AFTER - 1), 5);
        assert_eq!(limit.at(DOUBLES_AFTER), 10);
        // Of four calls with ten items that are under way at once.
        assert_eq!(ItemLimit::below(10, 2, 0).at(0), 2);
        assert_eq!(ItemLimit::below(1, 1, 0).at(0), 1);
        assert_eq!(ItemLimit::below(3, 10, 0).doubled(0).at(0), 2);
        let later = ItemLimit::below(2, 10, 1_000);
        assert_eq!(later.at(0), 1, "the clock was set back");
        assert_eq!(later.at(Millis::MAX), MAX_BATCH_ITEMS);
    }

    #[test]
    fn one_output_may_be_larger_and_slower_than_a_batch() {
        let of = |kind, items| ReplyLimits::of(kind, items).bytes;
        assert!(of(CallKind::Response, 1) > of(CallKind::Response, 2));
        assert_eq!(of(CallKind::Status, 1), of(CallKind::Status, 10));
        assert_eq!(ReplyLimits::of(CallKind::Response, 2).more_ms, 0);
    }
}
