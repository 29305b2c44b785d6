//! One sort for all. Each type sorted by the standard library's sort brings kilobytes of its own
//! into the page; positions can go through one.

use std::cmp::Ordering;

/// The positions of `count` things, from the least thing to the greatest, equal ones in order.
#[inline(never)]
pub(crate) fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_unstable_by(|a, b| compare(*a, *b).then(a.cmp(b)));
    positions
}

/// The things at these positions.
pub(crate) fn arranged<T>(things: Vec<T>, positions: &[usize]) -> Vec<T> {
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    let mut arranged = Vec::with_capacity(things.len());
    for position in positions {
        arranged.extend(things[*position].take());
    }
    arranged
}

/// Sorts by the first number, then by the second.
#[inline(never)]
pub(crate) fn pairs(pairs: &mut [(u64, u64)]) {
    let unsorted = pairs.to_vec();
    let order = order(pairs.len(), &|a, b| unsorted[a].cmp(&unsorted[b]));
    for (pair, position) in pairs.iter_mut().zip(order) {
        *pair = unsorted[position];
    }
}

/// The positions of the keys, from the least key to the greatest, equal ones in order.
pub(crate) fn positions(keys: impl IntoIterator<Item = u64>) -> Vec<usize> {
    let keys: Vec<u64> = keys.into_iter().collect();
    order(keys.len(), &|a, b| keys[a].cmp(&keys[b]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_standard_library_sorts(unsorted: Vec<(u8, u8)>) {
            let mut ours: Vec<(u64, u64)> =
                unsorted.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect();
            pairs(&mut ours);
            prop_assert!(ours.is_sorted());

            let mut by_first = unsorted.clone();
            by_first.sort_by_key(|(first, _)| *first);
            let positions = positions(unsorted.iter().map(|(first, _)| u64::from(*first)));
            prop_assert_eq!(arranged(unsorted, &positions), by_first);
        }
    }
}
