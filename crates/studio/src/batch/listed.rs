//! Makes labels for a list of batches, in which several may have the same name.

use std::collections::HashMap;

use atelier_contract::Input;

use super::differences::{differences, short_value, value};
use crate::form::seed;
use crate::text::diff::distinguishing_parts;

/// A batch in a list.
pub struct ListedBatch<'a> {
    /// The text before the name: when the batch was sent, and how many items it has.
    pub about: String,
    pub name: &'a str,
    /// The input of the first item, if known.
    pub first: Option<Input>,
}

/// Returns the label of each batch: `Today 09:05 · 4 items · a lake at dawn`. If batches have the same name, their
/// labels show a value in which their first items differ, before the name, because the end of the name is truncated.
/// Labels that are still equal are numbered.
pub fn labels(batches: &[ListedBatch]) -> Vec<String> {
    let mut of_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, batch) in batches.iter().enumerate() {
        of_name.entry(batch.name).or_default().push(at);
    }
    let mut labels: Vec<String> = batches
        .iter()
        .map(|batch| format!("{} · {}", batch.about, batch.name))
        .collect();
    for places in of_name.values().filter(|places| places.len() > 1) {
        for (at, difference) in places.iter().zip(first_difference(batches, places)) {
            labels[*at] = format!(
                "{} · {difference} · {}",
                batches[*at].about, batches[*at].name
            );
        }
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for label in &labels {
        *counts.entry(label.clone()).or_default() += 1;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (label, batch) in labels.iter_mut().zip(batches) {
        let count = counts[label.as_str()];
        if count > 1 {
            let seen = seen.entry(label.clone()).or_default();
            *seen += 1;
            *label = format!("{} · {seen} of {count} alike · {}", batch.about, batch.name);
        }
    }
    labels
}

/// Returns the values of the first parameter in which the first items differ; empty if there is none. Seeds are ignored.
fn first_difference(batches: &[ListedBatch], places: &[usize]) -> Vec<String> {
    let firsts: Option<Vec<&Input>> = places
        .iter()
        .map(|at| batches[*at].first.as_ref())
        .collect();
    let Some(firsts) = firsts else {
        return Vec::new();
    };
    let mut found = differences(firsts.iter().copied()).into_iter();
    let Some(difference) = found.find(|it| it.parameter != seed::NAME) else {
        return Vec::new();
    };
    let parameter = difference.parameter;
    let values: Vec<String> = firsts.iter().map(|it| value(it, &parameter)).collect();
    let values = distinguishing_parts(&values).into_iter();
    values
        .map(|value| format!("{parameter}: {}", short_value(&value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn listed(name: &str, values: Option<Value>) -> ListedBatch<'_> {
        let model = json!({"category": "image", "subcategory": "a"});
        let first = values.map(|values| {
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        });
        ListedBatch {
            about: "Today 09:05 · 4 items".into(),
            name,
            first,
        }
    }

    /// Guards against two equal labels.
    #[test]
    fn batches_with_the_same_name_show_their_differences() {
        let sea = |mist: u32, seed: u32| Some(json!({"prompt": "sea", "seed": seed, "mist": mist}));
        let names = |batches: &[ListedBatch]| {
            let strip = |label: &String| label.replace("Today 09:05 · 4 items · ", "");
            labels(batches).iter().map(strip).collect::<Vec<_>>()
        };
        let batches = [
            listed("sea", sea(0, 1)),
            listed("moor", Some(json!({"prompt": "moor"}))),
            listed("sea", sea(5, 2)),
            listed("sea", sea(5, 3)),
        ];
        assert_eq!(
            names(&batches),
            [
                "mist: 0 · sea",
                "moor",
                "1 of 2 alike · sea",
                "2 of 2 alike · sea"
            ]
        );
        let gone = [listed("sea", sea(0, 1)), listed("sea", None)];
        assert_eq!(names(&gone), ["1 of 2 alike · sea", "2 of 2 alike · sea"]);
        // Names contain only the beginning of long prompts.
        let long = "a wide valley seen from a high ridge, blue shadows between the pines,";
        let prompt = |light: &str| Some(json!({"prompt": format!("{long} {light}")}));
        let long = [
            listed("a wide", prompt("dawn")),
            listed("a wide", prompt("dusk")),
        ];
        assert_eq!(
            names(&long),
            [
                "prompt: …between the pines, dawn · a wide",
                "prompt: …between the pines, dusk · a wide"
            ]
        );
    }
}
