//! A batch as a space to move through: the parameters in which its items differ are the axes, and each item
//! lies where its values meet. Found from the inputs, so that it works for whatever was sent together.

use std::collections::BTreeMap;

mod address;
mod axes;

pub use address::{beginning, read_address};

/// A parameter, and the values that items have of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    pub parameter: String,
    /// Numbers by their size, all else in the order in which it comes. A value that is left out is empty.
    pub values: Vec<String>,
    /// All of them are numbers.
    pub is_numeric: bool,
}

/// The items of a batch, laid out along the parameters in which they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// In the order in which the parameters are sent.
    pub axes: Vec<Axis>,
    /// The item at each position that has one.
    items: BTreeMap<Vec<usize>, usize>,
}

impl Axis {
    /// Few and short enough to stand side by side, where numbers are rather on a scale.
    pub fn has_few_words(&self) -> bool {
        const FEW: usize = 6;
        const SHORT: usize = 24;
        let is_short = |value: &String| value.chars().count() <= SHORT;
        !self.is_numeric && self.values.len() <= FEW && self.values.iter().all(is_short)
    }

    /// The places whose values stand at a scale, in as little room as there is: all where they fit, else evenly so
    /// many as do with both ends, and none where the ends alone would meet.
    pub fn ticks(&self) -> Vec<usize> {
        const ROOM: usize = 40;
        const BETWEEN: usize = 2;
        let Some(last) = self.values.len().checked_sub(1) else {
            return Vec::new();
        };
        let length = |place: usize| self.label(place).chars().count() + BETWEEN;
        let longest = (0..=last).map(length).max().unwrap_or_default();
        let divisors = (1..=last).filter(|step| last % step == 0);
        let fitting = divisors
            .map(|step| (0..=last).step_by(step).collect::<Vec<_>>())
            .find(|places| places.len() * longest <= ROOM);
        fitting.unwrap_or_default()
    }

    /// A value as it is shown.
    pub fn label(&self, place: usize) -> &str {
        match self.values.get(place).map(String::as_str) {
            None | Some("") => "not set",
            Some(value) => value,
        }
    }
}

impl Exploration {
    /// The item there, by its place in the batch.
    pub fn item(&self, position: &[usize]) -> Option<usize> {
        self.items.get(position).copied()
    }

    /// Where this item is.
    pub fn place_of(&self, item: usize) -> Option<&[usize]> {
        let mut items = self.items.iter();
        let (position, _) = items.find(|(_, other)| **other == item)?;
        Some(position)
    }

    /// One step along an axis, unless that leads beyond its end.
    pub fn step(&self, position: &[usize], axis: usize, step: isize) -> Option<Vec<usize>> {
        let to = position.get(axis)?.checked_add_signed(step)?;
        let mut position = position.to_vec();
        position[axis] = to;
        (to < self.axes.get(axis)?.values.len()).then_some(position)
    }

    /// The items that are one step away: likely to be looked at next.
    pub fn neighbors(&self, position: &[usize]) -> Vec<usize> {
        let axes = 0..self.axes.len();
        let steps = axes.flat_map(|axis| [1, -1].map(|step| self.step(position, axis, step)));
        steps.flatten().filter_map(|to| self.item(&to)).collect()
    }
}

#[cfg(test)]
mod tests;
