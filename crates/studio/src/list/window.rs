//! Virtual scrolling: long lists render only the rows near the visible range. Computes the positions of rows, and the
//! rows that intersect a range.

use std::ops::Range;

/// The positions of rows below each other, in px.
///
/// Consecutive rows of the same height are stored as one entry, so a list of 10,000 equal rows takes as little memory
/// as one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stack {
    runs: Vec<Run>,
    rows: usize,
    height: f64,
}

/// Consecutive rows of the same height.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    first: usize,
    /// The top of the first row.
    top: f64,
    /// The distance from the top of one row to the top of the next, including the gap.
    row_height: f64,
}

impl Stack {
    pub fn new(heights: impl IntoIterator<Item = f64>) -> Self {
        let mut stack = Self::default();
        for height in heights {
            stack.push(1, height);
        }
        stack
    }

    pub fn uniform(rows: usize, row_height: f64) -> Self {
        let mut stack = Self::default();
        stack.push(rows, row_height);
        stack
    }

    /// Adds rows of the same height at the end. A height that was not measured yet (0 or NaN) counts as 1, so that not
    /// all rows of a long list are rendered.
    pub fn push(&mut self, rows: usize, row_height: f64) {
        let row_height = match row_height.is_finite() {
            true => row_height.max(1.0),
            false => 1.0,
        };
        let has_height = |run: &Run| run.row_height == row_height;
        if rows > 0 && !self.runs.last().is_some_and(has_height) {
            self.runs.push(Run {
                first: self.rows,
                top: self.height,
                row_height,
            });
        }
        self.rows += rows;
        self.height = self.top(self.rows);
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the total height of all rows.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Returns the top of a row, or the end of the list if there is no such row.
    pub fn top(&self, row: usize) -> f64 {
        let row = row.min(self.rows);
        let runs = self.runs.partition_point(|run| run.first <= row);
        self.runs[..runs].last().map_or(0.0, |run| {
            run.top + (row - run.first) as f64 * run.row_height
        })
    }

    /// Returns the rows that intersect the range from `from` to `to`.
    pub fn window(&self, from: f64, to: f64) -> Range<usize> {
        let runs_from = self.runs.partition_point(|run| run.top <= from);
        let runs_to = self.runs.partition_point(|run| run.top < to);
        let first = self.row_in(runs_from, |run| ((from - run.top) / run.row_height).floor());
        let after = self.row_in(runs_to, |run| ((to - run.top) / run.row_height).ceil());
        first..after.max(first)
    }

    /// Returns a row of the last of the first `runs` runs. `row`: returns the number of rows of this run before it. If
    /// there are fewer rows in the run, returns the first row after the run.
    fn row_in(&self, runs: usize, row: impl Fn(&Run) -> f64) -> usize {
        let end = self.runs.get(runs).map_or(self.rows, |next| next.first);
        let last = self.runs[..runs].last();
        last.map_or(0, |run| {
            run.first.saturating_add(row(run) as usize).min(end)
        })
    }

    /// Returns the rows to render for the range from `from` to `to`, with `overscan` more rows on both sides. With an
    /// overscan, a list that has rows renders at least one, even if it has just become shorter than the scroll
    /// position.
    pub fn near(&self, (from, to): (f64, f64), overscan: usize) -> Range<usize> {
        let rows = self.window(from, to);
        let end = rows.end.saturating_add(overscan).min(self.rows);
        rows.start.saturating_sub(overscan)..end
    }
}

/// Returns the groups that contain some of these lines. `each`: the number of lines per group.
pub fn groups(lines: &Range<usize>, each: usize) -> Range<usize> {
    match lines.is_empty() {
        true => 0..0,
        false => lines.start / each..lines.end.div_ceil(each),
    }
}

/// Returns the lines of a group among these lines. `each`: the number of lines per group.
pub fn lines_in_group(lines: &Range<usize>, each: usize, group: usize) -> Range<usize> {
    let first = group * each;
    lines.start.max(first)..lines.end.min(first + each)
}

/// Extends the visible range to the range to render, further in the direction of scrolling than in the opposite one.
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
    fn the_rendered_range_extends_further_in_the_direction_of_scrolling() {
        assert_eq!(ahead((1000.0, 1800.0), true), (950.0, 2000.0));
        assert_eq!(ahead((1000.0, 1800.0), false), (800.0, 1850.0));
    }

    /// Each line must be in exactly one group.
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
            let again = found.flat_map(|group| lines_in_group(&lines, each, group));
            assert!(again.eq(lines.clone()), "{lines:?} by {each}");
        }
        assert!(
            lines_in_group(&(6..9), 3, 0).is_empty(),
            "the group has none of the lines"
        );
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
    fn consecutive_rows_of_the_same_height_are_one_entry() {
        assert_eq!(Stack::uniform(10_000, 48.0).runs.len(), 1);
        assert_eq!(Stack::new([48.0; 10_000]), Stack::uniform(10_000, 48.0));
        assert_eq!(Stack::new([9.0, 9.0, 5.0, 9.0]).runs.len(), 3);
    }

    #[test]
    fn a_window_has_more_rows_on_both_sides() {
        let stack = Stack::uniform(1000, 100.0);
        assert_eq!(stack.near((1050.0, 1450.0), 0), 10..15);
        assert_eq!(stack.near((1050.0, 1450.0), 2), 8..17);
        assert_eq!(stack.near((0.0, 100.0), 1), 0..2);
        // The scroll position is below the end of the list.
        assert_eq!(stack.near((200_000.0, 200_400.0), 1), 999..1000);
        assert_eq!(Stack::default().near((0.0, 400.0), 1), 0..0);
    }

    #[test]
    fn heights_that_were_not_measured() {
        for height in [0.0, f64::NAN, -5.0, f64::INFINITY] {
            let stack = Stack::uniform(10_000, height);
            assert_eq!(stack.window(0.0, 800.0), 0..800, "{height}");
        }
        let stack = Stack::uniform(10_000, 48.0);
        assert_eq!(stack.near((f64::NAN, f64::NAN), 1), 0..1);
    }

    proptest! {
        #[test]
        fn visible_rows_are_rendered_and_the_height_never_changes(
            runs in prop::collection::vec((0..50usize, 1.0..500.0f64), 0..20),
            from in -1000.0..2e5f64, screen in 0.0..3000.0f64, overscan in 0..5usize,
        ) {
            let mut stack = Stack::default();
            let mut heights = Vec::new();
            for (rows, height) in runs {
                stack.push(rows, height);
                heights.extend(vec![height; rows]);
            }
            prop_assert_eq!(stack.rows(), heights.len());
            let to = from + screen;
            let (seen, built) = (stack.window(from, to), stack.near((from, to), overscan));
            prop_assert!(built.start <= built.end && built.end <= stack.rows());
            prop_assert!(built.len() <= seen.len() + 2 * overscan);
            let mut top = 0.0;
            for (row, height) in heights.iter().enumerate() {
                prop_assert!((stack.top(row) - top).abs() < 1e-6);
                let end = top + height;
                if end > from + 1e-6 && top < to - 1e-6 {
                    prop_assert!(seen.contains(&row) && built.contains(&row));
                }
                if end < from - 1e-6 || top > to + 1e-6 {
                    prop_assert!(!seen.contains(&row));
                }
                top = end;
            }
            prop_assert!((stack.height() - top).abs() < 1e-6);
            prop_assert_eq!(stack.top(stack.rows()), stack.height());
        }
    }
}
