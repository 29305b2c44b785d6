//! Numbers the requests of an account with the same content, so that the last one can be found by its idempotency key.

use crate::failure::Failure;
use crate::idempotency::TTL_SECONDS;
use crate::store::now_ms;

/// How long requests with the same content are numbered together, in milliseconds.
const SLOT_MS: i64 = 6 * 60 * 60 * 1000;

// No key of the previous slot or a later one has expired, so their numbers have no gaps.
const _: () = assert!(2 * SLOT_MS < TTL_SECONDS as i64 * 1000);

/// Returns the current slot.
pub fn current_slot() -> i64 {
    now_ms() / SLOT_MS
}

/// Returns the slot and the number of the last request: in this slot, the previous one, or the next one, which another
/// process may have reached by its clock. `count` returns the number of requests in a slot.
///
/// # Errors
///
/// As for `count`.
pub fn last(
    slot: i64,
    mut count: impl FnMut(i64) -> Result<u64, Failure>,
) -> Result<Option<(i64, u64)>, Failure> {
    for slot in [slot + 1, slot, slot - 1] {
        if let Some(number) = count(slot)?.checked_sub(1) {
            return Ok(Some((slot, number)));
        }
    }
    Ok(None)
}

/// Returns the slot and the number of the request after the last one.
pub fn next(slot: i64, last: Option<(i64, u64)>) -> (i64, u64) {
    match last {
        Some((newest, number)) if newest >= slot => (newest, number + 1),
        _ => (slot, 0),
    }
}

/// Returns the first number for which `exists` is false. It must be true for all numbers below.
///
/// # Errors
///
/// As for `exists`.
pub fn count(mut exists: impl FnMut(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let mut end = 1;
    while exists(end - 1)? {
        end *= 2;
    }
    // `exists` is true below `start`, and false for `end - 1`.
    let mut start = end / 2;
    end -= 1;
    while start < end {
        let middle = start.midpoint(end);
        match exists(middle)? {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a repeated request that is charged again, or gets older images, because keys have expired.
    #[test]
    fn the_last_request_is_searched_while_no_key_has_expired() {
        let in_slots = |counts: [u64; 4]| {
            let count = |slot: i64| Ok(counts[usize::try_from(slot).unwrap()]);
            last(2, count).unwrap()
        };
        assert_eq!(in_slots([0, 3, 2, 0]), Some((2, 1)));
        assert_eq!(in_slots([0, 3, 0, 0]), Some((1, 2)));
        assert_eq!(in_slots([3, 0, 0, 0]), None);
        // Another process is already in the next slot.
        assert_eq!(in_slots([0, 3, 2, 4]), Some((3, 3)));
    }

    /// Guards against a number that only processes with another clock find.
    #[test]
    fn the_newest_slot_is_continued() {
        assert_eq!(next(2, None), (2, 0));
        assert_eq!(next(2, Some((1, 5))), (2, 0));
        assert_eq!(next(2, Some((2, 5))), (2, 6));
        assert_eq!(next(2, Some((3, 5))), (3, 6));
    }

    #[test]
    fn existing_numbers_are_counted() {
        for total in 0..70 {
            let mut calls = 0;
            let counted = count(|number| {
                calls += 1;
                Ok(number < total)
            });
            assert_eq!(counted.unwrap(), total);
            assert!(calls < 16, "{calls} calls for {total}");
        }
    }
}
