//! A batch as a space to move through: the parameters in which its items differ are the axes, and each item
//! lies where its values meet. Found from the inputs, so that it works for whatever was sent together.

use std::collections::BTreeMap;

use super::differences::shown;
use crate::batch::labelled_grid::is_long;
use crate::text::diff::told_apart;

mod address;
mod axes;

pub use address::{beginning, read_address};

/// A parameter, and the values that items have of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploredAxis {
    pub parameter: String,
    /// Numbers by their size, all else in the order in which it comes. A value that is left out is empty.
    pub values: Vec<String>,
    /// Of each value what tells it from the others: long prompts often begin alike.
    told: Vec<String>,
    /// All values are numbers.
    pub is_numeric: bool,
}

/// The items of a batch, laid out along the parameters in which they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// The axes, in the order in which their parameters are sent.
    pub axes: Vec<ExploredAxis>,
    /// The item at each position that has one.
    items: BTreeMap<Vec<usize>, usize>,
}

impl ExploredAxis {
    fn new(parameter: &str, values: Vec<String>) -> Self {
        Self {
            parameter: parameter.to_owned(),
            told: match is_long(&values) {
                true => told_apart(&values),
                false => values.clone(),
            },
            is_numeric: values.iter().all(|value| number(value).is_some()),
            values,
        }
    }

    /// Few and short enough to stand side by side, where numbers are rather on a scale.
    pub fn has_few_words(&self) -> bool {
        const FEW: usize = 6;
        !self.is_numeric && self.values.len() <= FEW && !is_long(&self.values)
    }

    /// In how many columns a few words stand, in a room of so many characters: in as few lines as they fit into, all
    /// but the last of them equally long.
    pub fn columns(&self, room: usize) -> usize {
        const AROUND: usize = 4;
        let count = self.values.len();
        let letters = |place: usize| self.label(place).chars().count() + AROUND;
        let longest = (0..count).map(letters).max().unwrap_or(1);
        let fits = |lines: &usize| count.div_ceil(*lines) * longest <= room;
        let lines = (1..=count).find(fits).unwrap_or(count).max(1);
        count.div_ceil(lines).max(1)
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

    /// Some are longer than the line of a name has room for.
    pub fn has_long_words(&self) -> bool {
        is_long(&self.told)
    }

    /// A value as it is shown.
    pub fn label(&self, place: usize) -> &str {
        shown(self.told.get(place).map_or("", String::as_str))
    }
}

impl Exploration {
    /// The item there, by its place in the batch.
    pub fn item(&self, position: &[usize]) -> Option<usize> {
        self.items.get(position).copied()
    }

    /// Gives the place of an item on each axis.
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

    /// The items that differ from the one there in this axis alone, and that one, in the order of the axis: at most
    /// so many, the nearest.
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

    /// The other items, those first that differ from the one there in the fewest axes, and of these the nearest.
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

    /// The items that are one step away: likely to be looked at next.
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
