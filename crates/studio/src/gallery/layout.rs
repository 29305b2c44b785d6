//! Lays out images with different aspect ratios in rows as wide as the page, grouped by day.

use std::ops::Range;

use crate::list::window::Stack;

/// The limits of the aspect ratio in the layout. Without them, a very wide image would leave no space for others in its
/// row.
const NARROWEST: f64 = 0.4;
const WIDEST: f64 = 3.5;

/// A row of the gallery.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutRow {
    /// The headings of the days of the following items: one day, or several side by side.
    Days(Vec<DayHead>),
    Items(ItemRow),
}

/// The heading of a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayHead {
    /// The first item of the day, from 0.
    pub first: usize,
    /// The distance from the left edge, in px.
    pub left: f64,
    /// The maximum width, in px.
    pub width: f64,
}

/// Items side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    /// The items of the row, from 0.
    pub items: Range<usize>,
    /// The height in px, without the gap below.
    pub height: f64,
    /// The distance of each item from the left edge, in px.
    pub lefts: Vec<f64>,
    /// The width of each item, in px.
    pub widths: Vec<f64>,
}

/// The sizes for the layout, in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// The width of the page.
    pub width: f64,
    /// The desired height of a row. Full rows are scaled to the width of the page.
    pub row: f64,
    /// The gap between items, and between rows.
    pub gap: f64,
    /// The minimum number of items in a row regardless of their widths, if the day has as many.
    pub least: usize,
    /// The minimum width of a day next to another one, so that its heading fits.
    pub day: f64,
    /// The gap between days side by side.
    pub day_gap: f64,
}

/// Lays out the items. `items`: the day of each item (as any number) and its aspect ratio. Days that don't fill a row
/// are laid out side by side if they fit.
pub fn rows(items: &[(i64, f64)], measure: Measure) -> Vec<LayoutRow> {
    let mut rows = Vec::new();
    let mut from = 0;
    // The position for the next day in the last row.
    let mut free = None;
    while from < items.len() {
        let day = items[from].0;
        let until = items[from..]
            .iter()
            .position(|(other, _)| *other != day)
            .map_or(items.len(), |after| from + after);
        let mut day_rows: Vec<(ItemRow, bool)> = justified(items, from..until, measure).collect();
        let width = match day_rows.as_slice() {
            [(row, false)] => Some(row.right().max(measure.day)),
            _ => None,
        };
        if let (Some(width), Some(left)) = (width, free)
            && left + width <= measure.width
            && let Some((row, _)) = day_rows.pop()
            && let [.., LayoutRow::Days(days), LayoutRow::Items(before)] = rows.as_mut_slice()
        {
            days.push(DayHead {
                first: from,
                left,
                width,
            });
            before.items.end = row.items.end;
            before.lefts.extend(row.lefts.iter().map(|it| it + left));
            before.widths.extend(row.widths);
            free = Some(left + width + measure.day_gap);
        } else {
            free = width.map(|width| width + measure.day_gap);
            rows.push(LayoutRow::Days(vec![DayHead {
                first: from,
                left: 0.0,
                width: measure.width,
            }]));
            rows.extend(day_rows.into_iter().map(|(row, _)| LayoutRow::Items(row)));
        }
        from = until;
    }
    widen_headings(&mut rows, measure);
    rows
}

/// Extends each heading to the next one, or to the edge of the page.
fn widen_headings(rows: &mut [LayoutRow], measure: Measure) {
    for row in rows {
        if let LayoutRow::Days(days) = row {
            let mut end = measure.width;
            for day in days.iter_mut().rev() {
                day.width = end - day.left;
                end = day.left - measure.day_gap;
            }
        }
    }
}

/// Lays out the items of a day in rows. Returns each row and whether it is full. A row that is not full has the desired
/// height.
fn justified(
    items: &[(i64, f64)],
    range: Range<usize>,
    measure: Measure,
) -> impl Iterator<Item = (ItemRow, bool)> {
    let width = measure.width.max(1.0);
    let mut from = range.start;
    std::iter::from_fn(move || {
        if from == range.end {
            return None;
        }
        let mut ratios = 0.0;
        let mut end = from;
        let (space, is_full) = loop {
            ratios += shape(items[end].1);
            end += 1;
            let space = width_without_gaps(width, end - from, measure.gap);
            let are_enough = end - from >= measure.least || end == range.end;
            let is_full = ratios * measure.row >= space && are_enough;
            if is_full || end == range.end {
                break (space, is_full);
            }
        };
        let height = match is_full {
            true => space / ratios,
            false => measure.row,
        };
        let items = &items[from..end];
        let width = |(_, ratio): &(i64, f64)| (shape(*ratio) * height).min(width);
        let widths: Vec<f64> = items.iter().map(width).collect();
        let row = ItemRow {
            items: from..end,
            height,
            lefts: lefts(&widths, measure.gap),
            widths,
        };
        from = end;
        Some((row, is_full))
    })
}

/// The direction of an arrow key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the previous item. From the start of a row, this is the end of the row above.
    Back,
    /// To the next item.
    Forward,
    /// To the nearest item above.
    Up,
    Down,
}

impl Direction {
    /// Returns the direction of a key, or `None` if it is not an arrow key.
    pub fn of_key(key: &str) -> Option<Self> {
        match key {
            "ArrowLeft" => Some(Self::Back),
            "ArrowRight" => Some(Self::Forward),
            "ArrowUp" => Some(Self::Up),
            "ArrowDown" => Some(Self::Down),
            _ => None,
        }
    }
}

/// Returns the next item in a direction; `None` at the ends.
pub fn neighbor(rows: &[LayoutRow], at: usize, direction: Direction) -> Option<usize> {
    let mut rows = rows.iter().filter_map(|row| match row {
        LayoutRow::Items(items) => Some(items),
        LayoutRow::Days(_) => None,
    });
    match direction {
        Direction::Back => at.checked_sub(1),
        Direction::Forward => rows
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
            let center = from.middle(at);
            to.items.clone().min_by(|a, b| {
                let away = |at: &usize| (to.middle(*at) - center).abs();
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
    /// Returns the rectangle between two opposite corners.
    pub fn between((x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> Self {
        Self {
            left: x.min(to_x),
            top: y.min(to_y),
            right: x.max(to_x),
            bottom: y.max(to_y),
        }
    }
}

/// Returns the items that a frame intersects. `stack`: the positions of the rows.
pub fn touched(rows: &[LayoutRow], stack: &Stack, frame: Frame) -> Vec<usize> {
    let mut found = Vec::new();
    for at in stack.window(frame.top, frame.bottom) {
        let Some(LayoutRow::Items(row)) = rows.get(at) else {
            continue;
        };
        // The gap below the row does not belong to it.
        if frame.top > stack.top(at) + row.height {
            continue;
        }
        for (item, left, width) in row.places() {
            if left <= frame.right && left + width >= frame.left {
                found.push(item);
            }
        }
    }
    found
}

impl ItemRow {
    /// Returns each item with its position and its width, in px.
    pub fn places(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        let places = self.items.clone().zip(&self.lefts).zip(&self.widths);
        places.map(|((item, left), width)| (item, *left, *width))
    }

    /// Returns the center of an item, in px from the start of the row.
    fn middle(&self, at: usize) -> f64 {
        let at = at - self.items.start;
        self.lefts[at] + self.widths[at] / 2.0
    }

    fn right(&self) -> f64 {
        let last = self.lefts.last().zip(self.widths.last());
        last.map_or(0.0, |(left, width)| left + width)
    }
}

fn lefts(widths: &[f64], gap: f64) -> Vec<f64> {
    let mut left = 0.0;
    let next = |width: &f64| {
        let own = left;
        left += width + gap;
        own
    };
    widths.iter().map(next).collect()
}

/// Returns the width without the gaps between items.
fn width_without_gaps(width: f64, items: usize, gap: f64) -> f64 {
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
mod tests;
