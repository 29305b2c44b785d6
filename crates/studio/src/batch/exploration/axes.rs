//! Chooses the parameters that are the axes: as few as tell all items apart.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::Input;

use super::{Exploration, ExploredAxis, number};
use crate::batch::differences::{Difference, differences, value};

/// If there are more combinations than this for each item, a person would see nearly nothing but gaps.
const SPARSE: usize = 8;

/// The axis of the items that are told apart by nothing else.
const COPY: &str = "copy";

impl Exploration {
    /// Finds the axes in the input of each item, as far as it is known. There are none if nothing differs, or if too
    /// few of the combinations are there.
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
        // The place of each item on each axis.
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
        // What is another in every item, as a seed that was drawn for each, tells them apart by itself, and
        // would hide all other axes: it is looked at last.
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|at| found[*at].values.len() == count);
        let kept = independent(order, &places);
        let combinations = kept
            .iter()
            .map(|at| found[*at].values.len())
            .fold(1, usize::saturating_mul);
        if kept.is_empty() || combinations > count.saturating_mul(SPARSE) {
            return None;
        }
        let position = |nth: usize| kept.iter().map(|at| places[*at][nth]).collect();
        let at = known().enumerate();
        let (items, copies) = lay_out(at.map(|(nth, (index, _))| (position(nth), index)));
        let axes = kept.iter().map(|at| axis(&found[*at]));
        let axes = axes.chain(copies).collect();
        Some(Self { axes, items })
    }
}

/// The axes, in the order of the parameters, that follow from no others. Those that come first in `order` stay
/// rather than the rest.
fn independent(order: Vec<usize>, places: &[Vec<usize>]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        if !follows(places, at, &kept) {
            kept.push(at);
        }
    }
    // An axis that was kept early may follow from those that came later.
    for at in kept.clone() {
        let others: Vec<usize> = kept.iter().copied().filter(|other| *other != at).collect();
        if !others.is_empty() && follows(places, at, &others) {
            kept = others;
        }
    }
    kept.sort_unstable();
    kept
}

/// Whether items that are at one place on those axes are at one place on this one, too.
fn follows(places: &[Vec<usize>], axis: usize, from: &[usize]) -> bool {
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    places[axis].iter().enumerate().all(|(nth, place)| {
        let position = from.iter().map(|at| places[*at][nth]).collect();
        known.entry(position).or_insert(*place) == place
    })
}

/// The item at each position. Items of the same values, where a model draws what it does not tell, are told
/// apart by an axis of their own.
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

/// Without the last place, that on [`COPY`]'s axis.
fn without_copy(mut position: Vec<usize>) -> Vec<usize> {
    position.pop();
    position
}

fn axis(difference: &Difference) -> ExploredAxis {
    ExploredAxis::new(&difference.parameter, difference.values.clone())
}

/// Numbers by their size; texts stay as they are.
fn by_size(values: &mut [String]) {
    if values.iter().all(|value| number(value).is_some()) {
        let size = |value: &String| number(value).unwrap_or_default();
        values.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
}
