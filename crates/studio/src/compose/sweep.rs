//! Sweeps: parameters as axes, and the combinations of their values.

use std::collections::HashSet;

use atelier_contract::{Draft, Entry};
use serde::{Deserialize, Serialize};

use super::MAX_ROWS;
use super::range::{labels, sent_key};

mod written;

pub use written::WrittenSweep;

/// A parameter and its values, in order; see [`super::range::values`].
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub parameter: String,
    /// `None` leaves the parameter out.
    pub values: Vec<Option<Entry>>,
}

impl Axis {
    /// Removes values that equal an earlier one when sent, because their combinations would be sent and charged twice.
    /// Paired axes keep them: their values may repeat.
    #[must_use]
    pub fn merged(mut self, combine: Combine) -> Self {
        if combine == Combine::Product {
            let mut found = HashSet::new();
            self.values.retain(|value| found.insert(sent_key(value)));
        }
        self
    }
}

/// How the values of several axes are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The Cartesian product; the last axis changes fastest.
    Product,
    /// The first values of all axes, then the second values, and so on. An axis with a single value repeats it.
    Paired,
}

impl Combine {
    pub fn of(is_product: bool) -> Self {
        match is_product {
            true => Self::Product,
            false => Self::Paired,
        }
    }
}

/// Returns the rows of a sweep: the entries of `base`, with the values of the axes. Empty if there are no axes, or if
/// an axis has no values.
///
/// # Errors
///
/// A message: paired axes of different lengths, one parameter on two axes, or more than [`MAX_ROWS`] rows.
pub fn rows(base: &Draft, axes: &[Axis], combine: Combine) -> Result<Vec<Draft>, String> {
    for (position, axis) in axes.iter().enumerate() {
        if axes[..position]
            .iter()
            .any(|other| other.parameter == axis.parameter)
        {
            return Err(format!("{} is on two axes.", axis.parameter));
        }
    }
    let count = count(axes, combine)?;
    let row = |number: usize| {
        let mut row = base.clone();
        let mut rest = number;
        for axis in axes.iter().rev() {
            let length = axis.values.len();
            let position = match combine {
                Combine::Product => rest % length,
                Combine::Paired => number % length,
            };
            rest /= length;
            match axis.values[position].clone() {
                Some(value) => row.set(axis.parameter.clone(), value),
                None => row.reset(&axis.parameter),
            }
        }
        row
    };
    Ok((0..count).map(row).collect())
}

/// Returns how many rows the axes give.
///
/// # Errors
///
/// A message: paired axes of different lengths, or more than [`MAX_ROWS`] rows.
pub fn count(axes: &[Axis], combine: Combine) -> Result<usize, String> {
    if axes.is_empty() || axes.iter().any(|axis| axis.values.is_empty()) {
        return Ok(0);
    }
    let lengths = || axes.iter().map(|axis| axis.values.len());
    let count = match combine {
        Combine::Product => lengths().fold(1, usize::saturating_mul),
        Combine::Paired => {
            let longest = lengths().max().unwrap_or(0);
            if lengths().any(|length| length != longest && length != 1) {
                let lists: Vec<String> = axes
                    .iter()
                    .map(|axis| format!("{} has {}", axis.parameter, axis.values.len()))
                    .collect();
                return Err(format!(
                    "Paired axes need equally many values: {}.",
                    lists.join(", ")
                ));
            }
            longest
        }
    };
    if count > MAX_ROWS {
        return Err(format!(
            "These axes give {count} items; a batch has at most {MAX_ROWS}."
        ));
    }
    Ok(count)
}

/// The labels of a grid, stored with the batch: the product of two axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridLabels {
    /// The vertical axis, with its values as texts.
    pub rows: Labels,
    /// The horizontal axis.
    pub columns: Labels,
    /// The cell of each place of the batch, in order: `row * columns + column`. A place without an item has a cell
    /// outside the grid, or its cell is shown as not sent.
    pub cells: Vec<usize>,
}

/// The labels of one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Labels {
    pub parameter: String,
    pub values: Vec<String>,
}

impl GridLabels {
    /// Returns the grid of a sweep if it is a product with exactly two axes of more than one value. `sent`: the rows of
    /// the sweep that became items.
    pub fn new(axes: &[Axis], combine: Combine, sent: &[usize]) -> Option<Self> {
        let mut long = axes.iter().filter(|axis| axis.values.len() > 1);
        let (Combine::Product, Some(rows), Some(columns), None) =
            (combine, long.next(), long.next(), long.next())
        else {
            return None;
        };
        let labels = |axis: &Axis| Labels {
            parameter: axis.parameter.clone(),
            values: labels(&axis.values),
        };
        Some(Self {
            rows: labels(rows),
            columns: labels(columns),
            cells: sent.to_vec(),
        })
    }

    /// Swaps the axes. If the cells span several grids, these keep their order.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let (rows, columns) = (self.rows.values.len(), self.columns.values.len().max(1));
        let cells = self.cells.iter();
        Self {
            rows: self.columns.clone(),
            columns: self.rows.clone(),
            cells: cells
                .map(|cell| {
                    let (row, column) = (cell / columns, cell % columns);
                    row / rows.max(1) * rows * columns + column * rows + row % rows.max(1)
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn axis(parameter: &str, count: usize) -> Axis {
        Axis {
            parameter: parameter.into(),
            values: (0..count)
                .map(|n| Some(Entry::Text(n.to_string())))
                .collect(),
        }
    }

    fn texts(rows: &[Draft]) -> Vec<String> {
        rows.iter()
            .map(|row| {
                row.iter()
                    .map(|(_, entry)| entry.to_text())
                    .collect::<String>()
            })
            .collect()
    }

    #[test]
    fn product_and_pairs() {
        let axes = [axis("a", 2), axis("b", 3)];
        let product = rows(&Draft::default(), &axes, Combine::Product).unwrap();
        assert_eq!(texts(&product), ["00", "01", "02", "10", "11", "12"]);
        let refused = rows(&Draft::default(), &axes, Combine::Paired).unwrap_err();
        assert_eq!(
            refused,
            "Paired axes need equally many values: a has 2, b has 3."
        );
        let axes = [axis("a", 3), axis("b", 3), axis("c", 1)];
        let pairs = rows(&Draft::default(), &axes, Combine::Paired).unwrap();
        assert_eq!(texts(&pairs), ["000", "110", "220"]);
    }

    /// Two spellings of one value must not send the same item twice.
    #[test]
    fn spellings_of_the_same_value_are_used_once() {
        let read = |parameter: serde_json::Value, text: &str, combine| {
            let parameter = atelier_contract::Parameter::from_value(parameter).unwrap();
            let values = crate::compose::range::values(&parameter, false, text).unwrap();
            let axis = Axis {
                parameter: parameter.name,
                values,
            };
            axis.merged(combine).values.len()
        };
        let once = |parameter, text| read(parameter, text, Combine::Product);
        let objects =
            json!({"name": "objects", "type": "array", "allowedValues": ["bird", "text, logo"]});
        let both = "[\"text, logo\"]\ntext, logo\nbird";
        assert_eq!(once(objects.clone(), both), 2);
        assert_eq!(read(objects, both, Combine::Paired), 3);
        let frames = json!({"name": "frames", "type": "array", "allowedValues": [1, "1"]});
        assert_eq!(once(frames, "[1]\n[\"1\"]\n[1.0]"), 2);
        let mist = json!({"name": "mist", "type": "number"});
        assert_eq!(
            once(mist, "1, 1.0, 1e0, 0.10, .1, (left out), (left out)"),
            3
        );
        let any = json!({"name": "any", "type": "?"});
        assert_eq!(once(any, "1 \"1\" {\"a\": 1} {\"a\":1}"), 3);
        let style = json!({"name": "style", "type": "string"});
        assert_eq!(once(style, "oil\nOil\n oil\n(empty)"), 3);
    }

    /// Guards against two columns of a grid with the same label.
    #[test]
    fn a_number_and_its_text_have_different_labels() {
        let axis = |values: [serde_json::Value; 2]| Axis {
            parameter: "a".into(),
            values: values.map(|it| Some(Entry::Value(it))).to_vec(),
        };
        let axes = [axis([json!(1), json!("1")]), axis([json!("x"), json!("1")])];
        let grid = GridLabels::new(&axes, Combine::Product, &[0]).unwrap();
        assert_eq!(grid.rows.values, ["1", "\"1\""]);
        assert_eq!(grid.columns.values, ["x", "1"]);
    }

    /// Guards against a left-out parameter that gets the value of the form.
    #[test]
    fn a_row_without_a_value_leaves_the_parameter_out() {
        let mut base = Draft::default();
        base.set("a", Entry::Text("of the form".into()));
        let axes = [Axis {
            parameter: "a".into(),
            values: vec![Some(Entry::Text("x".into())), None],
        }];
        let rows = rows(&base, &axes, Combine::Product).unwrap();
        assert_eq!(texts(&rows), ["x", ""]);
        assert_eq!(rows[1].get("a"), None);
    }

    #[test]
    fn too_many_rows_and_duplicate_axes_are_rejected_and_empty_axes_give_no_rows() {
        let many = [
            axis("a", 1000),
            axis("b", 1000),
            axis("c", 10_000),
            axis("d", usize::from(u16::MAX)),
        ];
        assert!(rows(&Draft::default(), &many, Combine::Product).is_err());
        assert!(
            rows(
                &Draft::default(),
                &[axis("a", 2), axis("a", 2)],
                Combine::Product
            )
            .is_err()
        );
        assert!(
            rows(&Draft::default(), &[], Combine::Product)
                .unwrap()
                .is_empty()
        );
        let empty = [axis("a", 2), axis("b", 0)];
        assert!(
            rows(&Draft::default(), &empty, Combine::Paired)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_grid_has_two_axes_of_several_values() {
        let axes = [axis("a", 2), axis("c", 1), axis("b", 3)];
        let grid = GridLabels::new(&axes, Combine::Product, &[0, 1, 5]).unwrap();
        assert_eq!(
            (grid.rows.parameter.as_str(), grid.columns.values.len()),
            ("a", 3)
        );
        assert_eq!(GridLabels::new(&axes, Combine::Paired, &[]), None);
        assert_eq!(GridLabels::new(&axes[..2], Combine::Product, &[]), None);
    }

    /// Guards against showing an image with the label of another one.
    #[test]
    fn each_item_keeps_its_labels_when_transposed() {
        let axes = [axis("a", 4), axis("b", 2)];
        let grid = GridLabels::new(&axes, Combine::Product, &[0, 3, 6, 7]).unwrap();
        let labels = |grid: &GridLabels| -> Vec<(String, String)> {
            let columns = grid.columns.values.len();
            let label = |cell: &usize| {
                let row = grid.rows.values[cell / columns].clone();
                (row, grid.columns.values[cell % columns].clone())
            };
            grid.cells.iter().map(label).collect()
        };
        let turned = grid.transposed();
        assert_eq!(
            (turned.rows.parameter.as_str(), turned.columns.values.len()),
            ("b", 4)
        );
        let swapped: Vec<_> = labels(&turned).into_iter().map(|(a, b)| (b, a)).collect();
        assert_eq!(swapped, labels(&grid));
        assert_eq!(turned.transposed(), grid);
    }

    proptest! {
        #[test]
        fn a_product_has_every_combination_once(lengths in prop::collection::vec(1..6usize, 1..5)) {
            let axes: Vec<Axis> = lengths.iter().enumerate().map(|(n, length)| axis(&n.to_string(), *length)).collect();
            let rows = rows(&Draft::default(), &axes, Combine::Product).unwrap();
            let distinct: HashSet<String> = texts(&rows).into_iter().collect();
            prop_assert_eq!(rows.len(), lengths.iter().product::<usize>());
            prop_assert_eq!(distinct.len(), rows.len());
        }
    }
}
