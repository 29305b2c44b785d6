//! What batches are called in a list, where several may have one name.

use std::collections::HashMap;

use atelier_contract::Input;

use super::differences::{differences, said, value};
use crate::form::seed;
use crate::text::diff::told_apart;

/// A batch as it stands in a list.
pub struct Listed<'a> {
    /// What is said of it before its name: when it was sent, and how many items it has.
    pub about: String,
    pub name: &'a str,
    /// What its first item was made of, as far as that is known.
    pub first: Option<Input>,
}

/// What each is called: `Today 09:05 · 4 items · a lake at dawn`. Those of one name say in what their first items differ,
/// before the name, whose end is cut off; those that are the same all the same are counted.
pub fn labels(batches: &[Listed]) -> Vec<String> {
    let mut of_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, batch) in batches.iter().enumerate() {
        of_name.entry(batch.name).or_default().push(at);
    }
    let mut labels: Vec<String> = batches
        .iter()
        .map(|batch| format!("{} · {}", batch.about, batch.name))
        .collect();
    for places in of_name.values().filter(|places| places.len() > 1) {
        for (at, said) in places.iter().zip(first_difference(batches, places)) {
            labels[*at] = format!("{} · {said} · {}", batches[*at].about, batches[*at].name);
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

/// What the first items of these have of the first parameter in which they differ; nothing where they do not. A seed
/// says nothing.
fn first_difference(batches: &[Listed], places: &[usize]) -> Vec<String> {
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
    let told = told_apart(&values).into_iter();
    told.map(|told| format!("{parameter}: {}", said(&told)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn listed(name: &str, values: Option<Value>) -> Listed<'_> {
        let model = json!({"category": "image", "subcategory": "a"});
        let first = values.map(|values| {
            serde_json::from_value(json!({"model": model, "values": values})).unwrap()
        });
        Listed {
            about: "Today 09:05 · 4 items".into(),
            name,
            first,
        }
    }

    /// Guards against a list of batches in which two lines are the same.
    #[test]
    fn batches_of_one_name_say_in_what_they_differ() {
        let sea = |mist: u32, seed: u32| Some(json!({"prompt": "sea", "seed": seed, "mist": mist}));
        let told = |batches: &[Listed]| {
            let said = |label: &String| label.replace("Today 09:05 · 4 items · ", "");
            labels(batches).iter().map(said).collect::<Vec<_>>()
        };
        let batches = [
            listed("sea", sea(0, 1)),
            listed("moor", Some(json!({"prompt": "moor"}))),
            listed("sea", sea(5, 2)),
            listed("sea", sea(5, 3)),
        ];
        assert_eq!(
            told(&batches),
            [
                "mist: 0 · sea",
                "moor",
                "1 of 2 alike · sea",
                "2 of 2 alike · sea"
            ]
        );
        let gone = [listed("sea", sea(0, 1)), listed("sea", None)];
        assert_eq!(told(&gone), ["1 of 2 alike · sea", "2 of 2 alike · sea"]);
        // Long prompts are cut in their names.
        let long = "a wide valley seen from a high ridge, blue shadows between the pines,";
        let prompt = |light: &str| Some(json!({"prompt": format!("{long} {light}")}));
        let long = [
            listed("a wide", prompt("dawn")),
            listed("a wide", prompt("dusk")),
        ];
        assert_eq!(
            told(&long),
            [
                "prompt: …between the pines, dawn · a wide",
                "prompt: …between the pines, dusk · a wide"
            ]
        );
    }
}
