//! Lays out a batch with more than two axes: two axes form labelled grids, one for each combination of the other axes'
//! values. The axes are derived from the inputs, so this works for any batch.

use atelier_engine::Task;

use super::differences::{chosen_differences, shown, slowest_first, value};
use crate::batch::blocks::{Blocks, Heading};
use crate::batch::labelled_grid::{is_long, value_shapes};
use crate::compose::sweep::{GridLabels, Labels};
use crate::text::diff::distinguishing_parts;

/// The maximum number of axes. More are hard to read.
const MOST: usize = 4;

/// The product of several axes, with an item for each combination; the last axis changes fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    axes: Vec<Axis>,
}

/// An axis with its displayed texts.
#[derive(Debug, Clone, PartialEq)]
struct Axis {
    labels: Labels,
    /// The parts that distinguish the values from each other.
    parts: Vec<String>,
    /// The number of consecutive items with the same value.
    every: usize,
}

impl Axis {
    fn count(&self) -> usize {
        self.labels.values.len()
    }

    /// Returns the index of an item's value.
    fn place(&self, item: usize) -> usize {
        item / self.every % self.count()
    }
}

impl Combined {
    /// Finds the axes of a batch, given the latest attempt of each item. `None` if the items are not the product of 3
    /// to [`MOST`] axes.
    pub fn of(items: &[Option<&Task>]) -> Option<Self> {
        let known: Vec<&Task> = items.iter().flatten().copied().collect();
        let mut axes = chosen_differences(&known);
        let count = axes
            .iter()
            .map(|axis| axis.values.len())
            .fold(1, usize::saturating_mul);
        if !(3..=MOST).contains(&axes.len()) || count != items.len() {
            return None;
        }
        // The axis that changes least often is first.
        slowest_first(
            &mut axes,
            &known.iter().map(|it| &it.input).collect::<Vec<_>>(),
        );
        let mut every = count;
        let axes = axes.into_iter().map(|axis| {
            every /= axis.values.len();
            let mut values: Vec<Option<String>> = vec![None; axis.values.len()];
            for (index, task) in items.iter().enumerate() {
                let Some(task) = task else { continue };
                let value = value(&task.input, &axis.parameter);
                let place = &mut values[index / every % axis.values.len()];
                if *place.get_or_insert_with(|| value.clone()) != value {
                    return None;
                }
            }
            let values = values.into_iter();
            let values = values.map(|value| Some(shown(&value?).to_owned()));
            let values: Vec<String> = values.collect::<Option<_>>()?;
            Some(Axis {
                parts: distinguishing_parts(&values),
                labels: Labels {
                    parameter: axis.parameter,
                    values,
                },
                every,
            })
        });
        Some(Self {
            axes: axes.collect::<Option<_>>()?,
        })
    }

    /// Lays out the grids. `shapes`: the aspect ratios of the items. Axes with long values become headings; the axis that
    /// determines the shapes becomes the columns.
    pub fn blocks(&self, shapes: &[Option<f64>]) -> Blocks {
        let mut order: Vec<&Axis> = self.axes.iter().collect();
        order.sort_by_key(|axis| !is_long(&axis.labels.values));
        let gives_shape = |axis: &&Axis| {
            let places = (0..shapes.len()).map(|item| axis.place(item));
            value_shapes(axis.count(), places, shapes).is_some()
        };
        // The rows and columns of a grid can still be swapped.
        let (before, last) = order.split_at(order.len() - 2);
        if !last.iter().any(gives_shape)
            && let Some(at) = before.iter().position(gives_shape)
        {
            let last = order.remove(at);
            order.push(last);
        }
        in_order(&order)
    }
}

/// Lays out the axes in this order; the last two are the rows and the columns.
fn in_order(axes: &[&Axis]) -> Blocks {
    const BETWEEN: &str = " · ";
    let (before, last) = axes.split_at(axes.len() - 2);
    let parameters: Vec<&str> = before
        .iter()
        .map(|axis| axis.labels.parameter.as_str())
        .collect();
    let parameter = parameters.join(BETWEEN);
    let headings = (0..product(before)).map(|block| {
        let mut every = product(before);
        let places = before.iter().map(|axis| {
            every /= axis.count();
            (*axis, block / every % axis.count())
        });
        let names = places.map(|(axis, place)| {
            (
                axis.labels.values[place].as_str(),
                axis.parts[place].as_str(),
            )
        });
        let (whole, excerpt): (Vec<&str>, Vec<&str>) = names.unzip();
        Heading {
            parameter: parameter.clone(),
            value: whole.join(BETWEEN),
            excerpt: excerpt.join(BETWEEN),
        }
    });
    let cell = |item: usize| {
        axes.iter()
            .fold(0, |cell, axis| cell * axis.count() + axis.place(item))
    };
    Blocks {
        headings: headings.collect(),
        labels: GridLabels {
            rows: last[0].labels.clone(),
            columns: last[1].labels.clone(),
            cells: (0..product(axes)).map(cell).collect(),
        },
    }
}

/// Returns the number of combinations of the axes' values.
fn product(axes: &[&Axis]) -> usize {
    axes.iter().map(|axis| axis.count()).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{ready, task};
    use serde_json::{Value, json};

    fn tasks(inputs: Vec<Value>) -> Vec<Task> {
        let inputs = inputs.into_iter().enumerate();
        inputs
            .map(|(index, values)| {
                let task = task(&index.to_string(), index, 1, ready());
                let mut stored = serde_json::to_value(task).unwrap();
                stored["input"]["values"] = values;
                serde_json::from_value(stored).unwrap()
            })
            .collect()
    }

    /// Returns tasks with two prompts, two times, and two values of mist in decreasing order.
    fn swept(prompts: [&str; 2]) -> Vec<Task> {
        let mut inputs = Vec::new();
        for prompt in prompts {
            for time in ["dawn", "night"] {
                for mist in [1, 0] {
                    inputs.push(json!({"prompt": prompt, "time": time, "mist": mist, "seed": 7}));
                }
            }
        }
        tasks(inputs)
    }

    fn all(tasks: &[Task]) -> Vec<Option<&Task>> {
        tasks.iter().map(Some).collect()
    }

    #[test]
    fn a_sweep_of_three_axes_is_a_grid_for_each_value_of_the_first() {
        let tasks = swept(["a lake", "a sea"]);
        let blocks = Combined::of(&all(&tasks)).unwrap().blocks(&[]);
        let heading = |value: &str| Heading {
            parameter: "prompt".into(),
            value: value.into(),
            excerpt: value.into(),
        };
        assert_eq!(blocks.headings, [heading("a lake"), heading("a sea")]);
        let GridLabels {
            rows,
            columns,
            cells,
        } = blocks.labels;
        assert_eq!(rows.parameter, "time");
        assert_eq!(columns.values, ["1", "0"]);
        assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// Guards against a batch without a grid after an item was removed.
    #[test]
    fn a_removed_item_leaves_its_cell_empty() {
        let tasks = swept(["a lake", "a sea"]);
        let whole = Combined::of(&all(&tasks));
        let mut items = all(&tasks);
        items[0] = None;
        assert_eq!(Combined::of(&items), whole);
        items.truncate(7);
        assert_eq!(Combined::of(&items), None, "not all combinations");
        assert_eq!(Combined::of(&all(&tasks[..4])), None, "only two axes");
        assert_eq!(Combined::of(&[]), None);
        let mut inputs = swept(["a lake", "a sea"]);
        inputs.swap(1, 2);
        assert_eq!(
            Combined::of(&all(&inputs)),
            None,
            "the items are not in order"
        );
    }

    #[test]
    fn long_prompts_become_headings_and_shapes_become_columns() {
        let long = "a wide valley seen from a high ridge, blue shadows between the pines,";
        let mut inputs = Vec::new();
        for mist in [0, 1] {
            for shape in ["1:1", "3:2"] {
                for light in ["dawn", "dusk"] {
                    let prompt = format!("{long} {light}");
                    inputs.push(json!({"mist": mist, "shape": shape, "prompt": prompt}));
                }
            }
        }
        let tasks = tasks(inputs);
        let combined = Combined::of(&all(&tasks)).unwrap();
        let blocks = combined.blocks(&[]);
        let excerpts: Vec<&str> = blocks
            .headings
            .iter()
            .map(|it| it.excerpt.as_str())
            .collect();
        assert_eq!(
            excerpts,
            ["…between the pines, dawn", "…between the pines, dusk"]
        );
        assert_eq!(blocks.labels.rows.parameter, "mist");
        assert_eq!(blocks.labels.cells, [0, 4, 1, 5, 2, 6, 3, 7]);

        // The first axis determines the shape.
        let tasks = swept(["a lake", "a sea"]);
        let combined = Combined::of(&all(&tasks)).unwrap();
        let shapes: Vec<_> = (0..8)
            .map(|item| Some(if item < 4 { 1.0 } else { 2.0 }))
            .collect();
        let blocks = combined.blocks(&shapes);
        assert_eq!(blocks.labels.columns.parameter, "prompt");
        assert_eq!(blocks.headings[1].value, "night");
        assert_eq!(blocks.labels.cells, [0, 2, 4, 6, 1, 3, 5, 7]);
        // If the rows determine the shape, they can become columns later. If no axis does, the order is unchanged.
        let by_rows = [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0].map(Some);
        let by_none = [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0].map(Some);
        for shapes in [by_rows, by_none] {
            assert_eq!(combined.blocks(&shapes), combined.blocks(&[]));
        }
    }
}
