use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(literal: &str) -> Option<Value> {
    let literal = Reader::new(literal, 0).value()?;
    Some(serde_json::from_str(&pretty(&literal)).unwrap())
}

fn found(source: &str) -> Option<Value> {
    Some(serde_json::from_str(&of_file(source)?).unwrap())
}

#[test]
fn literals_as_python_reads_them() {
    for (literal, value) in [
        (
            "{'a': 1, \"b\" : [True, False, None,], }",
            json!({"a": 1, "b": [true, false, null]}),
        ),
        (
            "[18446744073709551615, -9_000, 1.50, .5, 5., 1e3, -0.0]",
            json!([u64::MAX, -9000, 1.5, 0.5, 5.0, 1000.0, -0.0]),
        ),
        ("('a' # b'\n  \"b\" r'\\n' )", json!("ab\\n")),
        ("('a',)", json!(["a"])),
        ("()", json!([])),
        ("'''a 'b'\n''c'''", json!("a 'b'\n''c")),
        (
            r#""\x41\u00e9\U0001f600\101\0\n\"\q\
b""#,
            json!("Aé😀A\0\n\"\\qb"),
        ),
        ("{'a': 1, 'a': 2}", json!({"a": 2})),
    ] {
        assert_eq!(read(literal), Some(value), "{literal}");
    }
    for other in [
        "{1: 2}",
        "{'a'}",
        "{'a' 1}",
        "{**a}",
        "[a]",
        "[1 2]",
        "[f'x']",
        "[b'x']",
        "['a",
        "'a\nb'",
        "'\\N{DASH}'",
        "'\\ud800'",
        "'\\x4'",
        "'\\x+4'",
        "[1j]",
        "[0x1]",
        "[",
        "{",
        "",
        "-",
        "[,]",
    ] {
        assert_eq!(read(other), None, "{other}");
    }
    assert_eq!(read(&"[".repeat(100_000)), None);
}

#[test]
fn the_function_is_found_where_files_have_it() {
    let function = json!({"name": "draw", "parameters": {"type": "object", "properties": {}}});
    let literal = function.to_string();
    for source in [
        format!("FUNCTION = {literal}\n"),
        format!("\"\"\"{{'name': 'x', 'parameters': {{}}}}\"\"\"\n# {literal}x\nA = {literal}"),
        format!("x = {{\"type\": \"function\", \"function\": {literal}}}"),
        format!("tools = [{{\"type\": \"function\", \"function\": {literal}}}]"),
        format!("ask(tools=[{{**base, \"function\": {literal}}}], {{x for x in y}})"),
        // What only looks like it, inside of something else.
        format!("P = {{\"default\": {{\"name\": \"x\", \"parameters\": {{}}}}}}\nF = {literal}"),
    ] {
        assert_eq!(found(&source), Some(function.clone()), "{source}");
    }
    for source in [
        "",
        "{",
        "F = {'name': 'draw'}",
        "x = \"{'name': 'a', 'parameters': {}}\"",
    ] {
        assert_eq!(of_file(source), None, "{source}");
    }
}

#[test]
fn json_as_people_read_it() {
    let long = "x".repeat(80);
    let source = format!(
        "F = {{'name': 'a\"', 'parameters': {{'a': [1, 'x', None], 'b': {{}}, 'c': [{{'d': 7.50}}],\n\
         'e': ['{long}'], 'f': 123456789012345678901234567890}}}}"
    );
    assert_eq!(
        of_file(&source).unwrap(),
        [
            "{",
            r#"  "name": "a\"","#,
            r#"  "parameters": {"#,
            r#"    "a": [1, "x", null],"#,
            r#"    "b": {},"#,
            r#"    "c": ["#,
            "      {",
            r#"        "d": 7.50"#,
            "      }",
            "    ],",
            r#"    "e": ["#,
            &format!("      {long:?}"),
            "    ],",
            r#"    "f": 123456789012345678901234567890"#,
            "  }",
            "}",
        ]
        .join("\n")
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// JSON without `true`, `false` and `null` is Python, but for escapes of halves of a character,
    /// which it is not written with.
    #[test]
    fn any_json_is_read_as_it_is(value in any_json()) {
        let text = value.to_string();
        prop_assert_eq!(read(&text), Some(serde_json::from_str(&text).unwrap()));
    }

    #[test]
    fn any_source_is_survived(source in ".{0,60}|[a-z'\"\\\\#{}\\[\\](),:=\n 0-9.-]{0,60}") {
        of_file(&source);
    }
}
