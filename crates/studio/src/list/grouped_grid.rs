//! Lays out cards in groups below each other. Each group has a heading and rows of cards.

use std::ops::Range;

use super::window::Stack;

/// A row of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct GridRow {
    /// The index of the row's group, from 0.
    pub group: usize,
    /// The cards of the group in this row, from 0; `None` if the row is a heading.
    pub cards: Option<Range<usize>>,
}

/// Returns the positions of the rows. `groups`: the number of cards of each group; empty groups have no rows.
/// `heading`: the height of a heading; `row`: the height of a row of cards, including the gap below it.
pub fn stack(
    groups: impl IntoIterator<Item = usize>,
    columns: usize,
    (heading, row): (f64, f64),
) -> Stack {
    let mut stack = Stack::default();
    for cards in groups.into_iter().filter(|cards| *cards > 0) {
        stack.push(1, heading);
        stack.push(cards.div_ceil(columns.max(1)), row);
    }
    stack
}

/// Returns the content of a row of [`stack`].
pub fn row(
    groups: impl IntoIterator<Item = usize>,
    columns: usize,
    mut at: usize,
) -> Option<GridRow> {
    let columns = columns.max(1);
    let groups = groups.into_iter().enumerate();
    for (group, cards) in groups.filter(|(_, cards)| *cards > 0) {
        let rows = 1 + cards.div_ceil(columns);
        if at < rows {
            let first = at.checked_sub(1).map(|row| row * columns);
            let cards = first.map(|first| first..(first + columns).min(cards));
            return Some(GridRow { group, cards });
        }
        at -= rows;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEIGHTS: (f64, f64) = (40.0, 100.0);

    fn rows(groups: &[usize], columns: usize, (from, to): (f64, f64)) -> Vec<(f64, GridRow)> {
        let stack = stack(groups.iter().copied(), columns, HEIGHTS);
        let row = |at| Some((stack.top(at), row(groups.iter().copied(), columns, at)?));
        stack.window(from, to).filter_map(row).collect()
    }

    #[test]
    fn rows_of_two_groups_are_found() {
        let groups = [5, 0, 1];
        let stack = stack(groups, 2, HEIGHTS);
        assert_eq!(stack.height(), 40.0 + 300.0 + 40.0 + 100.0);
        let item = |group, cards| GridRow { group, cards };
        assert_eq!(
            rows(&groups, 2, (200.0, 390.0)),
            [
                (140.0, item(0, Some(2..4))),
                (240.0, item(0, Some(4..5))),
                (340.0, item(2, None)),
                (380.0, item(2, Some(0..1))),
            ]
        );
        assert_eq!(row(groups, 2, stack.rows()), None);
    }

    /// Groups must not be side by side, because they would look like columns.
    #[test]
    fn each_group_starts_a_row() {
        let groups = [4, 1, 0, 7];
        let mut headings = rows(&groups, 6, (0.0, 1e9));
        headings.retain(|(_, row)| row.cards.is_none());
        let headings: Vec<_> = headings
            .iter()
            .map(|(top, row)| (row.group, *top))
            .collect();
        assert_eq!(headings, [(0, 0.0), (1, 140.0), (3, 280.0)]);
        assert_eq!(stack(groups, 6, HEIGHTS).height(), 280.0 + 40.0 + 200.0);
    }

    proptest! {
        #[test]
        fn each_card_is_in_one_row_and_a_window_has_only_the_rows_that_fit(
            groups in prop::collection::vec(0usize..40, 0..6), columns in 0usize..5, from in 0.0..3000.0,
        ) {
            for (group, cards) in groups.iter().enumerate() {
                let found = rows(&groups, columns, (0.0, 1e9)).into_iter();
                let found = found.filter_map(|(_, row)| row.cards.filter(|_| row.group == group));
                prop_assert!(found.flatten().eq(0..*cards));
            }
            let seen = rows(&groups, columns, (from, from + 500.0));
            prop_assert!(seen.len() <= 6 + 2 * groups.len());
        }
    }
}
