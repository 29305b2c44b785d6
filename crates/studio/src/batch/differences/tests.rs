use super::*;
use atelier_engine::BatchPlace;
use serde_json::{Value, json};

fn shown(values: &[Value]) -> Vec<String> {
    let input = |values: &Value| {
        let model = json!({"category": "image", "subcategory": "a"});
        serde_json::from_value(json!({"model": model, "values": values})).unwrap()
    };
    let inputs: Vec<Input> = values.iter().map(input).collect();
    let differences = differences(&inputs);
    differences.iter().map(Difference::user_message).collect()
}

/// Guards against giving all items of a sweep the name of their common prompt.
#[test]
fn items_are_named_by_their_differences() {
    let task = |values: Value| {
        let model = json!({"category": "image", "subcategory": "a"});
        let input: Input =
            serde_json::from_value(json!({"model": model, "values": values})).unwrap();
        Task {
            input,
            ..crate::testing::task("k", 0)
        }
    };
    let called = |values: &[Value]| {
        let tasks: Vec<Task> = values.iter().cloned().map(task).collect();
        item_names(tasks.iter().map(Some).chain([None]))
    };
    assert_eq!(
        called(&[
            json!({"prompt": "sea", "seed": 1, "mist": 0, "time": "dawn"}),
            json!({"prompt": "sea", "seed": 2, "mist": 0.5, "time": "day"})
        ]),
        ["mist 0 · dawn", "mist 0.5 · day", ""]
    );
    // `true` alone would not show which parameter is true.
    assert_eq!(
        called(&[
            json!({"prompt": "sea", "aspect_ratio": "1:1", "loop": true}),
            json!({"prompt": "sea", "aspect_ratio": "3:2"})
        ]),
        ["1:1 · loop: true", "3:2 · loop: not set", ""]
    );
    let prompts = [
        json!({"prompt": "sea", "mist": 0}),
        json!({"prompt": "moor", "mist": 1}),
    ];
    assert_eq!(called(&prompts), ["sea", "moor", ""]);
    let seeds = [
        json!({"prompt": "sea", "seed": 1}),
        json!({"prompt": "sea", "seed": 2}),
    ];
    assert_eq!(called(&seeds), ["seed 1", "seed 2", ""]);
    assert_eq!(
        called(&[json!({"prompt": "sea"}), json!({"prompt": "sea"})]),
        ["sea", "sea", ""]
    );
    assert_eq!(called(&[json!({"prompt": "sea"})]), ["sea", ""]);
    // Two axes: the prompt, which a row of tiles has in common, is last.
    let axes = [
        json!({"prompt": "sea", "mist": 0}),
        json!({"prompt": "moor", "mist": 0}),
        json!({"prompt": "sea", "mist": 1}),
    ];
    let names = ["mist 0 · sea", "mist 0 · moor", "mist 1 · sea", ""];
    assert_eq!(called(&axes), names);
    // Captions show long prompts from the point where they differ.
    let long = "a wide valley seen from a high ridge just before";
    let long = [
        json!({"prompt": format!("{long} dawn"), "mist": 0}),
        json!({"prompt": format!("{long} dusk"), "mist": 0}),
        json!({"prompt": format!("{long} dawn"), "mist": 1}),
    ];
    let tasks: Vec<Task> = long.into_iter().map(task).collect();
    let captions = item_captions(tasks.iter().map(Some));
    let [dawn, dusk] = ["dawn", "dusk"].map(|it| format!("…ridge just before {it}"));
    let expected = [("0", &dawn), ("0", &dusk), ("1", &dawn)];
    assert_eq!(
        captions,
        expected.map(|(mist, it)| format!("mist {mist} · {it}"))
    );
    let mut chosen: Vec<Task> = seeds.into_iter().map(task).collect();
    chosen.iter_mut().for_each(|task| task.seed_chosen = true);
    assert_eq!(item_names(chosen.iter().map(Some)), ["seed 1", "seed 2"]);
}

/// Guards against a list in which all tasks of a sweep have the same name.
#[test]
fn tasks_that_share_a_prompt_are_named_by_their_differences() {
    let called = |values: &[(&str, Value)]| {
        let task = |(index, (batch, values)): (usize, &(&str, Value))| {
            let model = json!({"category": "image", "subcategory": "a"});
            let mut task = crate::testing::task(&format!("t{index}"), 0);
            task.input = serde_json::from_value(json!({"model": model, "values": values})).unwrap();
            task.batch = Some(BatchPlace {
                batch: BatchKey((*batch).into()),
                index,
            });
            task
        };
        let tasks: Vec<Task> = values.iter().enumerate().map(task).collect();
        let names = distinguishing_names(&tasks);
        let name = |task: &Task| names.get(&task.key).cloned().unwrap_or_default();
        tasks.iter().map(name).collect::<Vec<_>>()
    };
    let sea = |mist: u32, seed: u32| json!({"prompt": "sea", "seed": seed, "mist": mist});
    let sweep = [("a", sea(0, 1)), ("a", sea(5, 1))];
    assert_eq!(called(&sweep), ["mist 0", "mist 5"]);
    // Two tasks with the same mist and different seeds.
    let copies = [("a", sea(0, 1)), ("a", sea(0, 2)), ("a", sea(5, 1))];
    assert_eq!(
        called(&copies),
        ["mist 0 · Item 1", "mist 0 · Item 2", "mist 5"]
    );
    let seeds = [("a", sea(0, 1)), ("a", sea(0, 2))];
    assert_eq!(called(&seeds), ["Item 1", "Item 2"]);
    // A task of another batch doesn't matter, and a unique prompt is enough.
    let others = [("a", sea(0, 1)), ("b", sea(5, 1))];
    assert_eq!(called(&others), ["", ""]);
    let lines = [
        ("a", json!({"prompt": "sea"})),
        ("a", json!({"prompt": "moor"})),
    ];
    assert_eq!(called(&lines), ["", ""]);
    // Prompts with the same beginning are shown by their ends.
    let long = "a wide valley seen from a high ridge, blue shadows between the pines,";
    let light = |light: &str, mist: u32| json!({"prompt": format!("{long} {light}"), "mist": mist});
    let lines = [("a", light("dawn", 0)), ("a", light("dusk", 0))];
    assert_eq!(
        called(&lines),
        ["…between the pines, dawn", "…between the pines, dusk"]
    );
    let axes = [
        ("a", light("dawn", 0)),
        ("a", light("dawn", 5)),
        ("a", light("dusk", 0)),
    ];
    assert_eq!(called(&axes)[0], "mist 0 · …between the pines, dawn");
    // An axis of prompts and another one.
    let moor = |mist: u32| json!({"prompt": "moor", "seed": 1, "mist": mist});
    let axes = [
        ("a", sea(0, 1)),
        ("a", moor(0)),
        ("a", sea(5, 1)),
        ("a", moor(5)),
    ];
    assert_eq!(called(&axes), ["mist 0", "mist 0", "mist 5", "mist 5"]);
}

#[test]
fn only_differences_are_listed_and_shortened() {
    let item = |mist: Value, prompt: &str| json!({"prompt": prompt, "seed": 7, "mist": mist});
    assert_eq!(
        shown(&[
            item(json!(0), "sea"),
            item(json!(0.5), "sea"),
            item(json!(0), "sea")
        ]),
        ["mist: 0, 0.5"]
    );
    assert_eq!(
        shown(&[
            item(json!(1), "an alpine lake at dawn, teal and rose"),
            item(json!(1), "sea")
        ]),
        ["prompt: an alpine lake at dawn…, sea"]
    );
    let many: Vec<Value> = [3, 10, 0, 7, 9].map(|n| item(json!(n), "sea")).into();
    assert_eq!(shown(&many), ["mist: 0 to 10, 5 values"]);
    let texts: Vec<Value> = ('a'..='n')
        .map(|c| item(json!(0), &c.to_string()))
        .collect();
    assert_eq!(shown(&texts), ["prompt: a, b, +12"]);
    assert_eq!(
        shown(&[item(json!(0), "a dune, red"), item(json!(0), "moor")]),
        ["prompt: a dune, red · moor"]
    );
    assert_eq!(shown(&[json!({"a": 1}), json!({})]), ["a: 1, not set"]);
    assert!(shown(&[json!({"a": 1}), json!({"a": 1})]).is_empty());
    assert!(shown(&[]).is_empty());
}
#[test]
fn drawn_seeds_are_not_differences() {
    let tasks = |chosen: bool| {
        [1, 2].map(|seed| {
            let mut task = crate::batch::tests::task("sea", 0, 0, json!({"state": "queued"}));
            task.seed_chosen = chosen;
            let model = json!({"category": "image", "subcategory": "a"});
            let input = json!({"model": model, "values": {"mist": seed, "seed": seed}});
            task.input = serde_json::from_value(input).unwrap();
            task
        })
    };
    let messages = |chosen: bool| {
        let found = chosen_differences(&tasks(chosen).each_ref());
        found
            .iter()
            .map(Difference::user_message)
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(false), ["mist: 1, 2"]);
    assert_eq!(messages(true), ["mist: 1, 2", "seed: 1, 2"]);
}

/// Guards against a line in which three prompts look the same.
#[test]
fn long_values_are_shown_by_their_distinguishing_parts() {
    let long = "a wide valley seen from a high ridge just before";
    let difference = Difference {
        parameter: "prompt".into(),
        values: vec![format!("{long} dawn"), format!("{long} dusk")],
    };
    let message = difference.user_message();
    assert_eq!(
        message,
        "prompt: …ridge just before dawn, …ridge just before dusk"
    );
}
