//! Long lists show only the rows in sight: which ones, and how much empty space stands for the
//! rest.

use std::ops::Range;

/// A list or grid whose rows all have one height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Items in all.
    pub items: usize,
    /// Items in one row; 0 counts as 1.
    pub columns: usize,
    /// The distance from the top of one row to the top of the next, in px, gap included.
    pub row_height: f64,
}

/// The part of a [`Grid`] to build.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The rows to build, from 0.
    pub rows: Range<usize>,
    /// The items in these rows, from 0.
    pub items: Range<usize>,
    /// Empty space above and below the rows built, in px. With these the list is always
    /// [`Grid::height`] high, so that the scroll bar tells the truth.
    pub top: f64,
    pub bottom: f64,
}

impl Grid {
    pub fn rows(&self) -> usize {
        self.items.div_ceil(self.columns.max(1))
    }

    /// Height of the whole list in px.
    pub fn height(&self) -> f64 {
        self.rows() as f64 * self.row_height()
    }

    /// A height that was not measured yet (0, NaN) must not mean "all rows fit".
    fn row_height(&self) -> f64 {
        if self.row_height.is_finite() && self.row_height >= 1.0 {
            self.row_height
        } else {
            1.0
        }
    }

    /// What to build when `scroll` px of the list are above the top of a viewport `viewport` px
    /// high; `scroll` is negative while the list still starts below it. `overscan` more rows are
    /// built on both sides, so that scrolling and tabbing meet no hole.
    pub fn window(&self, scroll: f64, viewport: f64, overscan: usize) -> Window {
        let columns = self.columns.max(1);
        let rows = self.rows();
        let height = self.row_height();
        // `min` and `max` instead of `clamp`, whose panic message prints floats and adds 14 kB to
        // the page.
        let last_top = (self.height() - height).max(0.0);
        let above = |px: f64| if px.is_nan() { 0.0 } else { px };
        let start = above(scroll).max(0.0).min(last_top);
        let end = (above(scroll) + above(viewport).max(0.0))
            .max(start)
            .min(self.height());
        let first = (start / height).floor() as usize;
        let end = (end / height).ceil() as usize;
        let first = first.saturating_sub(overscan);
        let end = end.max(first + 1).saturating_add(overscan).min(rows);
        let first = first.min(end);
        Window {
            items: (first * columns).min(self.items)..(end * columns).min(self.items),
            top: first as f64 * height,
            bottom: (rows - end) as f64 * height,
            rows: first..end,
        }
    }
}

/// A list whose rows are of different heights.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    /// The top of each row, in px, and last the end of the list.
    tops: Vec<f64>,
}

impl Stack {
    pub fn new(heights: impl IntoIterator<Item = f64>) -> Self {
        let mut tops = vec![0.0];
        let mut end = 0.0;
        for height in heights {
            end += height;
            tops.push(end);
        }
        Self { tops }
    }

    /// Gives the height of all rows together, in px.
    pub fn height(&self) -> f64 {
        self.tops.last().copied().unwrap_or_default()
    }

    /// Gives the top of a row.
    pub fn top(&self, row: usize) -> f64 {
        self.tops.get(row).copied().unwrap_or_default()
    }

    /// The rows that touch the stretch from `from` to `to`.
    pub fn window(&self, from: f64, to: f64) -> Range<usize> {
        let rows = self.tops.len() - 1;
        let first = self.tops[1..].partition_point(|end| *end <= from);
        let after = self.tops[..rows].partition_point(|top| *top < to);
        first..after.max(first)
    }
}

/// The groups that have some of these lines, where so many lines each are a group.
pub fn groups(lines: &Range<usize>, each: usize) -> Range<usize> {
    match lines.is_empty() {
        true => 0..0,
        false => lines.start / each..lines.end.div_ceil(each),
    }
}

/// Which of these lines a group has.
pub fn in_group(lines: &Range<usize>, each: usize, group: usize) -> Range<usize> {
    let first = group * each;
    lines.start.max(first)..lines.end.min(first + each)
}

/// The stretch to build for a screen from `from` to `to`: more of what scrolling leads to than of what it comes from.
pub fn ahead((from, to): (f64, f64), is_downward: bool) -> (f64, f64) {
    let screen = to - from;
    let (next, past) = (screen / 4.0, screen / 16.0);
    match is_downward {
        true => (from - past, to + next),
        false => (from - next, to + past),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_is_built_where_scrolling_leads() {
        assert_eq!(ahead((1000.0, 1800.0), true), (950.0, 2000.0));
        assert_eq!(ahead((1000.0, 1800.0), false), (800.0, 1850.0));
    }

    /// Guards against a line that no group has, or two have.
    #[test]
    fn each_line_is_in_one_group() {
        for (lines, each, expected) in [
            (0..6, 3, 0..2),
            (2..7, 3, 0..3),
            (3..6, 3, 1..2),
            (4..5, 3, 1..2),
            (0..7, 7, 0..1),
            (5..5, 3, 0..0),
            (0..0, 0, 0..0),
        ] {
            let found = groups(&lines, each);
            assert_eq!(found, expected, "{lines:?} by {each}");
            let again = found.flat_map(|group| in_group(&lines, each, group));
            assert!(again.eq(lines.clone()), "{lines:?} by {each}");
        }
        assert!(in_group(&(6..9), 3, 0).is_empty(), "out of sight");
    }

    #[test]
    fn rows_of_different_heights() {
        let stack = Stack::new([10.0, 30.0, 10.0]);
        assert_eq!((stack.height(), stack.top(2)), (50.0, 40.0));
        for (from, to, rows) in [
            (-90.0, -10.0, 0..0),
            (-90.0, 5.0, 0..1),
            (9.0, 11.0, 0..2),
            (10.0, 40.0, 1..2),
            (39.0, 900.0, 1..3),
            (50.0, 90.0, 3..3),
        ] {
            assert_eq!(stack.window(from, to), rows, "{from} to {to}");
        }
        let empty = Stack::new([]);
        assert_eq!((empty.height(), empty.window(0.0, 9.0)), (0.0, 0..0));
    }

    #[test]
    fn a_plain_list_in_the_middle() {
        let grid = Grid {
            items: 1000,
            columns: 3,
            row_height: 100.0,
        };
        let window = grid.window(1050.0, 400.0, 2);
        assert_eq!(window.rows, 8..17);
        assert_eq!(window.items, 24..51);
        assert_eq!((window.top, window.bottom), (800.0, 31_700.0));
    }

    #[test]
    fn empty_lists_and_unmeasured_rows() {
        let empty = Grid {
            items: 0,
            columns: 0,
            row_height: 0.0,
        };
        assert_eq!(empty.window(f64::NAN, f64::NAN, 5).items, 0..0);
        let unmeasured = Grid {
            items: 10_000,
            columns: 1,
            row_height: f64::NAN,
        };
        assert!(unmeasured.window(0.0, 800.0, 2).items.len() < 1000);
    }

    proptest! {
        #[test]
        fn what_is_in_sight_is_built_and_the_height_never_changes(
            items in 0..20_000usize, columns in 0..8usize, row_height in 1.0..500.0f64,
            scroll in -1000.0..1e6f64, viewport in 0.0..3000.0f64, overscan in 0..5usize,
        ) {
            let grid = Grid { items, columns, row_height };
            let window = grid.window(scroll, viewport, overscan);
            let built = window.rows.len() as f64 * row_height;
            prop_assert!((window.top + built + window.bottom - grid.height()).abs() < 1e-3);
            prop_assert!(window.items.end <= items);
            prop_assert!(window.rows.len() <= (viewport / row_height) as usize + 3 + 2 * overscan);
            for row in 0..grid.rows().min(3000) {
                let (top, bottom) = (row as f64 * row_height, (row + 1) as f64 * row_height);
                if bottom > scroll + 1e-6 && top < scroll + viewport - 1e-6 {
                    prop_assert!(window.rows.contains(&row));
                }
            }
        }
    }
}
