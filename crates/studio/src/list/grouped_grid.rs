//! A windowed list of cards in groups, one below the other: which headings and rows of cards a person can see.

use std::ops::Range;

/// How cards are laid out; sizes in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedGrid {
    /// Cards in each group, in order; empty groups take no room.
    pub groups: Vec<usize>,
    /// Cards side by side, at least 1.
    pub columns: usize,
    /// How high a heading is.
    pub heading_height: f64,
    /// How high a row of cards is, with the gap below it.
    pub row_height: f64,
}

/// One piece of the list and how far from its top it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct GridItem {
    /// Its place among [`GroupedGrid::groups`], from 0.
    pub group: usize,
    /// The cards of the group that stand side by side here; none in its heading.
    pub cards: Option<Range<usize>>,
    /// How far from the top of the list, in CSS pixels.
    pub top: f64,
}

/// The place of a group.
struct Place {
    group: usize,
    cards: usize,
    top: f64,
    height: f64,
}

impl GroupedGrid {
    fn columns(&self) -> usize {
        self.columns.max(1)
    }

    /// Gives the places of the groups with cards, in order.
    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        let mut top = 0.0;
        for (group, cards) in self.groups.iter().copied().enumerate() {
            if cards == 0 {
                continue;
            }
            let rows = cards.div_ceil(self.columns());
            let height = self.heading_height + rows as f64 * self.row_height;
            places.push(Place {
                group,
                cards,
                top,
                height,
            });
            top += height;
        }
        places
    }

    /// The height of the whole list.
    pub fn height(&self) -> f64 {
        let places = self.places();
        places.last().map_or(0.0, |last| last.top + last.height)
    }

    /// The pieces that touch the stretch from `from` to `to` of the list, in order.
    pub fn visible(&self, from: f64, to: f64) -> Vec<GridItem> {
        let mut pieces = Vec::new();
        for place in self.places() {
            let Place { group, .. } = place;
            if place.top >= to || place.top + place.height <= from {
                continue;
            }
            let rows_top = place.top + self.heading_height;
            let rows = place.cards.div_ceil(self.columns());
            let first = ((from - rows_top) / self.row_height).floor().max(0.0) as usize;
            let last = ((to - rows_top) / self.row_height).ceil().max(0.0) as usize;
            if rows_top > from {
                pieces.push(GridItem {
                    group,
                    cards: None,
                    top: place.top,
                });
            }
            for row in first..last.min(rows) {
                let begin = row * self.columns();
                let end = (begin + self.columns()).min(place.cards);
                pieces.push(GridItem {
                    group,
                    cards: Some(begin..end),
                    top: rows_top + row as f64 * self.row_height,
                });
            }
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

    fn item(group: usize, cards: Option<Range<usize>>, top: f64) -> GridItem {
        GridItem { group, cards, top }
    }

    #[test]
    fn what_is_seen_of_two_groups() {
        let grouped_grid = grouped_grid(vec![5, 0, 1], 2);
        assert_eq!(grouped_grid.height(), 40.0 + 300.0 + 40.0 + 100.0);
        assert_eq!(
            grouped_grid.visible(200.0, 390.0),
            [
                item(0, Some(2..4), 140.0),
                item(0, Some(4..5), 240.0),
                item(2, None, 340.0),
                item(2, Some(0..1), 380.0),
            ]
        );
    }

    /// Guards against categories next to each other that look like columns.
    #[test]
    fn each_group_begins_a_row() {
        let grouped_grid = grouped_grid(vec![4, 1, 0, 7], 6);
        let places = grouped_grid.places();
        let of = |at: usize| (places[at].group, places[at].top);
        assert_eq!([of(0), of(1), of(2)], [(0, 0.0), (1, 140.0), (3, 280.0)]);
        assert_eq!(grouped_grid.height(), 280.0 + 40.0 + 200.0);
    }

    proptest! {
        #[test]
        fn the_whole_list_shows_every_card_once_and_a_window_only_what_fits(
            groups in prop::collection::vec(0usize..40, 0..6), columns in 0usize..5, from in 0.0..3000.0,
        ) {
            let grouped_grid = grouped_grid(groups.clone(), columns);
            let count = |pieces: &[GridItem]| pieces.iter().filter_map(|piece| piece.cards.clone()).map(|cards| cards.len()).sum::<usize>();
            prop_assert_eq!(count(&grouped_grid.visible(0.0, f64::INFINITY.min(1e9))), groups.iter().sum::<usize>());
            let seen = grouped_grid.visible(from, from + 500.0);
            prop_assert!(seen.len() <= 6 + 2 * groups.len());
        }
    }
}
