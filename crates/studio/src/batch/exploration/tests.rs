use super::*;
use atelier_contract::Input;
use atelier_engine::BatchKey;
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
fn every_combination_of_a_sweep_has_its_position() {
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
    assert!(found.axes[0].has_few_short_values() && !found.axes[1].has_few_short_values());
    assert_eq!(found.item(&[0, 0]), Some(1));
    assert_eq!(found.item(&[1, 2]), Some(5));
    assert_eq!(found.step(&[0, 0], 0, -1), None);
    assert_eq!(found.step(&[0, 2], 1, 1), None);
    assert_eq!(found.step(&[0, 2], 1, -1), Some(vec![0, 1]));
    assert_eq!(found.neighbors(&[0, 0]), [4, 0]);
    // The order is: one step, two steps along one axis, then items that differ in both axes.
    assert_eq!(found.nearest(&[0, 0]), [0, 4, 2, 3, 5]);
    assert_eq!(found.along(&[0, 0], 1, 4), [1, 0, 2]);
    assert_eq!(found.along(&[1, 2], 1, 2), [3, 5]);
    assert_eq!(found.along(&[1, 2], 0, 4), [2, 5]);
    assert!(found.along(&[1, 2], 7, 4).is_empty());
    assert_eq!(found.place_of(5), Some(&[1, 2][..]));
    assert_eq!(found.place_of(6), None);
}

/// The two prompts differ only at their ends.
#[test]
fn long_prompts_are_shown_by_their_distinguishing_parts() {
    let start = "a wide valley seen from a high ridge, blue shadows between the pines, soft gouache with visible brush texture,";
    let prompt = |end: &str| json!({"prompt": format!("{start} {end}")});
    let found = explored(&[prompt("before sunrise"), prompt("after sunset")]).unwrap();
    let axis = &found.axes[0];
    assert!(axis.has_long_values());
    assert_eq!(axis.label(0), "…visible brush texture, before sunrise");
    assert_eq!(axis.label(1), "…visible brush texture, after sunset");
    // The address contains the full values.
    assert!(axis.values[1].starts_with(start));
}

#[test]
fn a_seed_drawn_for_each_item_does_not_hide_other_axes() {
    let values = [
        json!({"seed": 1, "prompt": "dusk", "panes": 20}),
        json!({"seed": 2, "prompt": "dusk", "panes": 40}),
        json!({"seed": 3, "prompt": "dawn", "panes": 20}),
        json!({"seed": 4, "prompt": "dawn", "panes": 40}),
    ];
    let found = explored(&values).unwrap();
    let names: Vec<&str> = axes(&found).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["prompt", "panes"]);
    // If no other parameter differs, the seed is the axis.
    let found = explored(&[json!({"seed": 1}), json!({"seed": 2})]).unwrap();
    assert_eq!(axes(&found), [("seed", vec!["1", "2"])]);
}

#[test]
fn parameters_that_change_together_are_one_axis() {
    let paired = [
        json!({"prompt": "dusk", "panes": 20, "seed": 1}),
        json!({"prompt": "dawn", "panes": 40, "seed": 2}),
        json!({"prompt": "noon", "panes": 20, "seed": 3}),
    ];
    let found = explored(&paired).unwrap();
    assert_eq!(axes(&found), [("prompt", vec!["dusk", "dawn", "noon"])]);
}

/// Guards against outputs that can't be shown because another item has the same inputs.
#[test]
fn items_with_equal_values_are_distinguished() {
    let values = ["dusk", "dusk", "dawn"].map(|prompt| json!({"prompt": prompt}));
    let found = explored(&values).unwrap();
    let expected = [("prompt", vec!["dusk", "dawn"]), ("copy", vec!["1", "2"])];
    assert_eq!(axes(&found), expected);
    let items = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|at| found.item(&at));
    assert_eq!(items, [Some(0), Some(1), Some(2), None]);
}

#[test]
fn a_missing_item_leaves_its_position_empty() {
    let values = [
        json!({"mist": 0, "layers": 1}),
        json!({"mist": 0}),
        json!({"mist": 1, "layers": 1}),
        // The task was removed.
        Value::Null,
    ];
    let found = explored(&values).unwrap();
    assert_eq!(
        axes(&found),
        [("mist", vec!["0", "1"]), ("layers", vec!["1", ""])]
    );
    assert_eq!(found.axes[1].label(1), "not set");
    assert!(found.axes[1].has_few_short_values());
    assert_eq!(found.item(&[1, 1]), None);
    assert_eq!(found.neighbors(&[1, 1]), [1, 2]);
    assert_eq!(explored(&[json!({"a": 1}), json!({"a": 1})]), None);
    assert_eq!(explored(&[]), None);
}

#[test]
fn scattered_items_are_not_explored() {
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
fn an_address_survives_a_round_trip() {
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

/// Guards against a link that leads to another item after an earlier item was removed.
#[test]
fn an_address_consists_of_values() {
    let key = BatchKey("k".into());
    let text = prompts(&["dusk", "dawn", "noon"]).address(&key, &[2]);
    assert_eq!(text, "prompt=noon@k");
    let (_, values) = read_address(&text).unwrap();
    let without = prompts(&["dawn", "noon"]);
    assert_eq!(without.position(&values), [1]);
    // For an unknown value, the position is at the start.
    let (_, values) = read_address("prompt=night&x=1@k").unwrap();
    assert_eq!(without.position(&values), [0]);
}

/// Guards against a scale without labels at its ends, and against overlapping labels.
#[test]
fn a_scale_has_as_many_labels_as_fit() {
    let ticks = |values: Vec<String>| ExploredAxis::new("mist", values).ticks();
    let numbers = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
    assert_eq!(ticks(numbers(3)), [0, 1, 2]);
    assert_eq!(
        ticks(numbers(11)),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..]
            .iter()
            .copied()
            .step_by(2)
            .collect::<Vec<_>>()
    );
    assert_eq!(ticks(numbers(100)), [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]);
    // A scale with a prime number of steps has labels only at its ends.
    assert_eq!(ticks(numbers(102)), [0, 101]);
    assert_eq!(ticks(vec!["a lake at dawn in spring".into(); 3]), [0; 0]);
    assert_eq!(ticks(Vec::new()), [0; 0]);
}

/// Guards against a last line with a single word.
#[test]
fn a_few_words_are_spread_evenly_over_lines() {
    let axis = |words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned());
        ExploredAxis::new("time", words.collect())
    };
    let times = ["dawn", "day", "sunset", "night"];
    for (words, room, expected) in [
        (&times[..], 40, 4),
        (&times[..], 39, 2),
        (&times[..3], 39, 3),
        (&times[..], 5, 1),
        (&["1:1", "3:2", "2:3", "16:9", "9:16"][..], 40, 5),
        (&["1:1", "3:2", "2:3", "16:9", "9:16"][..], 39, 3),
        (&[][..], 40, 1),
    ] {
        assert_eq!(axis(words).columns(room), expected, "{words:?} in {room}");
    }
}
