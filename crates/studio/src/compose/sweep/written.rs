//! Reconstructs a sweep from its rows, so that a batch can be edited without typing the axes again.

use atelier_contract::{Draft, Entry, Schema};

use super::{Axis, Combine, rows};
use crate::compose::{prompt_of, range};
use crate::form::seed;

/// A sweep with its values as typed.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenSweep {
    /// The inputs that all items share, without the axes and the seed.
    pub base: Draft,
    /// The parameters with their values as typed; the last axis changes fastest.
    pub axes: Vec<(String, String)>,
    pub combine: Combine,
    /// The seed of all items; empty if the items have no common seed.
    pub seed: String,
}

impl WrittenSweep {
    /// Reconstructs the sweep of these rows. `None` if they are not exactly the rows of a sweep, or if only their
    /// prompts differ: such rows are shown as lines.
    pub fn of(items: &[Draft], schema: &Schema) -> Option<Self> {
        let prompt = prompt_of(schema);
        let differing = schema.parameters().map(|(parameter, _)| &parameter.name);
        let mut columns: Vec<(&String, Vec<Option<Entry>>)> = differing
            .map(|name| (name, column(items, name)))
            .filter(|(_, entries)| first_change(entries).is_some())
            .collect();
        columns.sort_by_key(|(_, entries)| std::cmp::Reverse(first_change(entries)));
        let is_prompt = |name: &String| Some(name) == prompt.as_ref();
        if columns.iter().all(|(name, _)| is_prompt(name)) {
            return None;
        }
        let product = || Self::combined(items, &columns, Combine::Product, schema);
        // Rows with different prompts and other differences are lines, not pairs.
        let has_lines = columns.iter().any(|(name, _)| is_prompt(name));
        // Rows that lack a parameter in some places are not pairs either.
        let has_gaps = columns.iter().any(|(_, entries)| entries.contains(&None));
        let paired = || Self::combined(items, &columns, Combine::Paired, schema);
        product().or_else(|| paired().filter(|_| !has_lines && !has_gaps))
    }

    fn combined(
        items: &[Draft],
        columns: &[(&String, Vec<Option<Entry>>)],
        combine: Combine,
        schema: &Schema,
    ) -> Option<Self> {
        let mut base = items.first()?.clone();
        let mut axes = Vec::new();
        for (name, entries) in columns {
            base.reset(name);
            let (parameter, required) = schema.parameter(name)?;
            let values = match combine {
                Combine::Product => distinct(entries),
                Combine::Paired => entries.clone(),
            };
            let written = range::written(parameter, required, &values)?;
            axes.push(((*name).clone(), written));
        }
        let mut seed_text = String::new();
        if let Some(seed) = seed::parameter(schema) {
            seed_text = base
                .get(&seed.name)
                .map_or_else(String::new, Entry::to_text);
            base.reset(&seed.name);
        }
        let found = Self {
            base,
            axes,
            combine,
            seed: seed_text,
        };
        let again = found.rows(schema).ok()?;
        let sent = |draft: &Draft| schema.validate(draft, false);
        let is_same = |(one, other): (&Draft, &Draft)| {
            texts(one).eq(texts(other)) && sent(one) == sent(other)
        };
        let is_all = again.len() == items.len() && again.iter().zip(items).all(is_same);
        is_all.then_some(found)
    }

    /// Parses the axes.
    ///
    /// # Errors
    ///
    /// A sentence, see [`range::values`].
    pub fn read_axes(&self, schema: &Schema) -> Result<Vec<Axis>, String> {
        let axes = self.axes.iter().filter_map(|(name, values)| {
            let (parameter, required) = schema.parameter(name)?;
            let values = range::values(parameter, required, values);
            Some(values.map(|values| {
                let axis = Axis {
                    parameter: name.clone(),
                    values,
                };
                axis.merged(self.combine)
            }))
        });
        axes.collect()
    }

    /// Returns the inputs that all items share, including the seed.
    pub fn base_with_seed(&self, schema: &Schema) -> Draft {
        let mut base = self.base.clone();
        if let (Some(seed), false) = (seed::parameter(schema), self.seed.is_empty()) {
            base.set(seed.name.clone(), Entry::Text(self.seed.clone()));
        }
        base
    }

    fn rows(&self, schema: &Schema) -> Result<Vec<Draft>, String> {
        let axes = self.read_axes(schema)?;
        rows(&self.base_with_seed(schema), &axes, self.combine)
    }
}

/// Returns the value of a parameter in each item, or `None` if it is left out.
fn column(items: &[Draft], name: &str) -> Vec<Option<Entry>> {
    items.iter().map(|item| item.get(name).cloned()).collect()
}

/// Returns the index of the first item whose value differs from that of item 0.
fn first_change(entries: &[Option<Entry>]) -> Option<usize> {
    let first = entries.first()?;
    entries.iter().position(|entry| !is_alike(entry, first))
}

/// Returns the distinct entries, in order.
fn distinct(entries: &[Option<Entry>]) -> Vec<Option<Entry>> {
    let mut found: Vec<Option<Entry>> = Vec::new();
    for entry in entries {
        if !found.iter().any(|other| is_alike(other, entry)) {
            found.push(entry.clone());
        }
    }
    found
}

/// Compares entries by their texts, and two JSON values also by their types: a typed `1` may mean `1` or `"1"`, but
/// these two differ.
fn is_alike(one: &Option<Entry>, other: &Option<Entry>) -> bool {
    let have_types = matches!((one, other), (Some(Entry::Value(_)), Some(Entry::Value(_))));
    range::label(one) == range::label(other) && (!have_types || one == other)
}

/// Returns the values as texts, as the user sees them: `1` and `"1"` look the same.
fn texts(draft: &Draft) -> impl Iterator<Item = (&str, String)> {
    draft.iter().map(|(name, entry)| (name, entry.to_text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::panel_items::PanelItems;
    use crate::compose::table::Table;
    use serde_json::{Value, json};

    fn schema() -> Schema {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "mist", "type": "number", "minimum": 0, "maximum": 1},
                    {"name": "time", "type": "enum", "allowedValues": ["dawn", "noon, high"]},
                    {"name": "seed", "type": "integer"}
                ]
            }
        });
        Schema::from_value(schema).unwrap()
    }

    fn found(items: &[Value]) -> Option<WrittenSweep> {
        WrittenSweep::of(&drafts(items), &schema())
    }

    fn drafts(items: &[Value]) -> Vec<Draft> {
        let items = items.iter().filter_map(Value::as_object);
        items.map(Draft::from_values).collect()
    }

    fn lake(mist: f64, time: &str) -> Value {
        json!({"prompt": "a lake", "mist": mist, "time": time, "seed": 7})
    }

    #[test]
    fn finds_the_axes_their_values_and_the_common_seed() {
        let items = [
            lake(0.0, "noon, high"),
            lake(0.5, "noon, high"),
            lake(0.0, "dawn"),
            lake(0.5, "dawn"),
        ];
        let sweep = found(&items).unwrap();
        let axes = [
            ("time".to_owned(), "\"noon, high\", \"dawn\"".to_owned()),
            ("mist".to_owned(), "0.0, 0.5".to_owned()),
        ];
        assert_eq!(sweep.axes, axes);
        assert_eq!(
            (sweep.combine, sweep.seed.as_str()),
            (Combine::Product, "7")
        );
        assert_eq!(sweep.base, drafts(&[json!({"prompt": "a lake"})])[0]);
    }

    /// Guards against sending the same rows twice, from the table and from the sweep.
    #[test]
    fn the_rows_equal_those_of_the_table() {
        let items = [lake(0.5, "dawn"), lake(1.0, "dawn"), lake(0.0, "dawn")];
        let (schema, sweep) = (schema(), found(&items).unwrap());
        let mut table = Table::default();
        table.add_sweep(&sweep, &schema).unwrap();
        assert_eq!(table.unsent(), 3);
        let rows = sweep.rows(&schema).unwrap();
        assert_eq!(PanelItems::of(&rows, None, &table), PanelItems::InTable);
    }

    /// Guards against restoring a sweep of this kind as single rows.
    #[test]
    fn a_left_out_parameter_is_a_value_of_the_axis() {
        let none = |time: &str| json!({"prompt": "a lake", "time": time, "seed": 7});
        let items = [
            lake(0.5, "dawn"),
            none("dawn"),
            lake(0.5, "noon, high"),
            none("noon, high"),
        ];
        let sweep = found(&items).unwrap();
        let axes = [
            ("time".to_owned(), "\"dawn\", \"noon, high\"".to_owned()),
            ("mist".to_owned(), "0.5, (left out)".to_owned()),
        ];
        assert_eq!(sweep.axes, axes);
        assert_eq!(sweep.combine, Combine::Product);
    }

    #[test]
    fn values_may_go_in_pairs() {
        let sweep = found(&[lake(0.0, "dawn"), lake(1.0, "noon, high")]).unwrap();
        assert_eq!((sweep.combine, sweep.axes.len()), (Combine::Paired, 2));
    }

    #[test]
    fn lines_and_incomplete_sweeps_are_not_sweeps() {
        let line = |prompt: &str| json!({"prompt": prompt, "seed": 7});
        assert_eq!(found(&[line("a"), line("b")]), None);
        assert_eq!(found(&[line("a"), line("a")]), None);
        assert_eq!(found(&[]), None);
        let lines = [
            json!({"prompt": "a", "mist": 0.5}),
            json!({"prompt": "b", "mist": 1.0}),
        ];
        assert_eq!(found(&lines), None);
        let three = [
            lake(0.0, "dawn"),
            lake(0.5, "dawn"),
            lake(0.0, "noon, high"),
        ];
        let sweep = found(&three).unwrap();
        assert_eq!(sweep.combine, Combine::Paired, "the rows are also pairs");
        let gap = [lake(0.0, "dawn"), json!({"prompt": "a lake", "seed": 7})];
        assert_eq!(found(&gap), None);
    }

    /// Guards against sending 1 instead of "1".
    #[test]
    fn rows_whose_values_would_change_their_type_are_not_a_sweep() {
        let schema = Schema::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "size", "type": "enum", "allowedValues": [1, "1", 2]},
                    {"name": "mist", "type": "number"}
                ]
            }
        }));
        let schema = schema.unwrap();
        let is_sweep = |size: Value| {
            let items = [
                json!({"prompt": "a lake", "size": size}),
                json!({"prompt": "a lake", "size": 2}),
            ];
            WrittenSweep::of(&drafts(&items), &schema).is_some()
        };
        assert!(is_sweep(json!(1)) && is_sweep(json!("1")));
        let items =
            [1.into(), Value::from("1")].map(|size| json!({"prompt": "a lake", "size": size}));
        let sweep = WrittenSweep::of(&drafts(&items), &schema).unwrap();
        assert_eq!(
            sweep.axes,
            [("size".to_owned(), r#""1", """1""""#.to_owned())]
        );
    }
}
