//! Finds the inputs that differ among several tasks.

use std::collections::HashSet;

use atelier_contract::Schema;
use atelier_engine::Task;
use serde_json::Value;

use crate::batch::differences::labelled_value;
use crate::form::{control, seed};
use crate::text::diff::distinguishing_parts;
use atelier_contract::output::{OutputAddress, OutputKind};

/// The name of the model among the inputs.
const MODEL: &str = "Model";

/// The suffix of a default that was not sent.
const DEFAULT: &str = " (default)";

/// An input with its value in each task. A value is empty if the task has none and the model's default is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedInput {
    pub name: String,
    pub values: Vec<String>,
}

impl ComparedInput {
    /// Returns the distinct values, each with the numbers (from 1) of the outputs that have it; `None` if all values
    /// are short.
    pub fn long_values(&self) -> Option<Vec<(Vec<usize>, &str)>> {
        /// The minimum length of a long value, in characters.
        const LONG: usize = 60;
        let is_long = |value: &String| file(value).is_none() && value.chars().count() > LONG;
        if !self.values.iter().any(is_long) {
            return None;
        }
        let mut found: Vec<(Vec<usize>, &str)> = Vec::new();
        for (at, value) in self.values.iter().enumerate() {
            match found.iter_mut().find(|(_, known)| known == value) {
                Some((numbers, _)) => numbers.push(at + 1),
                None => found.push((vec![at + 1], value)),
            }
        }
        Some(found)
    }
}

/// Returns the inputs that differ, in the order of the tasks' inputs. The model is first if it differs. An unsent
/// default equals a sent value.
pub fn differences<'a>(
    tasks: &[&Task],
    schema: impl Fn(&Task) -> Option<&'a Schema>,
) -> Vec<ComparedInput> {
    let models: Vec<String> = tasks.iter().map(|task| task.model_name.clone()).collect();
    let mut found = Vec::new();
    if models.iter().any(|model| *model != models[0]) {
        found.push(ComparedInput {
            name: MODEL.into(),
            values: models,
        });
    }
    let mut seen = Vec::new();
    for name in tasks.iter().flat_map(|task| task.input.values().keys()) {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let mut values: Vec<_> = tasks
            .iter()
            .map(|task| Effective::of(task, name, schema(task)))
            .collect();
        // The default may be known for only one of two tasks, for example because of their accounts. It applies to
        // both.
        for at in 0..values.len() {
            let mut others = tasks.iter().zip(&values);
            let default = others.find(|(task, other)| {
                task.model == tasks[at].model && other.is_default && other.value.is_some()
            });
            values[at].value = values[at].value.or(default.and_then(|(_, it)| it.value));
        }
        if values.iter().any(|value| value.value != values[0].value) {
            found.push(ComparedInput {
                name: name.clone(),
                values: values.iter().map(Effective::text).collect(),
            });
        }
    }
    found
}

/// Returns a caption for each task: its prompt, if all prompts differ. Otherwise, the inputs that differ, then the
/// prompt if prompts differ, and then the seed, because its digits mean little to the user.
pub fn captions(tasks: &[&Task], differences: &[ComparedInput]) -> Vec<String> {
    let prompts: Vec<String> = tasks.iter().map(|it| it.input.title().to_owned()).collect();
    let parts_of_prompts = distinguishing_parts(&prompts);
    let distinct: HashSet<&String> = prompts.iter().collect();
    if distinct.len() == tasks.len() {
        return parts_of_prompts;
    }
    let is_title = |name: &str| tasks.iter().all(|it| it.input.title_name() == Some(name));
    let is_varied = |it: &&ComparedInput| it.name != seed::NAME && !is_title(&it.name);
    let varied: Vec<_> = differences.iter().filter(is_varied).collect();
    let is_chosen = tasks.iter().any(|task| task.seed_chosen);
    let seed = differences.iter().find(|it| it.name == seed::NAME);
    let seed = seed.filter(|_| varied.is_empty() || is_chosen);
    let caption = |at: usize| {
        let value = |it: &&ComparedInput| match (it.name.as_str(), file(&it.values[at])) {
            (MODEL, _) => it.values[at].clone(),
            (name, Some((_, file))) => format!("{name} {file}"),
            (name, None) => match it.values[at].strip_suffix(DEFAULT) {
                Some(value) => format!("{}{DEFAULT}", labelled_value(name, value)),
                None => labelled_value(name, &it.values[at]),
            },
        };
        let prompt = (distinct.len() > 1).then(|| parts_of_prompts[at].clone());
        let parts = varied.iter().map(value).chain(prompt);
        let parts: Vec<String> = parts.chain(seed.as_ref().map(value)).collect();
        match parts.is_empty() {
            true => parts_of_prompts[at].clone(),
            false => parts.join(" · "),
        }
    };
    (0..tasks.len()).map(caption).collect()
}

/// Whether the captions show all differences, because only the seed differs.
pub fn are_shown_by_captions(differences: &[ComparedInput]) -> bool {
    match differences {
        [only] => only.name == seed::NAME && only.values.iter().all(|value| !value.is_empty()),
        _ => false,
    }
}

/// The value that an input had: the sent one, or else the default.
struct Effective<'a> {
    value: Option<&'a Value>,
    is_default: bool,
}

impl<'a> Effective<'a> {
    fn of<'b: 'a>(task: &'a Task, name: &str, schema: Option<&'b Schema>) -> Self {
        let sent = task.input.values().get(name);
        let default = || schema?.parameter(name)?.0.default.as_ref();
        Self {
            value: sent.or_else(default),
            is_default: sent.is_none(),
        }
    }

    fn text(&self) -> String {
        match self.value {
            Some(value) if self.is_default => format!("{}{DEFAULT}", control::text(value)),
            Some(value) => control::text(value),
            None => String::new(),
        }
    }
}

/// Returns the kind and file name of a media address, to show instead of the long address; `None` for other values.
pub fn file(value: &str) -> Option<(OutputKind, String)> {
    if value.contains(char::is_whitespace) {
        return None;
    }
    let kind = OutputKind::of(value, "");
    let name = match OutputAddress::of(value) {
        _ if kind == OutputKind::Other => return None,
        OutputAddress::Data(mime) => mime,
        OutputAddress::Web | OutputAddress::Path => {
            let path = value.split(['?', '#']).next().unwrap_or_default();
            path.rsplit('/').next().unwrap_or_default().to_owned()
        }
        _ => return None,
    };
    Some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unknown(_: &Task) -> Option<&'static Schema> {
        None
    }

    fn task(model: &str, values: Value) -> Task {
        serde_json::from_value(json!({
            "key": "a", "account": {"address": "", "uid": "me"}, "model_name": model,
            "model": {"category": "image", "subcategory": "a"}, "created": 1,
            "input": {"model": {"category": "image", "subcategory": "a"}, "values": values},
            "state": {"state": "queued"},
        }))
        .unwrap()
    }

    /// Guards against repeating the same long prompt below each image.
    #[test]
    fn a_long_value_is_listed_once_with_its_outputs() {
        let (dawn, dusk) = ("a wide valley at dawn, ".repeat(4), "dusk".to_owned());
        let input = |values: &[&String]| ComparedInput {
            name: "prompt".into(),
            values: values.iter().map(|&it| it.clone()).collect(),
        };
        let found = input(&[&dawn, &dusk, &dawn]);
        let expected = vec![(vec![1, 3], dawn.as_str()), (vec![2], "dusk")];
        assert_eq!(found.long_values(), Some(expected));
        assert_eq!(input(&[&dusk, &"noon".into()]).long_values(), None);
        let picture = format!("https://studio.example/{}.png", "a".repeat(80));
        assert_eq!(input(&[&picture, &dusk]).long_values(), None);
    }

    #[test]
    fn a_seed_alone_is_shown_in_the_captions() {
        let differing = |a, b| differences(&[&task("Strata", a), &task("Strata", b)], unknown);
        let with = |seed| json!({"prompt": "a lake", "seed": seed});
        assert!(are_shown_by_captions(&differing(with(1), with(2))));
        assert!(!are_shown_by_captions(&differing(with(1), with(1))));
        assert!(!are_shown_by_captions(&differing(
            with(1),
            json!({"prompt": "a lake"})
        )));
        assert!(!are_shown_by_captions(&differing(
            with(1),
            json!({"prompt": "a sea", "seed": 2})
        )));
    }

    /// Captions must not consist of a seed only, and must show defaults instead of "not set".
    #[test]
    fn captions_start_with_varied_inputs_and_end_with_the_seed() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {"required": [], "optional": [
                {"name": "seed", "type": "integer"},
                {"name": "mist", "type": "number", "default": 0.4},
            ]},
        }))
        .unwrap();
        let captions = |inputs: &[Value]| {
            let tasks: Vec<Task> = inputs.iter().map(|it| task("Strata", it.clone())).collect();
            let tasks: Vec<&Task> = tasks.iter().collect();
            captions(&tasks, &differences(&tasks, |_| Some(&schema)))
        };
        let lake = |seed: u64, mist: f64| json!({"prompt": "a lake", "seed": seed, "mist": mist});
        let default = || json!({"prompt": "a lake", "seed": 1});
        let found = captions(&[lake(1, 0.25), default()]);
        assert_eq!(found, ["mist 0.25", "mist 0.4 (default)"]);
        assert_eq!(captions(&[lake(1, 0.4), default()]), ["a lake"; 2]);
        let sea = json!({"prompt": "a sea", "seed": 3, "mist": 0.5});
        let found = captions(&[lake(1, 0.25), lake(1, 0.5), sea.clone()]);
        assert_eq!(
            found,
            [
                "mist 0.25 · a lake",
                "mist 0.5 · a lake",
                "mist 0.5 · a sea"
            ]
        );
        assert_eq!(captions(&[lake(1, 0.5), sea]), ["a lake", "a sea"]);
        assert_eq!(
            captions(&[lake(1, 0.5), lake(2, 0.5)]),
            ["seed 1", "seed 2"]
        );
    }

    #[test]
    fn inputs_that_all_tasks_share_are_left_out() {
        let a = task(
            "Strata",
            json!({"prompt": "a lake", "layers": 6, "seed": 1}),
        );
        let b = task(
            "Strata",
            json!({"prompt": "a lake", "layers": 6, "mist": 0.5, "seed": 2}),
        );
        let found = differences(&[&a, &b], unknown);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.values.clone()))
            .collect();
        assert_eq!(
            found,
            [
                ("seed", vec!["1".into(), "2".into()]),
                ("mist", vec![String::new(), "0.5".into()])
            ]
        );
        let c = task("Silk", json!({"prompt": "a lake", "layers": 6, "seed": 1}));
        assert_eq!(differences(&[&a, &c], unknown)[0].name, "Model");
        assert!(differences(&[], unknown).is_empty());
        assert!(differences(&[&a], unknown).is_empty());
    }

    /// An unsent default and a sent value that equals it are not a difference.
    #[test]
    fn inputs_that_were_not_sent_have_their_default() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {"required": [], "optional": [
                {"name": "aspect_ratio", "type": "string", "default": "3:2"},
                {"name": "layers", "type": "integer", "default": 6},
                {"name": "seed", "type": "integer"},
            ]},
        }))
        .unwrap();
        let known = |_: &Task| Some(&schema);
        let a = task("Strata", json!({"layers": 4, "seed": 1}));
        let b = task("Strata", json!({"aspect_ratio": "3:2"}));
        let found: Vec<_> = differences(&[&a, &b], known)
            .into_iter()
            .map(|it| (it.name, it.values.join(" | ")))
            .collect();
        assert_eq!(
            found,
            [
                ("layers".into(), "4 | 6 (default)".into()),
                ("seed".into(), "1 | ".into())
            ]
        );
        assert_eq!(differences(&[&a, &b], unknown).len(), 3);
        // The default of one task applies to the other, too.
        let mut elsewhere = task("Strata", json!({"aspect_ratio": "3:2", "seed": 1}));
        elsewhere.account.uid = "other".into();
        let half_known = |task: &Task| (task.account.uid == "me").then_some(&schema);
        let default = task("Strata", json!({"seed": 1}));
        assert!(differences(&[&elsewhere, &default], half_known).is_empty());
        let found = differences(&[&elsewhere, &default, &a], half_known);
        assert_eq!(found[0].values, ["6 (default)", "6 (default)", "4"]);
    }

    /// A long address would leave no space for the values to compare.
    #[test]
    fn a_media_address_is_shortened_to_its_file_name() {
        let name = |value: &str| file(value).map(|(_, name)| name);
        let long = "http://127.0.0.1:8931/outputs/95dc9b33442093459763feb1e5fcace3/0.png?x=/y";
        assert_eq!(file(long), Some((OutputKind::Image, "0.png".into())));
        assert_eq!(name("/outputs/a/b.mp4").as_deref(), Some("b.mp4"));
        assert_eq!(
            name("data:image/png;base64,AAAA").as_deref(),
            Some("image/png")
        );
        for text in [
            "",
            "a lake",
            "https://a.example/page",
            "https://a.example/1.png and more",
            "1.png",
        ] {
            assert_eq!(file(text), None, "{text:?}");
        }
    }
}
