//! A batch as a space to explore. The parameters in which its items differ are the axes, and the values of an item are
//! its position. The axes are derived from the inputs, so this works for any batch.

use std::collections::BTreeMap;

use super::differences::shown;
use crate::batch::labelled_grid::is_long;
use crate::text::diff::distinguishing_parts;

mod address;
mod axes;

pub use address::{beginning, read_address};

/// A parameter, and its values among the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploredAxis {
    pub parameter: String,
    /// Numbers are sorted. Other values are in the order of their first items. A missing value is empty.
    pub values: Vec<String>,
    /// The parts that distinguish the values, because long prompts often have the same beginning.
    parts: Vec<String>,
    /// Whether all values are numbers.
    pub is_numeric: bool,
}

/// The items of a batch, laid out along the parameters in which they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// The axes, in the order in which their parameters are sent.
    pub axes: Vec<ExploredAxis>,
    /// The items by their positions on the axes.
    items: BTreeMap<Vec<usize>, usize>,
}

impl ExploredAxis {
    fn new(parameter: &str, values: Vec<String>) -> Self {
        Self {
            parameter: parameter.to_owned(),
            parts: match is_long(&values) {
                true => distinguishing_parts(&values),
                false => values.clone(),
            },
            is_numeric: values.iter().all(|value| number(value).is_some()),
            values,
        }
    }

    /// Whether the values are few and short enough to be listed side by side. Numbers are shown on a scale instead.
    pub fn has_few_short_values(&self) -> bool {
        const FEW: usize = 6;
        !self.is_numeric && self.values.len() <= FEW && !is_long(&self.values)
    }

    /// Returns the number of columns in which to list a few values. `width`: the available number of characters. The
    /// list has as few lines as possible, and all but the last one have the same number of values.
    pub fn columns(&self, width: usize) -> usize {
        const PADDING: usize = 4;
        let count = self.values.len();
        let letters = |place: usize| self.label(place).chars().count() + PADDING;
        let longest = (0..count).map(letters).max().unwrap_or(1);
        let fits = |lines: &usize| count.div_ceil(*lines) * longest <= width;
        let lines = (1..=count).find(fits).unwrap_or(count).max(1);
        count.div_ceil(lines).max(1)
    }

    /// Returns the indexes of the values that label a scale: all values if they fit, otherwise an even selection that
    /// includes both ends, or none if the two ends would overlap.
    pub fn ticks(&self) -> Vec<usize> {
        const WIDTH: usize = 40;
        const GAP: usize = 2;
        let Some(last) = self.values.len().checked_sub(1) else {
            return Vec::new();
        };
        let length = |place: usize| self.label(place).chars().count() + GAP;
        let longest = (0..=last).map(length).max().unwrap_or_default();
        let divisors = (1..=last).filter(|step| last % step == 0);
        let fitting = divisors
            .map(|step| (0..=last).step_by(step).collect::<Vec<_>>())
            .find(|places| places.len() * longest <= WIDTH);
        fitting.unwrap_or_default()
    }

    /// Whether some values are longer than a line.
    pub fn has_long_values(&self) -> bool {
        is_long(&self.parts)
    }

    /// Formats a value.
    pub fn label(&self, place: usize) -> &str {
        shown(self.parts.get(place).map_or("", String::as_str))
    }
}

impl Exploration {
    /// Returns the item at a position, by its index in the batch.
    pub fn item(&self, position: &[usize]) -> Option<usize> {
        self.items.get(position).copied()
    }

    /// Returns the position of an item.
    pub fn place_of(&self, item: usize) -> Option<&[usize]> {
        let mut items = self.items.iter();
        let (position, _) = items.find(|(_, other)| **other == item)?;
        Some(position)
    }

    /// Moves one step along an axis; `None` beyond its end.
    pub fn step(&self, position: &[usize], axis: usize, step: isize) -> Option<Vec<usize>> {
        let to = position.get(axis)?.checked_add_signed(step)?;
        let mut position = position.to_vec();
        position[axis] = to;
        (to < self.axes.get(axis)?.values.len()).then_some(position)
    }

    /// Returns up to `most` items along an axis around this position, including the item at the position, in the order
    /// of the axis.
    pub fn along(&self, position: &[usize], axis: usize, most: usize) -> Vec<usize> {
        let (Some(at), Some(explored)) = (position.get(axis), self.axes.get(axis)) else {
            return Vec::new();
        };
        let count = explored.values.len();
        let first = at.saturating_sub(most / 2).min(count.saturating_sub(most));
        let mut position = position.to_vec();
        let items = (first..count).take(most).filter_map(|place| {
            position[axis] = place;
            self.item(&position)
        });
        items.collect()
    }

    /// Returns the other items, sorted by the number of axes in which they differ, then by their distance.
    pub fn nearest(&self, position: &[usize]) -> Vec<usize> {
        let others = self.items.iter();
        let others = others.filter(|(other, _)| other.as_slice() != position);
        let ranked = others.map(|(other, item)| {
            let apart = other.iter().zip(position);
            let apart = apart.map(|(one, another)| one.abs_diff(*another));
            let in_axes = apart.clone().filter(|apart| *apart > 0).count();
            (in_axes, apart.sum::<usize>(), *item)
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(.., item)| item).collect()
    }

    /// Returns the items that are one step away. The user is likely to view them next.
    pub fn neighbors(&self, position: &[usize]) -> Vec<usize> {
        let axes = 0..self.axes.len();
        let steps = axes.flat_map(|axis| [1, -1].map(|step| self.step(position, axis, step)));
        steps.flatten().filter_map(|to| self.item(&to)).collect()
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests;
