//! Pictures of different shapes in rows that are all as wide as the page, under the day of each.

use std::ops::Range;

use crate::window::Stack;

/// No picture is taken for narrower or wider than this, in the layout: a very long one would leave no
/// row for the others.
const NARROWEST: f64 = 0.4;
const WIDEST: f64 = 3.5;

/// A row of the gallery.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// The heading of a day: of the first item that follows.
    Day(usize),
    Items(ItemRow),
}

/// Items side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    pub items: Range<usize>,
    /// In px, without the gap below it.
    pub height: f64,
    /// The width of each item in px.
    pub widths: Vec<f64>,
}

/// How large everything is, in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    pub width: f64,
    /// The height that rows have about; those that are full have what makes them as wide as the page.
    pub row: f64,
    pub gap: f64,
    /// So many stand in a row, however wide they are, if the day has as many.
    pub least: usize,
}

/// Lays the items out. `items` gives of each its day, by any number, and its width by height.
pub fn rows(items: &[(i64, f64)], measure: Measure) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut from = 0;
    while from < items.len() {
        let day = items[from].0;
        let until = items[from..]
            .iter()
            .position(|(other, _)| *other != day)
            .map_or(items.len(), |after| from + after);
        rows.push(Row::Day(from));
        rows.extend(justified(items, from..until, measure).map(Row::Items));
        from = until;
    }
    rows
}

/// Fills one row after the other; the last keeps the height that was asked for.
fn justified(
    items: &[(i64, f64)],
    range: Range<usize>,
    measure: Measure,
) -> impl Iterator<Item = ItemRow> {
    let width = measure.width.max(1.0);
    let mut from = range.start;
    std::iter::from_fn(move || {
        if from == range.end {
            return None;
        }
        let mut ratios = 0.0;
        let mut end = from;
        let (room, is_full) = loop {
            ratios += shape(items[end].1);
            end += 1;
            let room = room(width, end - from, measure.gap);
            let are_enough = end - from >= measure.least || end == range.end;
            let is_full = ratios * measure.row >= room && are_enough;
            if is_full || end == range.end {
                break (room, is_full);
            }
        };
        let height = match is_full {
            true => room / ratios,
            false => measure.row,
        };
        let items = &items[from..end];
        let width = |(_, ratio): &(i64, f64)| (shape(*ratio) * height).min(width);
        let row = ItemRow {
            items: from..end,
            height,
            widths: items.iter().map(width).collect(),
        };
        from = end;
        Some(row)
    })
}

/// Where an arrow leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the one before, also from a row's beginning to the end of the row above.
    Back,
    /// To the one after.
    On,
    /// To the one above that is nearest.
    Up,
    Down,
}

/// The item that an arrow leads to from another one; none at the ends.
pub fn neighbor(rows: &[Row], at: usize, direction: Direction) -> Option<usize> {
    let mut rows = rows.iter().filter_map(|row| match row {
        Row::Items(items) => Some(items),
        Row::Day(_) => None,
    });
    match direction {
        Direction::Back => at.checked_sub(1),
        Direction::On => rows
            .next_back()
            .and_then(|last| (at + 1 < last.items.end).then_some(at + 1)),
        Direction::Up | Direction::Down => {
            let rows: Vec<&ItemRow> = rows.collect();
            let here = rows.iter().position(|row| row.items.contains(&at))?;
            let there = match direction {
                Direction::Up => here.checked_sub(1)?,
                _ => here + 1,
            };
            let (from, to) = (rows[here], rows.get(there)?);
            let wanted = from.middle(at);
            to.items.clone().min_by(|a, b| {
                let away = |at: &usize| (to.middle(*at) - wanted).abs();
                away(a).total_cmp(&away(b))
            })
        }
    }
}

/// A rectangle in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Frame {
    /// Between two corners that lie opposite each other, each across and down.
    pub fn between((x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> Self {
        Self {
            left: x.min(to_x),
            top: y.min(to_y),
            right: x.max(to_x),
            bottom: y.max(to_y),
        }
    }
}

/// The items that a frame touches. `stack` says where the rows begin.
pub fn touched(rows: &[Row], stack: &Stack, gap: f64, frame: Frame) -> Vec<usize> {
    let mut found = Vec::new();
    for at in stack.window(frame.top, frame.bottom) {
        let Some(Row::Items(row)) = rows.get(at) else {
            continue;
        };
        // The gap below it is no part of it.
        if frame.top > stack.top(at) + row.height {
            continue;
        }
        let mut left = 0.0;
        for (item, width) in row.items.clone().zip(&row.widths) {
            if left <= frame.right && left + width >= frame.left {
                found.push(item);
            }
            left += width + gap;
        }
    }
    found
}

impl ItemRow {
    /// Of an item, in px from the row's beginning; the gaps, alike in all rows, are left out.
    fn middle(&self, at: usize) -> f64 {
        let before = &self.widths[..at - self.items.start];
        before.iter().sum::<f64>() + self.widths[at - self.items.start] / 2.0
    }
}

/// What the gaps between items leave of the width.
fn room(width: f64, items: usize, gap: f64) -> f64 {
    (width - gap * (items as f64 - 1.0)).max(1.0)
}

fn shape(ratio: f64) -> f64 {
    if !ratio.is_finite() {
        return 1.0;
    }
    let ratio = ratio.max(NARROWEST);
    ratio.min(WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items_of(rows: &[Row]) -> Vec<&ItemRow> {
        let items = rows.iter().filter_map(|row| match row {
            Row::Items(items) => Some(items),
            Row::Day(_) => None,
        });
        items.collect()
    }

    #[test]
    fn days_have_rows_of_their_own() {
        let items = [(2, 1.0), (2, 1.0), (1, 2.0)];
        let measure = Measure {
            width: 210.0,
            row: 100.0,
            gap: 10.0,
            least: 1,
        };
        let rows = rows(&items, measure);
        assert_eq!(rows.len(), 4);
        assert_eq!((&rows[0], &rows[2]), (&Row::Day(0), &Row::Day(2)));
        let rows = items_of(&rows);
        assert_eq!((rows[0].items.clone(), rows[0].height), (0..2, 100.0));
        assert_eq!((rows[1].items.clone(), rows[1].height), (2..3, 100.0));
    }

    /// Guards against one picture a row on a phone.
    #[test]
    fn two_stand_in_a_row_of_a_phone() {
        for ratio in [0.75, 1.0, 1.5, 16.0 / 9.0, 3.0] {
            let measure = Measure {
                width: 288.0,
                row: 208.0,
                gap: 6.0,
                least: 2,
            };
            let rows = rows(&[(0, ratio); 5], measure);
            let items: Vec<_> = items_of(&rows)
                .iter()
                .map(|row| row.items.clone())
                .collect();
            assert_eq!(items, [0..2, 2..4, 4..5], "{ratio}");
        }
    }

    #[test]
    fn arrows_lead_to_the_nearest() {
        // Two wide ones above, three narrow ones below, and a day before with one.
        let items = [(2, 1.5), (2, 1.5), (2, 1.0), (2, 1.0), (2, 1.0), (1, 1.0)];
        let measure = Measure {
            width: 300.0,
            row: 100.0,
            gap: 0.0,
            least: 1,
        };
        let rows = rows(&items, measure);
        let to = |at, direction| neighbor(&rows, at, direction);
        assert_eq!((to(0, Direction::Back), to(0, Direction::Up)), (None, None));
        assert_eq!(
            (to(1, Direction::On), to(5, Direction::On)),
            (Some(2), None)
        );
        assert_eq!(
            (to(0, Direction::Down), to(1, Direction::Down)),
            (Some(2), Some(4))
        );
        assert_eq!(
            (to(4, Direction::Down), to(5, Direction::Down)),
            (Some(5), None)
        );
        assert_eq!(
            (to(5, Direction::Up), to(9, Direction::Up)),
            (Some(2), None)
        );
    }

    #[test]
    fn a_frame_touches_what_it_crosses() {
        let items = [(2, 1.0), (2, 1.0), (2, 1.0), (1, 1.0)];
        let measure = Measure {
            width: 210.0,
            row: 100.0,
            gap: 10.0,
            least: 1,
        };
        let rows = rows(&items, measure);
        // A heading of 20, then rows of 100 and 10 of gap.
        let stack = Stack::new(rows.iter().map(|row| match row {
            Row::Day(_) => 20.0,
            Row::Items(row) => row.height + 10.0,
        }));
        let of = |from, to| touched(&rows, &stack, 10.0, Frame::between(from, to));
        assert_eq!(of((-50.0, 30.0), (5.0, 40.0)), [0]);
        assert_eq!(of((205.0, 200.0), (50.0, 90.0)), [0, 1, 2]);
        // The gap between two, and the heading above all.
        assert!(of((102.0, 30.0), (108.0, 40.0)).is_empty());
        assert!(of((0.0, 2.0), (205.0, 18.0)).is_empty());
        assert!(of((0.0, 122.0), (205.0, 128.0)).is_empty());
        assert_eq!(of((-9.0, -9.0), (999.0, 999.0)), [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn every_item_is_in_one_row_and_full_rows_are_as_wide_as_the_page(
            shapes in proptest::collection::vec((0..3i64, 0.01..20.0f64), 0..200),
            width in 0.0..3000.0f64, row in 40.0..600.0f64, gap in 0.0..24.0f64, least in 1..4usize,
        ) {
            let mut items = shapes;
            items.sort_by_key(|(day, _)| *day);
            let rows = rows(&items, Measure { width, row, gap, least });
            let rows = items_of(&rows);
            let ends_day = |end: usize| end == items.len() || items[end].0 != items[end - 1].0;
            let mut next = 0;
            for items in rows {
                prop_assert_eq!(items.items.start, next);
                prop_assert!(!items.items.is_empty());
                next = items.items.end;
                prop_assert!(items.height <= row + 1e-6, "{} > {}", items.height, row);
                let gaps = gap * (items.widths.len() as f64 - 1.0);
                let whole = items.widths.iter().sum::<f64>() + gaps;
                prop_assert!(gaps + 1.0 > width || whole <= width.max(1.0) + 1e-3);
                prop_assert!(ends_day(items.items.end) || whole + 1e-3 >= width);
            }
            prop_assert_eq!(next, items.len());
        }
    }
}
