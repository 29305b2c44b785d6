//! A batch as a space to move through: the parameters in which its items differ are the axes, and each item
//! lies where its values meet. Found from the inputs, so that it works for whatever was sent together.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::{Input, path};

use super::differences::differences;
use crate::{BatchKey, control};

/// Where there are more combinations than this for each item, one would see nearly nothing but gaps.
const SPARSE: usize = 8;

/// The axis of the items that are told apart by nothing else.
const COPY: &str = "copy";

/// A parameter, and the values that items have of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    pub parameter: String,
    /// Numbers by their size, all else in the order in which it comes. A value that is left out is empty.
    pub values: Vec<String>,
    /// All of them are numbers.
    pub is_numeric: bool,
}

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

    /// A value as it is shown.
    pub fn said(&self, place: usize) -> &str {
        match self.values.get(place).map(String::as_str) {
            None | Some("") => "not set",
            Some(value) => value,
        }
    }
}

impl Exploration {
    /// From the input of each item, as far as it is known. None where nothing differs, or where too few of the
    /// combinations are there.
    pub fn of(inputs: &[Option<&Input>]) -> Option<Self> {
        let known = || {
            let inputs = inputs.iter().enumerate();
            inputs.filter_map(|(index, input)| Some((index, (*input)?)))
        };
        let count = known().count();
        let mut axes = differences(known().map(|(_, input)| input));
        for axis in &mut axes {
            by_size(&mut axis.values);
        }
        // Of each axis, where on it each item is.
        let places: Vec<Vec<usize>> = axes
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
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|at| axes[*at].values.len() == count);
        let mut kept: Vec<usize> = Vec::new();
        for at in order {
            if !follows(&places, at, &kept) {
                kept.push(at);
            }
        }
        // What was kept early may follow from what came later.
        for at in kept.clone() {
            let others: Vec<usize> = kept.iter().copied().filter(|other| *other != at).collect();
            if !others.is_empty() && follows(&places, at, &others) {
                kept = others;
            }
        }
        kept.sort_unstable();
        let combinations = kept
            .iter()
            .map(|at| axes[*at].values.len())
            .fold(1, usize::saturating_mul);
        if kept.is_empty() || combinations > count.saturating_mul(SPARSE) {
            return None;
        }
        // Items of the same values, where a model draws what it does not tell, are an axis of their own.
        let mut copies: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut items = BTreeMap::new();
        for (nth, (index, _)) in known().enumerate() {
            let mut position: Vec<usize> = kept.iter().map(|at| places[*at][nth]).collect();
            let copy = copies.entry(position.clone()).or_default();
            position.push(*copy);
            *copy += 1;
            items.insert(position, index);
        }
        let most = copies.into_values().max().unwrap_or(1);
        let axis = |at: usize| {
            let axis = &axes[at];
            Axis {
                parameter: axis.parameter.clone(),
                is_numeric: axis.values.iter().all(|value| number(value).is_some()),
                values: axis.values.clone(),
            }
        };
        let mut axes: Vec<Axis> = kept.into_iter().map(axis).collect();
        match most {
            1 => {
                items = items
                    .into_iter()
                    .map(|(at, item)| (without_copy(at), item))
                    .collect()
            }
            _ => axes.push(Axis {
                parameter: COPY.to_owned(),
                values: (1..=most).map(|nth| nth.to_string()).collect(),
                is_numeric: true,
            }),
        }
        Some(Self { axes, items })
    }

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

    /// A batch and a position in it, as the address has them: `prompt=dusk&panes=60@key`. By values, since an axis
    /// that gains or loses one, as by a retry of other inputs or by what is removed, would make a place another.
    pub fn address(&self, batch: &BatchKey, position: &[usize]) -> String {
        let axes = self.axes.iter().zip(position);
        let values = axes.filter_map(|(axis, place)| {
            let value = in_address(axis.values.get(*place)?);
            let parameter = path::segment(&axis.parameter);
            Some(format!("{parameter}={}", path::segment(&value)))
        });
        let values: Vec<String> = values.collect();
        format!("{}@{}", values.join("&"), batch.0)
    }

    /// The position that has these values; the beginning of each axis that they say nothing known about.
    pub fn position(&self, wanted: &[(String, String)]) -> Vec<usize> {
        let axes = self.axes.iter().enumerate();
        axes.map(|(nth, axis)| {
            let is_meant = |pair: &&(String, String)| pair.0 == axis.parameter;
            // A parameter may be called as the axis of copies is.
            let in_order = wanted.get(nth).filter(is_meant);
            let (_, value) = in_order.or_else(|| wanted.iter().find(is_meant))?;
            axis.values
                .iter()
                .position(|known| in_address(known) == *value)
        })
        .map(Option::unwrap_or_default)
        .collect()
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

/// The address of a batch at the beginning of every axis.
pub fn beginning(batch: &BatchKey) -> String {
    format!("@{}", batch.0)
}

/// Reads [`Exploration::address`]: the batch, and the values by their parameters.
pub fn read_address(text: &str) -> Option<(BatchKey, Vec<(String, String)>)> {
    let (values, key) = text.split_once('@')?;
    let pairs = values.split('&').filter_map(|pair| pair.split_once('='));
    let values = pairs.map(|(parameter, value)| (path::decode(parameter), path::decode(value)));
    (!key.is_empty()).then(|| (BatchKey(key.to_owned()), values.collect()))
}

/// A value as the address has it: of a long text its beginning, and a number that tells it from others.
fn in_address(value: &str) -> String {
    const LONGEST: usize = 60;
    const SHOWN: usize = 40;
    match value.char_indices().nth(LONGEST) {
        None => value.to_owned(),
        Some(_) => {
            let start: String = value.chars().take(SHOWN).collect();
            format!("{start}…{:08x}", checksum(value))
        }
    }
}

/// FNV-1a: the same in every release, as an address has to be.
fn checksum(text: &str) -> u32 {
    let add = |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, add)
}

fn value(input: &Input, parameter: &str) -> String {
    let value = input.values().get(parameter);
    value.map_or_else(String::new, control::text)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Numbers by their size; texts stay as they are.
fn by_size(values: &mut [String]) {
    if values.iter().all(|value| number(value).is_some()) {
        let size = |value: &String| number(value).unwrap_or_default();
        values.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
}

/// Without the last place, that on [`COPY`]'s axis.
fn without_copy(mut position: Vec<usize>) -> Vec<usize> {
    position.pop();
    position
}

/// Whether items that are at one place on those axes are at one place on this one, too.
fn follows(places: &[Vec<usize>], axis: usize, from: &[usize]) -> bool {
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    places[axis].iter().enumerate().all(|(nth, place)| {
        let position = from.iter().map(|at| places[*at][nth]).collect();
        known.entry(position).or_insert(*place) == place
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn explored(values: &[Value]) -> Option<Exploration> {
        let input = |values: &Value| {
            let model = json!({"category": "image", "subcategory": "a"});
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        };
        let inputs: Vec<Option<Input>> = values
            .iter()
            .map(|values| (!values.is_null()).then(|| input(values)))
            .collect();
        let inputs: Vec<Option<&Input>> = inputs.iter().map(Option::as_ref).collect();
        Exploration::of(&inputs)
    }

    fn axes(exploration: &Exploration) -> Vec<(&str, Vec<&str>)> {
        let axes = exploration.axes.iter();
        axes.map(|axis| {
            let values = axis.values.iter().map(String::as_str).collect();
            (axis.parameter.as_str(), values)
        })
        .collect()
    }

    #[test]
    fn every_combination_of_a_sweep_has_its_place() {
        let mut values = Vec::new();
        for prompt in ["dusk", "dawn"] {
            for panes in [60, 20, 100] {
                values.push(json!({"prompt": prompt, "panes": panes, "seed": 7}));
            }
        }
        let found = explored(&values).unwrap();
        let expected = [
            ("prompt", vec!["dusk", "dawn"]),
            ("panes", vec!["20", "60", "100"]),
        ];
        assert_eq!(axes(&found), expected);
        assert!(found.axes[0].has_few_words() && !found.axes[1].has_few_words());
        assert_eq!(found.item(&[0, 0]), Some(1));
        assert_eq!(found.item(&[1, 2]), Some(5));
        assert_eq!(found.step(&[0, 0], 0, -1), None);
        assert_eq!(found.step(&[0, 2], 1, 1), None);
        assert_eq!(found.step(&[0, 2], 1, -1), Some(vec![0, 1]));
        assert_eq!(found.neighbors(&[0, 0]), [4, 0]);
        assert_eq!(found.place_of(5), Some(&[1, 2][..]));
        assert_eq!(found.place_of(6), None);
    }

    #[test]
    fn a_seed_drawn_for_each_item_hides_no_axis() {
        let values = [
            json!({"seed": 1, "prompt": "dusk", "panes": 20}),
            json!({"seed": 2, "prompt": "dusk", "panes": 40}),
            json!({"seed": 3, "prompt": "dawn", "panes": 20}),
            json!({"seed": 4, "prompt": "dawn", "panes": 40}),
        ];
        let found = explored(&values).unwrap();
        let names: Vec<&str> = axes(&found).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["prompt", "panes"]);
        // Where nothing else differs it is the axis.
        let found = explored(&[json!({"seed": 1}), json!({"seed": 2})]).unwrap();
        assert_eq!(axes(&found), [("seed", vec!["1", "2"])]);
    }

    #[test]
    fn parameters_that_go_together_are_one_axis() {
        let paired = [
            json!({"prompt": "dusk", "panes": 20, "seed": 1}),
            json!({"prompt": "dawn", "panes": 40, "seed": 2}),
            json!({"prompt": "noon", "panes": 20, "seed": 3}),
        ];
        let found = explored(&paired).unwrap();
        assert_eq!(axes(&found), [("prompt", vec!["dusk", "dawn", "noon"])]);
    }

    /// Guards against outputs that are out of reach because another item has the same inputs.
    #[test]
    fn items_of_the_same_values_are_told_apart() {
        let values = ["dusk", "dusk", "dawn"].map(|prompt| json!({"prompt": prompt}));
        let found = explored(&values).unwrap();
        let expected = [("prompt", vec!["dusk", "dawn"]), ("copy", vec!["1", "2"])];
        assert_eq!(axes(&found), expected);
        let items = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|at| found.item(&at));
        assert_eq!(items, [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn what_is_not_there_leaves_its_place_empty() {
        let values = [
            json!({"mist": 0, "layers": 1}),
            json!({"mist": 0}),
            json!({"mist": 1, "layers": 1}),
            // Removed since.
            Value::Null,
        ];
        let found = explored(&values).unwrap();
        assert_eq!(
            axes(&found),
            [("mist", vec!["0", "1"]), ("layers", vec!["1", ""])]
        );
        assert_eq!(found.axes[1].said(1), "not set");
        assert!(found.axes[1].has_few_words());
        assert_eq!(found.item(&[1, 1]), None);
        assert_eq!(found.neighbors(&[1, 1]), [1, 2]);
        assert_eq!(explored(&[json!({"a": 1}), json!({"a": 1})]), None);
        assert_eq!(explored(&[]), None);
    }

    #[test]
    fn a_scatter_is_not_explored() {
        let values: Vec<Value> = (0..20)
            .map(|n| json!({"a": n % 10, "b": (n * 7) % 19, "c": (n * n) % 17}))
            .collect();
        assert_eq!(explored(&values), None);
    }

    fn prompts(prompts: &[&str]) -> Exploration {
        let values: Vec<Value> = prompts.iter().map(|it| json!({"prompt": it})).collect();
        explored(&values).unwrap()
    }

    #[test]
    fn an_address_leads_back() {
        let key = BatchKey("a@b.c".into());
        let long = [
            "a lake at noon, ".repeat(900),
            "a lake at noon, ".repeat(901),
        ];
        let odd = "50 % & more = @home? ";
        let found = prompts(&["", odd, &long[0], &long[1]]);
        for place in 0..4 {
            let text = found.address(&key, &[place]);
            assert!(text.len() < 400, "{text}");
            let (batch, values) = read_address(&text).unwrap();
            assert_eq!((batch, found.position(&values)), (key.clone(), vec![place]));
        }
        assert_eq!(read_address(&beginning(&key)), Some((key, Vec::new())));
        assert_eq!(read_address("k"), None);
        assert_eq!(read_address("prompt=dusk@"), None);
    }

    /// Guards against a link that leads to another item once one before it is gone.
    #[test]
    fn an_address_holds_values() {
        let key = BatchKey("k".into());
        let text = prompts(&["dusk", "dawn", "noon"]).address(&key, &[2]);
        assert_eq!(text, "prompt=noon@k");
        let (_, values) = read_address(&text).unwrap();
        let without = prompts(&["dawn", "noon"]);
        assert_eq!(without.position(&values), [1]);
        // What is nowhere is the beginning.
        let (_, values) = read_address("prompt=night&x=1@k").unwrap();
        assert_eq!(without.position(&values), [0]);
    }
}
