//! A sort that the code of the first view shares. Each type that is sorted by the standard library adds kilobytes to
//! the first part of the program, but indexes can share one sort. Other code uses the standard library.

use std::cmp::Ordering;

/// Returns the indexes of `count` elements, sorted by `compare`. The sort is stable.
#[inline(never)]
pub(crate) fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_unstable_by(|a, b| compare(*a, *b).then(a.cmp(b)));
    positions
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(unsorted: Vec<(u8, u8)>) {
            let mut ours: Vec<(u64, u64)> =
                unsorted.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect();
            pairs(&mut ours);
            prop_assert!(ours.is_sorted());

            let positions = order(unsorted.len(), &|a, b| unsorted[a].0.cmp(&unsorted[b].0));
            let in_order: Vec<_> = positions.into_iter().map(|at| unsorted[at]).collect();
            let mut by_first = unsorted;
            by_first.sort_by_key(|(first, _)| *first);
            prop_assert_eq!(in_order, by_first);
        }
    }
}
