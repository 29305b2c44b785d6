//! A windowed list of cards in groups: which headings and rows of cards a person can see.

use std::ops::Range;

/// How cards are laid out; sizes in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedGrid {
    /// Cards in each group, in order; empty groups take no room.
    pub groups: Vec<usize>,
    /// Cards side by side, at least 1.
    pub columns: usize,
    pub heading_height: f64,
    pub row_height: f64,
}

/// One piece of the list and how far from its top it stands.
#[derive(Debug, Clone, PartialEq)]
pub enum GridItem {
    Heading {
        group: usize,
        top: f64,
    },
    /// Cards `cards` of the group, side by side.
    Row {
        group: usize,
        cards: Range<usize>,
        top: f64,
    },
}

impl GroupedGrid {
    fn columns(&self) -> usize {
        self.columns.max(1)
    }

    fn group_height(&self, cards: usize) -> f64 {
        if cards == 0 {
            return 0.0;
        }
        self.heading_height + cards.div_ceil(self.columns()) as f64 * self.row_height
    }

    /// The height of the whole list.
    pub fn height(&self) -> f64 {
        self.groups
            .iter()
            .map(|cards| self.group_height(*cards))
            .sum()
    }

    /// The pieces that touch the stretch from `from` to `to` of the list, in order.
    pub fn visible(&self, from: f64, to: f64) -> Vec<GridItem> {
        let mut pieces = Vec::new();
        let mut top = 0.0;
        for (group, cards) in self.groups.iter().copied().enumerate() {
            let height = self.group_height(cards);
            if cards > 0 && top < to && top + height > from {
                if top + self.heading_height > from {
                    pieces.push(GridItem::Heading { group, top });
                }
                let rows_top = top + self.heading_height;
                let rows = cards.div_ceil(self.columns());
                let first = ((from - rows_top) / self.row_height).floor().max(0.0) as usize;
                let last = ((to - rows_top) / self.row_height).ceil().max(0.0) as usize;
                for row in first..last.min(rows) {
                    let begin = row * self.columns();
                    pieces.push(GridItem::Row {
                        group,
                        cards: begin..(begin + self.columns()).min(cards),
                        top: rows_top + row as f64 * self.row_height,
                    });
                }
            }
            top += height;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grouped_grid(groups: Vec<usize>, columns: usize) -> GroupedGrid {
        GroupedGrid {
            groups,
            columns,
            heading_height: 40.0,
            row_height: 100.0,
        }
    }

    #[test]
    fn what_is_seen_of_two_groups() {
        let grouped_grid = grouped_grid(vec![5, 0, 1], 2);
        assert_eq!(grouped_grid.height(), 40.0 + 300.0 + 40.0 + 100.0);
        assert_eq!(
            grouped_grid.visible(200.0, 390.0),
            [
                GridItem::Row {
                    group: 0,
                    cards: 2..4,
                    top: 140.0
                },
                GridItem::Row {
                    group: 0,
                    cards: 4..5,
                    top: 240.0
                },
                GridItem::Heading {
                    group: 2,
                    top: 340.0
                },
                GridItem::Row {
                    group: 2,
                    cards: 0..1,
                    top: 380.0
                },
            ]
        );
    }

    proptest! {
        #[test]
        fn the_whole_list_shows_every_card_once_and_a_window_only_what_fits(
            groups in prop::collection::vec(0usize..40, 0..6), columns in 0usize..5, from in 0.0..3000.0,
        ) {
            let grouped_grid = grouped_grid(groups.clone(), columns);
            let count = |pieces: &[GridItem]| pieces.iter().map(|piece| match piece {
                GridItem::Row { cards, .. } => cards.len(),
                GridItem::Heading { .. } => 0,
            }).sum::<usize>();
            prop_assert_eq!(count(&grouped_grid.visible(0.0, f64::INFINITY.min(1e9))), groups.iter().sum::<usize>());
            let seen = grouped_grid.visible(from, from + 500.0);
            prop_assert!(seen.len() <= 6 + 2 * groups.len());
        }
    }
}
