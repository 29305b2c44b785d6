//! What tells tasks apart: the inputs that are not the same in all of them.

use crate::output::{OutputAddress, OutputKind};
use crate::{Task, control};

/// An input by its name, and each task's value of it; empty where a task has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub name: String,
    pub values: Vec<String>,
}

/// The differing inputs in the order of the first task that has each, after the model if that differs.
pub fn differences(tasks: &[&Task]) -> Vec<Difference> {
    let models = tasks.iter().map(|task| task.model_name.clone()).collect();
    let mut found = vec![Difference {
        name: "Model".into(),
        values: models,
    }];
    for task in tasks {
        for name in task.input.values().keys() {
            if found.iter().any(|known| known.name == *name) {
                continue;
            }
            let value = |task: &&Task| {
                let value = task.input.values().get(name);
                value.map(control::text).unwrap_or_default()
            };
            found.push(Difference {
                name: name.clone(),
                values: tasks.iter().map(value).collect(),
            });
        }
    }
    found.retain(|input| input.values.iter().any(|value| *value != input.values[0]));
    found
}

/// The name of the file that a value is the address of, where it is a picture, a film or a sound: the address itself
/// is longer than all that can be said of it.
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
    use serde_json::{Value, json};

    fn task(model: &str, values: Value) -> Task {
        serde_json::from_value(json!({
            "key": "a", "account": {"address": "", "uid": "me"}, "model_name": model,
            "model": {"category": "image", "subcategory": "a"}, "created": 1,
            "input": {"model": {"category": "image", "subcategory": "a"}, "values": values},
            "state": {"state": "queued"},
        }))
        .unwrap()
    }

    #[test]
    fn what_is_the_same_in_all_is_left_out() {
        let a = task(
            "Strata",
            json!({"prompt": "a lake", "layers": 6, "seed": 1}),
        );
        let b = task(
            "Strata",
            json!({"prompt": "a lake", "layers": 6, "mist": 0.5, "seed": 2}),
        );
        let found = differences(&[&a, &b]);
        let said: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.values.clone()))
            .collect();
        assert_eq!(
            said,
            [
                ("seed", vec!["1".into(), "2".into()]),
                ("mist", vec![String::new(), "0.5".into()])
            ]
        );
        let c = task("Silk", json!({"prompt": "a lake", "layers": 6, "seed": 1}));
        assert_eq!(differences(&[&a, &c])[0].name, "Model");
        assert!(differences(&[]).is_empty() && differences(&[&a]).is_empty());
    }

    /// Guards against an address that takes the room of the values that a person compares.
    #[test]
    fn an_address_of_media_is_named_by_its_file() {
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
