use super::*;
use proptest::prelude::*;
use serde_json::json;

fn parameter(value: Value) -> Parameter {
    serde_json::from_value(value).unwrap()
}

fn text(text: &str) -> Option<Entry> {
    Some(Entry::Text(text.into()))
}

fn schema(required: Value, optional: Value) -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {"required": required, "optional": optional}
    }))
    .unwrap()
}

/// A list must not be sent as a text, and `1` must not be sent as `"1"`.
#[test]
fn a_multiple_choice_is_sent_as_a_list() {
    let objects = parameter(json!({
        "name": "objects", "type": "array", "allowedValues": ["bird", "car", "text, logo"],
        "default": ["bird", "car"]
    }));
    let sent = |parameter: &Parameter, entry: Entry| check(parameter, false, Some(&entry));
    let typed =
        |parameter: &Parameter, text: &str| sent(parameter, Entry::Text(text.into())).unwrap();
    for (text, list) in [
        ("car", json!(["car"])),
        ("text, logo", json!(["text, logo"])),
        ("bird, car", json!(["bird", "car"])),
        (r#"["bird","text, logo"]"#, json!(["bird", "text, logo"])),
        ("[]", json!([])),
    ] {
        assert_eq!(typed(&objects, text), Some(list), "{text}");
    }
    assert_eq!(typed(&objects, " "), None);
    assert_eq!(check(&objects, false, None), Ok(None));
    for wrong in [
        json!("car"),
        json!(["house"]),
        json!(["bird", 1]),
        json!({}),
    ] {
        assert!(
            sent(&objects, Entry::Value(wrong.clone())).is_err(),
            "{wrong}"
        );
    }
    let frames = parameter(json!({
        "name": "frames", "type": "array", "allowedValues": [1, 2, 3, "1"], "default": [1]
    }));
    assert_eq!(typed(&frames, "[1, \"1\", 2.0]"), Some(json!([1, "1", 2])));
    assert_eq!(typed(&frames, "2"), Some(json!([2])));
    let open = sent(&frames, Entry::Text("1".into())).unwrap_err().message;
    assert!(open.starts_with("frames must be a JSON list"), "{open}");
    let none = check(&frames, true, Some(&Entry::Value(json!([]))));
    assert_eq!(
        none.unwrap_err().message,
        "frames is required: choose a value"
    );
}

/// A default that the user has not entered must not prevent sending the form.
#[test]
fn leaves_out_optional_defaults_that_are_not_permitted() {
    let steps = json!({"name": "steps", "type": "integer", "maximum": 50, "default": 99});
    let style = json!({"name": "style", "type": "enum", "allowedValues": ["a"], "default": "b"});
    let size = json!({"name": "size", "type": "integer", "default": 8});
    let optional = schema(json!([]), json!([steps, style, size]));
    let sent = |schema: &Schema, draft: &Draft| schema.validate(draft, true);
    let input = sent(&optional, &Draft::default()).unwrap();
    assert_eq!(Value::Object(input.values().clone()), json!({"size": 8}));
    let mut entered = Draft::default();
    entered.set("steps", Entry::Value(json!(99)));
    assert!(
        sent(&optional, &entered).is_err(),
        "entered values are checked"
    );
    let required = schema(json!([steps]), json!([]));
    let problems = sent(&required, &Draft::default()).unwrap_err();
    assert_eq!(problems[0].message, "steps must be at most 50, not 99");
}

#[test]
fn messages_name_the_parameter_and_the_bound() {
    let steps = parameter(json!({"name": "steps", "type": "integer", "minimum": 1, "maximum": 50}));
    let message = |entry: &str| {
        check(&steps, false, text(entry).as_ref())
            .unwrap_err()
            .message
    };
    assert_eq!(message("51"), "steps must be between 1 and 50, not 51");
    assert_eq!(message("x"), "steps must be a number, not “x”");
    assert_eq!(message("1.5"), "steps must be a whole number, not 1.5");
    assert_eq!(
        message("99999999999999999999"),
        "steps must be a number that can be stored exactly, not “99999999999999999999”"
    );
    let ratio =
        parameter(json!({"name": "ratio", "type": "enum", "allowedValues": ["1:1", "16:9"]}));
    assert_eq!(
        check(&ratio, false, text("4:3").as_ref())
            .unwrap_err()
            .message,
        "ratio must be one of 1:1, 16:9, not “4:3”"
    );
}

#[test]
fn a_cleared_field_is_left_out_or_empty() {
    let number = parameter(json!({"name": "n", "type": "integer", "default": 4}));
    assert_eq!(check(&number, false, text("").as_ref()), Ok(None));
    let words = parameter(json!({"name": "t", "type": "string", "default": "blur"}));
    assert_eq!(check(&words, false, text("").as_ref()), Ok(Some(json!(""))));
    let plain = parameter(json!({"name": "t", "type": "string"}));
    assert_eq!(check(&plain, false, text("").as_ref()), Ok(None));
}

/// A chat model may write a filler such as `none` for a file. It must not be sent and billed.
#[test]
fn refuses_fillers_as_files() {
    let by_format = parameter(json!({"name": "start", "type": "string", "format": "uri"}));
    let by_name = parameter(json!({"name": "mask", "type": "string"}));
    for file in [by_format, by_name] {
        for word in ["null", "None", " undefined "] {
            let given = Entry::Value(json!(word));
            let message = check(&file, false, Some(&given)).unwrap_err().message;
            assert!(message.contains(word) && message.contains("leave it out"));
        }
        let given = Entry::Value(json!("http://127.0.0.1/null"));
        assert!(check(&file, false, Some(&given)).is_ok());
    }
    for name in ["negative_prompt", "voice", "image_style", "voice_effect"] {
        let words = parameter(json!({"name": name, "type": "string"}));
        assert!(
            check(&words, false, text("none").as_ref()).is_ok(),
            "{name}"
        );
    }
    let by_default = parameter(json!({"name": "mask", "type": "string", "default": "none"}));
    assert!(check(&by_default, false, text("none").as_ref()).is_ok());
    assert!(check(&by_default, false, text("null").as_ref()).is_err());
}

#[test]
fn enum_values_keep_their_json_type() {
    let mixed =
        parameter(json!({"name": "n", "type": "enum", "allowedValues": [1, "1", true, null]}));
    assert_eq!(
        check(&mixed, true, text("1").as_ref()),
        Ok(Some(json!("1")))
    );
    for value in [json!(1), json!("1"), json!(true), json!(null)] {
        let entry = Entry::Value(value.clone());
        assert_eq!(check(&mixed, true, Some(&entry)), Ok(Some(value)));
    }
    let numbers = parameter(json!({"name": "n", "type": "enum", "allowedValues": [1, 2]}));
    assert_eq!(
        check(&numbers, true, text("2").as_ref()),
        Ok(Some(json!(2)))
    );
    assert!(check(&numbers, true, Some(&Entry::Value(json!("2")))).is_err());
}

#[test]
fn compares_enum_numbers_by_value() {
    let check = |allowed: Value, value: Value| {
        let choice = parameter(json!({"name": "n", "type": "enum", "allowedValues": allowed}));
        check(&choice, true, Some(&Entry::Value(value))).map(Option::unwrap_or_default)
    };
    // The value in the schema is sent.
    for (allowed, value, sent) in [
        (json!([1, 2]), json!(2.0), json!(2)),
        (json!([1.0, 2.5]), json!(1), json!(1.0)),
        (json!([2, 2.0]), json!(2.0), json!(2.0)),
        (
            json!([[1, {"a": 2}]]),
            json!([1.0, {"a": 2.0}]),
            json!([1, {"a": 2}]),
        ),
    ] {
        assert_eq!(check(allowed, value), Ok(sent));
    }
    let large = json!([9_007_199_254_740_993_u64]);
    assert!(check(large, json!(9_007_199_254_740_992.0)).is_err());
    for other in [json!("1"), json!(true), json!([1]), json!(1.5), json!(null)] {
        assert!(check(json!([1]), other.clone()).is_err(), "{other}");
    }
    assert!(check(json!([true, "1"]), json!(1)).is_err());
    assert!(check(json!([{"a": 1}]), json!({"a": 1, "b": 1})).is_err());
    // A number may be typed in a table.
    let numbers = parameter(json!({"name": "n", "type": "enum", "allowedValues": [1, 2]}));
    assert_eq!(
        super::check(&numbers, true, text("2.0").as_ref()),
        Ok(Some(json!(2)))
    );
}

#[test]
fn leaves_out_untouched_optionals_without_send_defaults() {
    let schema = schema(
        json!([{"name": "prompt", "type": "string"}]),
        json!([
            {"name": "steps", "type": "integer", "default": 0},
            {"name": "tiled", "type": "boolean", "default": false},
            {"name": "note", "type": "string", "default": ""},
            {"name": "ref", "type": "string", "default": null}
        ]),
    );
    let mut draft = Draft::default();
    draft.set("prompt", Entry::Text("a fox".into()));
    let plain = schema.validate(&draft, false).unwrap();
    assert_eq!(
        Value::Object(plain.values().clone()),
        json!({"prompt": "a fox"})
    );
    let full = schema.validate(&draft, true).unwrap();
    assert_eq!(
        Value::Object(full.values().clone()),
        json!({"prompt": "a fox", "steps": 0, "tiled": false, "note": "", "ref": null})
    );
}

#[test]
fn finds_every_problem_including_unknown_names() {
    let schema = schema(
        json!([{"name": "prompt", "type": "string"}]),
        json!([{"name": "steps", "type": "integer", "maximum": 5}]),
    );
    let mut draft = Draft::default();
    draft.set("prompt", Entry::Text("  ".into()));
    draft.set("steps", Entry::Text("6".into()));
    draft.set("colour", Entry::Text("red".into()));
    let problems = schema.validate(&draft, false).unwrap_err();
    let names: Vec<_> = problems.iter().map(|p| p.parameter.as_str()).collect();
    assert_eq!(names, ["prompt", "steps", "colour"]);
    assert_eq!(problems[0].message, "prompt is required");
}

#[test]
fn unknown_types_accept_any_json() {
    let odd = parameter(json!({"name": "mesh", "type": "tensor"}));
    assert_eq!(
        check(&odd, true, text("[1, {\"a\": null}]").as_ref()),
        Ok(Some(json!([1, {"a": null}])))
    );
    assert!(
        check(&odd, true, text("[1,").as_ref())
            .unwrap_err()
            .message
            .starts_with("mesh must be JSON")
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(".{0,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_parameter() -> impl Strategy<Value = Parameter> {
    let kind = prop::sample::select(vec![
        "string", "enum", "integer", "number", "float", "boolean", "array", "object", "tensor", "",
    ]);
    (
        kind,
        any_json(),
        any_json(),
        any_json(),
        prop::option::of(any_json()),
    )
        .prop_map(|(kind, default, minimum, maximum, allowed)| {
            let mut value = json!({
                "name": "p", "type": kind, "default": default,
                "minimum": minimum, "maximum": maximum
            });
            if let Some(Value::Array(allowed)) = allowed {
                value["allowedValues"] = Value::Array(allowed);
            }
            parameter(value)
        })
}

proptest! {
    /// A value that passes validation passes the service's validation with the same schema unchanged.
    #[test]
    fn a_valid_value_validates_unchanged(p in any_parameter(), entry in any_json(), typed in ".{0,12}", required: bool) {
        for entry in [Entry::Value(entry), Entry::Text(typed)] {
            if let Ok(Some(value)) = check(&p, required, Some(&entry)) {
                prop_assert_eq!(check(&p, required, Some(&Entry::Value(value.clone()))), Ok(Some(value)));
            }
        }
    }

    #[test]
    fn every_problem_names_its_parameter(p in any_parameter(), typed in ".{0,12}") {
        if let Err(problem) = check(&p, true, Some(&Entry::Text(typed))) {
            prop_assert!(problem.message.starts_with("p "));
        }
    }

    #[test]
    fn an_integer_is_sent_exactly_as_typed(n: u64) {
        let seed = parameter(json!({"name": "seed", "type": "integer"}));
        let sent = check(&seed, true, text(&n.to_string()).as_ref()).unwrap().unwrap();
        prop_assert_eq!(sent.to_string(), n.to_string());
    }
}

#[test]
fn checks_the_maximum_length_of_a_text() {
    let parameter: Parameter =
        serde_json::from_value(json!({"name": "a", "type": "string", "maxLength": 3})).unwrap();
    let check = |text: &str| check(&parameter, true, Some(&Entry::Text(text.into())));
    assert_eq!(
        check("äöü").unwrap(),
        Some(json!("äöü")),
        "characters, not bytes"
    );
    let problem = check("abcd").unwrap_err();
    assert_eq!(problem.message, "a must have at most 3 characters, not 4");
}

/// Messages must not contain ambiguous values.
#[test]
fn messages_distinguish_permitted_values() {
    let several = |choices: Value| {
        let several = json!({"name": "frames", "type": "array", "allowedValues": choices});
        Parameter::from_value(several).unwrap()
    };
    let read = |parameter: &Parameter, text: &str| {
        check(parameter, false, Some(&Entry::Text(text.into()))).map_err(|it| it.message)
    };
    let message = |parameter: &Parameter, text: &str| read(parameter, text).unwrap_err();
    let objects = several(json!(["bird", "text, logo", "\"", ""]));
    assert_eq!(
        message(&objects, "logo"),
        r#"frames must be one of bird, "text, logo", "\"", "", not “logo”"#
    );
    let frames = several(json!([1, 2, "1"]));
    assert_eq!(
        message(&frames, "3"),
        r#"frames must be one of 1, 2, "1", not “3”"#
    );
    assert_eq!(
        message(&frames, "1"),
        r#"frames must be a JSON list like [1] or ["1"], not “1”, which may be two values"#
    );
    let twice = several(json!([1, 1, 2]));
    assert_eq!(read(&twice, "1, 2"), Ok(Some(json!([1, 2]))));
    let size = json!({"name": "size", "type": "enum", "allowedValues": [1, "1", "a, b"]});
    let size = Parameter::from_value(size).unwrap();
    assert_eq!(
        message(&size, "b"),
        r#"size must be one of 1, "1", "a, b", not “b”"#
    );
}

/// A service would bill a task and then fail it, or leave out pictures that the user has chosen.
#[test]
fn lists_have_bounds_and_no_files_of_the_browser() {
    let images: Parameter = serde_json::from_value(json!({
        "name": "images", "type": "array", "items": {"type": "string", "format": "uri"},
        "minItems": 2, "maxItems": 3
    }))
    .unwrap();
    let check = |list: Value| check(&images, false, Some(&Entry::Value(list)));
    assert!(check(json!(["a", "b"])).is_ok());
    for (list, message) in [
        (json!(["a"]), "images must have at least 2 items, not 1"),
        (
            json!(["a", "b", "c", "d"]),
            "images must have at most 3 items, not 4",
        ),
    ] {
        assert_eq!(check(list).unwrap_err().message, message);
    }
    let stored = check(json!(["a", "data:image/png;stored=1a-50,"]));
    assert!(stored.unwrap_err().message.contains("choose it again"));
}
