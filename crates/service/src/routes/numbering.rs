//! Numbers the requests of an account with the same content, so that the last one can be found by its idempotency key.

use crate::failure::Failure;
use crate::idempotency::TTL_SECONDS;
use crate::store::now_ms;

/// How long requests with the same content are numbered together, in milliseconds.
const SLOT_MS: i64 = 6 * 60 * 60 * 1000;

// No key of this slot or the previous one has expired, so the numbers of both have no gaps.
const _: () = assert!(2 * SLOT_MS < TTL_SECONDS as i64 * 1000);

/// Returns the current slot.
pub fn current_slot() -> i64 {
    now_ms() / SLOT_MS
}

/// Returns the slot and the number of the last request, in this slot or the previous one. `count` returns the number of
/// requests in a slot.
///
/// # Errors
///
/// As for `count`.
pub fn last(
    slot: i64,
    mut count: impl FnMut(i64) -> Result<u64, Failure>,
) -> Result<Option<(i64, u64)>, Failure> {
    for slot in [slot, slot - 1] {
        if let Some(number) = count(slot)?.checked_sub(1) {
            return Ok(Some((slot, number)));
        }
    }
    Ok(None)
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
        let in_slots = |counts: [u64; 3]| {
            let count = |slot: i64| Ok(counts[usize::try_from(slot).unwrap()]);
            last(2, count).unwrap()
        };
        assert_eq!(in_slots([0, 3, 2]), Some((2, 1)));
        assert_eq!(in_slots([0, 3, 0]), Some((1, 2)));
        assert_eq!(in_slots([3, 0, 0]), None);
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
