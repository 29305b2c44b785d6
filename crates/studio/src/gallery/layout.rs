//! Pictures of different shapes in rows that are all as wide as the page, under the day of each.

use std::ops::Range;

use crate::list::window::Stack;

/// No picture is taken for narrower or wider than this, in the layout: a very long one would leave no
/// row for the others.
const NARROWEST: f64 = 0.4;
const WIDEST: f64 = 3.5;

/// A row of the gallery.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutRow {
    /// The headings of the days of the items that follow: of one, or of several that stand next to each other.
    Days(Vec<DayHead>),
    Items(ItemRow),
}

/// The heading of a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayHead {
    /// The first item of its day, from 0.
    pub first: usize,
    /// How far from the left edge it begins, in px.
    pub left: f64,
    /// How wide it may be, in px.
    pub width: f64,
}

/// Items side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    /// The items of the row, from 0.
    pub items: Range<usize>,
    /// The height in px, without the gap below it.
    pub height: f64,
    /// Where each item begins, in px from the left edge.
    pub lefts: Vec<f64>,
    /// How wide each item is, in px.
    pub widths: Vec<f64>,
}

/// How large everything is, in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// How wide the page is.
    pub width: f64,
    /// The height that rows have about; those that are full have what makes them as wide as the page.
    pub row: f64,
    /// The gap between items, and between rows.
    pub gap: f64,
    /// So many items stand in a row at least, however wide they are, if the day has as many.
    pub least: usize,
    /// No day that stands next to another one is narrower: its heading has words.
    pub day: f64,
    /// The gap between days that stand next to each other.
    pub day_gap: f64,
}

/// Lays the items out. `items` gives of each its day, by any number, and its width by height. Days that are less than
/// a row stand next to each other where they fit.
pub fn rows(items: &[(i64, f64)], measure: Measure) -> Vec<LayoutRow> {
    let mut rows = Vec::new();
    let mut from = 0;
    // Where the next day can begin in the last row.
    let mut free = None;
    while from < items.len() {
        let day = items[from].0;
        let until = items[from..]
            .iter()
            .position(|(other, _)| *other != day)
            .map_or(items.len(), |after| from + after);
        let mut of_day: Vec<(ItemRow, bool)> = justified(items, from..until, measure).collect();
        let width = match of_day.as_slice() {
            [(row, false)] => Some(row.right().max(measure.day)),
            _ => None,
        };
        if let (Some(width), Some(left)) = (width, free)
            && left + width <= measure.width
            && let Some((row, _)) = of_day.pop()
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
            rows.extend(of_day.into_iter().map(|(row, _)| LayoutRow::Items(row)));
        }
        from = until;
    }
    widen_headings(&mut rows, measure);
    rows
}

/// A heading reaches to the one next to it, or to the edge of the page.
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

/// Fills one row after the other, and says of each whether it is full; the last keeps the height that was asked for.
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

/// The direction in which an arrow leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Leads to the item before, also from a row's beginning to the end of the row above.
    Back,
    /// Leads to the item after.
    On,
    /// Leads to the item above that is nearest.
    Up,
    Down,
}

impl Direction {
    /// That of the key of this name; `None` for those that are no arrows.
    pub fn of_key(key: &str) -> Option<Self> {
        match key {
            "ArrowLeft" => Some(Self::Back),
            "ArrowRight" => Some(Self::On),
            "ArrowUp" => Some(Self::Up),
            "ArrowDown" => Some(Self::Down),
            _ => None,
        }
    }
}

/// The item that an arrow leads to from another one; none at the ends.
pub fn neighbor(rows: &[LayoutRow], at: usize, direction: Direction) -> Option<usize> {
    let mut rows = rows.iter().filter_map(|row| match row {
        LayoutRow::Items(items) => Some(items),
        LayoutRow::Days(_) => None,
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
pub fn touched(rows: &[LayoutRow], stack: &Stack, frame: Frame) -> Vec<usize> {
    let mut found = Vec::new();
    for at in stack.window(frame.top, frame.bottom) {
        let Some(LayoutRow::Items(row)) = rows.get(at) else {
            continue;
        };
        // The gap below it is no part of it.
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
    /// Gives each item with where it begins and its width, both in px.
    pub fn places(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        let places = self.items.clone().zip(&self.lefts).zip(&self.widths);
        places.map(|((item, left), width)| (item, *left, *width))
    }

    /// Gives the middle of an item, in px from the row's beginning.
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

/// Gives the width that the gaps between items leave.
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
mod tests;
