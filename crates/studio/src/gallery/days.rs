//! Computes the vertical range of each day in the gallery, in which its heading stays visible.

use std::ops::Range;

use super::layout::{DayHead, LayoutRow};
use crate::list::window::Stack;

/// A day with the range from the top of its heading to the top of the next heading, in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DaySpan {
    /// The first item of the day, and the maximum width of its heading.
    pub head: DayHead,
    pub top: f64,
    pub bottom: f64,
}

/// Returns the spans of the days. `stack`: the positions of the rows. Days that are side by side have equal spans.
pub fn spans(rows: &[LayoutRow], stack: &Stack) -> Vec<DaySpan> {
    let mut spans: Vec<DaySpan> = Vec::new();
    let mut latest = 0;
    for (at, row) in rows.iter().enumerate() {
        match row {
            LayoutRow::Days(heads) => {
                latest = spans.len();
                spans.extend(heads.iter().map(|head| DaySpan {
                    head: *head,
                    top: stack.top(at),
                    bottom: stack.top(at + 1),
                }));
            }
            LayoutRow::Items(_) => {
                for day in &mut spans[latest..] {
                    day.bottom = stack.top(at + 1);
                }
            }
        }
    }
    spans
}

/// Returns the days that intersect the range from `from` to `to`.
pub fn in_sight(spans: &[DaySpan], from: f64, to: f64) -> Range<usize> {
    let first = spans.partition_point(|day| day.bottom <= from);
    let after = spans.partition_point(|day| day.top < to);
    first..after.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::layout::{Measure, rows};

    #[test]
    fn a_day_extends_to_the_next_heading() {
        let items = [(2, 1.0), (2, 1.0), (2, 1.0), (1, 1.0)];
        let measure = Measure {
            width: 200.0,
            row: 100.0,
            gap: 0.0,
            least: 1,
            day: 150.0,
            day_gap: 0.0,
        };
        let rows = rows(&items, measure);
        let stack = Stack::new(rows.iter().map(|row| match row {
            LayoutRow::Days(_) => 20.0,
            LayoutRow::Items(row) => row.height,
        }));
        let spans = spans(&rows, &stack);
        let found: Vec<_> = spans
            .iter()
            .map(|day| (day.head.first, day.top, day.bottom))
            .collect();
        assert_eq!(found, [(0, 0.0, 220.0), (3, 220.0, 340.0)]);
        // The heading may be far above the visible range.
        assert_eq!(in_sight(&spans, 150.0, 200.0), 0..1);
        assert_eq!(in_sight(&spans, 219.0, 221.0), 0..2);
        assert_eq!(in_sight(&spans, 220.0, 300.0), 1..2);
        assert_eq!(in_sight(&[], 0.0, 300.0), 0..0);
    }
}
