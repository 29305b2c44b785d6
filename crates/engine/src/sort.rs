//! One sort for all. Each type sorted by the standard library's sort brings kilobytes of its own
//! into the page; numbers and positions can go through one.

/// Sorts by the first number, then by the second.
#[inline(never)]
pub(crate) fn pairs(pairs: &mut [(u64, u64)]) {
    pairs.sort_unstable();
}

/// The positions of the keys, from the least key to the greatest, equal ones in order.
pub(crate) fn positions(keys: impl IntoIterator<Item = u64>) -> Vec<usize> {
    let mut keyed: Vec<(u64, u64)> = keys.into_iter().zip(0..).collect();
    pairs(&mut keyed);
    keyed
        .into_iter()
        .map(|(_, position)| position as usize)
        .collect()
}
