//! Chooses the axes: a small set of parameters that distinguishes all items.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::Input;

use super::{Exploration, ExploredAxis, number};
use crate::batch::differences::{Difference, differences, value};

/// The maximum number of combinations per item. With more, the space would be mostly empty.
const SPARSE: usize = 8;

/// The axis for items with equal inputs.
const COPY: &str = "copy";

impl Exploration {
    /// Finds the axes from the known inputs. `None` if the inputs don't differ, or if too few of the combinations
    /// exist.
    pub fn of(inputs: &[Option<&Input>]) -> Option<Self> {
        let known = || {
            let inputs = inputs.iter().enumerate();
            inputs.filter_map(|(index, input)| Some((index, (*input)?)))
        };
        let count = known().count();
        let mut found = differences(known().map(|(_, input)| input));
        for axis in &mut found {
            by_size(&mut axis.values);
        }
        // The index of each item's value on each axis.
        let places: Vec<Vec<usize>> = found
            .iter()
            .map(|axis| {
                let at: HashMap<&str, usize> =
                    axis.values.iter().map(String::as_str).zip(0..).collect();
                let place =
                    |(_, input): (usize, &Input)| at[value(input, &axis.parameter).as_str()];
                known().map(place).collect()
            })
            .collect();
        // Consider parameters that differ in every item, such as a drawn seed, last: they distinguish all items alone,
        // so other axes would be omitted.
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|at| found[*at].values.len() == count);
        let axes = independent(order, &places);
        let combinations = axes
            .iter()
            .map(|at| found[*at].values.len())
            .fold(1, usize::saturating_mul);
        if axes.is_empty() || combinations > count.saturating_mul(SPARSE) {
            return None;
        }
        let position = |nth: usize| axes.iter().map(|at| places[*at][nth]).collect();
        let at = known().enumerate();
        let (items, copies) = lay_out(at.map(|(nth, (index, _))| (position(nth), index)));
        let explored = axes.iter().map(|at| axis(&found[*at]));
        let axes = explored.chain(copies).collect();
        Some(Self { axes, items })
    }
}

/// Returns the axes that don't follow from other axes, in the order of the parameters. Axes at the start of `order` are
/// preferred.
fn independent(order: Vec<usize>, places: &[Vec<usize>]) -> Vec<usize> {
    let mut axes: Vec<usize> = Vec::new();
    for at in order {
        if !follows(places, at, &axes) {
            axes.push(at);
        }
    }
    // An axis that was selected early may follow from later ones.
    for at in axes.clone() {
        let others: Vec<usize> = axes.iter().copied().filter(|other| *other != at).collect();
        if !others.is_empty() && follows(places, at, &others) {
            axes = others;
        }
    }
    axes.sort_unstable();
    axes
}

/// Whether the value on `axis` follows from the values on the axes `from`.
fn follows(places: &[Vec<usize>], axis: usize, from: &[usize]) -> bool {
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    places[axis].iter().enumerate().all(|(nth, place)| {
        let position = from.iter().map(|at| places[*at][nth]).collect();
        known.entry(position).or_insert(*place) == place
    })
}

/// Returns the item at each position. If items have equal values, an additional axis distinguishes them.
fn lay_out(
    positioned: impl Iterator<Item = (Vec<usize>, usize)>,
) -> (BTreeMap<Vec<usize>, usize>, Option<ExploredAxis>) {
    let mut copies: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut items = BTreeMap::new();
    for (mut position, index) in positioned {
        let copy = copies.entry(position.clone()).or_default();
        position.push(*copy);
        *copy += 1;
        items.insert(position, index);
    }
    let most = copies.into_values().max().unwrap_or(1);
    if most == 1 {
        let items = items.into_iter();
        return (
            items.map(|(at, item)| (without_copy(at), item)).collect(),
            None,
        );
    }
    let axis = ExploredAxis::new(COPY, (1..=most).map(|nth| nth.to_string()).collect());
    (items, Some(axis))
}

/// Removes the last coordinate, which belongs to the axis [`COPY`].
fn without_copy(mut position: Vec<usize>) -> Vec<usize> {
    position.pop();
    position
}

fn axis(difference: &Difference) -> ExploredAxis {
    ExploredAxis::new(&difference.parameter, difference.values.clone())
}

/// Sorts numbers by size; texts stay in order.
fn by_size(values: &mut [String]) {
    if values.iter().all(|value| number(value).is_some()) {
        let size = |value: &String| number(value).unwrap_or_default();
        values.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
}
