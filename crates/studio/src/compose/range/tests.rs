use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(parameter: Value, text: &str) -> Result<Vec<String>, String> {
    let parameter = serde_json::from_value(parameter).unwrap();
    let entries = values(&parameter, false, text)?;
    Ok(entries.iter().map(label).collect())
}

fn integers(text: &str) -> Result<Vec<String>, String> {
    read(json!({"name": "steps", "type": "integer"}), text)
}

fn numbers(text: &str) -> Result<Vec<String>, String> {
    read(json!({"name": "cfg", "type": "number"}), text)
}

fn texts(text: &str) -> Result<Vec<String>, String> {
    read(json!({"name": "style", "type": "string"}), text)
}

#[test]
fn lists_and_ranges() {
    let joined = |text: &str| integers(text).unwrap().join(" ");
    assert_eq!(joined("1, 2, 5"), "1 2 5");
    assert_eq!(joined("1, 2, .., 10"), "1 2 3 4 5 6 7 8 9 10");
    assert_eq!(joined("1, 3, …, 10"), "1 3 5 7 9");
    assert_eq!(joined("10, 8, ..., 0"), "10 8 6 4 2 0");
    assert_eq!(joined("1..4"), "1 2 3 4");
    assert_eq!(joined("3, .., 1"), "3 2 1");
    assert_eq!(joined("1, 2, .., 4, 10, 20, .., 40"), "1 2 3 4 10 20 30 40");
    assert_eq!(joined("-2,-1,..,2"), "-2 -1 0 1 2");
    assert_eq!(joined("5, .., 5"), "5");
    assert_eq!(joined(""), "");
    assert_eq!(joined("1\n2\n"), "1 2");
    assert_eq!(
        joined("18446744073709551613, 18446744073709551614, .., 18446744073709551615"),
        "18446744073709551613 18446744073709551614 18446744073709551615"
    );
    let joined = |text: &str| numbers(text).unwrap().join(" ");
    assert_eq!(
        joined("0.1, 0.2, .., 1"),
        "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"
    );
    assert_eq!(joined("1, 0.75, .., 0"), "1 0.75 0.5 0.25 0");
    assert_eq!(joined("1e-2, 2e-2, .., 0.05"), "0.01 0.02 0.03 0.04 0.05");
    assert_eq!(joined("0.5..2"), "0.5 1.5");
}

/// Guards against silently reading 2,5 as 2 and 5, which are charged as two items.
#[test]
fn an_ambiguous_comma_is_rejected_and_semicolons_separate() {
    assert_eq!(numbers("2,5; 5").unwrap(), ["2.5", "5"]);
    assert_eq!(
        numbers("0,1; 0,2; ..; 0,4").unwrap(),
        ["0.1", "0.2", "0.3", "0.4"]
    );
    assert_eq!(numbers("\"2,5\", 5").unwrap(), ["2.5", "5"]);
    assert_eq!(numbers("2, 5").unwrap(), ["2", "5"]);
    assert_eq!(numbers("0.1,0.5").unwrap(), ["0.1", "0.5"]);
    for text in ["2,5, 5", "2,5", "1, 2,5", "2,5\n5"] {
        let error = numbers(text).unwrap_err();
        let expected = "“2,5” may be 2.5, or 2 and 5: write 2.5, or put a space after the comma.";
        assert_eq!(error, expected, "{text}");
    }
    assert!(numbers("1,234; 5").unwrap_err().ends_with("not “1,234”."));
    assert_eq!(integers("20,40").unwrap(), ["20", "40"]);
    assert!(
        integers("1,024")
            .unwrap_err()
            .starts_with("“1,024” may be 1024, or 1 and 024")
    );
    // Several commas make a list. The page shows the parsed values.
    let values = numbers("1,2,5").unwrap();
    assert_eq!(values, ["1", "2", "5"]);
    assert!(!lists_exactly("1,2,5", &values));
}

/// 1,5..9,5 was read as 1, 5, 9 and 5, and 0,1..0,3 caused an error about its step.
#[test]
fn ranges_with_decimal_commas_are_rejected() {
    for (text, points) in [
        ("0,1..0,3", "0.1..0.3"),
        ("1,5..9,5", "1.5..9.5"),
        ("0,1 … 0,3", "0.1..0.3"),
        ("0,5..2", "0.5..2"),
        ("5, 1..3,5", "1..3.5"),
        ("1\n-0,1..0,3", "-0.1..0.3"),
    ] {
        let error = numbers(text).unwrap_err();
        let advice = format!("write {points}, or put a space after a comma between two values.");
        assert!(error.ends_with(&advice), "{text}: {error}");
        assert!(numbers(points).is_ok());
    }
    assert!(numbers("1..3,5,").is_err());
    let error = integers("1,000..1,003").unwrap_err();
    assert!(error.contains("write 1000..1003, or"), "{error}");
    assert_eq!(numbers("\"0,1..2\"").unwrap(), ["0.1", "1.1"]);
    assert_eq!(numbers("0,1; 0,2..0,3").unwrap(), ["0.1", "0.2", "0.3"]);
    // Lists of several values are unambiguous.
    assert_eq!(integers("1,2..4").unwrap(), ["1", "2", "3", "4"]);
    assert_eq!(numbers("1,2,..,4").unwrap(), ["1", "2", "3", "4"]);
    assert_eq!(numbers("1,2,3..5").unwrap().len(), 5);
}

/// The page shows the parsed values below the text unless both are the same.
#[test]
fn recognizes_values_that_are_listed_one_by_one() {
    for (text, expected) in [
        ("1, 2, 5", true),
        ("1\n2,\n", true),
        ("", true),
        ("1, 2, .., 4", false),
        ("01, 2", false),
    ] {
        let values = integers(text).unwrap();
        assert_eq!(lists_exactly(text, &values), expected, "{text}");
    }
}

#[test]
fn invalid_ranges_are_explained() {
    for text in [
        "1, 1, .., 5",
        "1, 2, .., -5",
        ".., 5",
        "1, ..",
        "1, 2, .., 100000",
        "1, 2, .., 1e30",
        "a, b, .., c",
        "1, x",
        "1, 1.5",
        "0, 1e-30, .., 1e29",
    ] {
        let error = integers(text).unwrap_err();
        assert!(error.ends_with('.'), "{text}: {error}");
    }
    assert!(integers("1, 2, .., 100000").unwrap_err().contains("10000"));
}

#[test]
fn texts_choices_and_booleans() {
    // A comma must not split one prompt into two, which would be charged as two items.
    assert_eq!(texts("alpine lake, teal").unwrap(), ["alpine lake, teal"]);
    assert_eq!(texts("a, b\r\n\n c, d ").unwrap(), ["a, b", "c, d"]);
    assert_eq!(texts("\"open\na, .., c").unwrap(), ["\"open", "a, .., c"]);
    let choice = json!({"name": "ratio", "type": "enum", "allowedValues": ["1:1", "16:9", 2]});
    let quoted = json!({"name": "look", "type": "enum", "allowedValues": ["oil", "ink, washed"]});
    assert_eq!(
        read(quoted.clone(), r#"oil, "ink, washed", "#).unwrap(),
        ["oil", "ink, washed"]
    );
    assert!(
        read(quoted.clone(), r#""oil"#)
            .unwrap_err()
            .contains("quote")
    );
    assert!(read(quoted, r#""oil" b"#).unwrap_err().contains("comma"));
    assert_eq!(
        read(choice.clone(), "1:1, 16:9, 2").unwrap(),
        ["1:1", "16:9", "2"]
    );
    assert!(read(choice, "4:3").unwrap_err().contains("one of"));
    let switch = json!({"name": "hd", "type": "boolean"});
    assert_eq!(read(switch, "true, no").unwrap(), ["true", "false"]);
    let list = json!({"name": "size", "type": "array"});
    assert_eq!(read(list, "[1, 2]\n[3,4]").unwrap(), ["[1,2]", "[3,4]"]);
}

/// A ticked choice with a comma or a quote can be unticked, and choices typed without quotes are shown as ticked.
#[test]
fn ticked_choices_equal_the_typed_values() {
    assert!(contains("red, blue", "blue"));
    assert!(contains("red, \"a, b\"", "a, b"));
    assert!(!contains("red, \"a, b\"", "a"));
    assert!(!contains("\"a, b", "a, b"), "a quote is not closed");
    let toggled = |values: &str, value: &str| toggled(values, value, &[]);
    assert_eq!(toggled("", "a, b"), "\"a, b\"");
    assert_eq!(toggled("red, \"a, b\"", "a, b"), "\"red\"");
    assert_eq!(toggled("red", "1\" wide"), "\"red\", \"1\"\" wide\"");
    assert_eq!(toggled("\"red", "blue"), "\"red");
}

/// Guards against a grid whose columns are in the order in which they were ticked.
#[test]
fn ticked_values_are_in_the_order_of_the_choices() {
    let sizes = ["small", "medium", "large"].map(str::to_owned);
    let ticked = ["large", "small", "medium", "small"]
        .iter()
        .fold(String::new(), |values, size| toggled(&values, size, &sizes));
    assert_eq!(ticked, "\"medium\", \"large\"");
    // Typed values stay at their position.
    let ticked = toggled("huge, large, small", "medium", &sizes);
    assert_eq!(ticked, "\"huge\", \"medium\", \"large\", \"small\"");
}

proptest! {
    #[test]
    fn ranges_of_decimals_are_exact(start in -1000..1000i64, step in 1..50i64, count in 1..200i64, places in 0..4u32, down: bool) {
        let step = if down { -step } else { step };
        let text = |n: i64| Decimal::new(n.into(), places).to_text();
        let written = format!("{}, {}, .., {}", text(start), text(start + step), text(start + step * count));
        let expected: Vec<f64> = (0..=count).map(|n| text(start + n * step).parse().unwrap()).collect();
        let given: Vec<f64> = numbers(&written).unwrap().iter().map(|n| n.parse().unwrap()).collect();
        prop_assert_eq!(given, expected);
    }

    #[test]
    fn decimals_survive_a_round_trip(units: i64, scale in 0..20u32) {
        let decimal = Decimal::new(units.into(), scale);
        let again = Decimal::parse(&decimal.to_text()).unwrap();
        prop_assert_eq!(again.units(scale), decimal.units(scale));
    }

    #[test]
    fn quoted_lists_are_split_again(list in prop::collection::vec("[ -~é\n]{0,12}", 1..8)) {
        let quoted: Vec<String> = list.iter().map(|text| format!("\"{}\"", text.replace('"', "\"\""))).collect();
        prop_assert_eq!(split(&quoted.join(", ")).unwrap(), list);
    }

    #[test]
    fn any_text_is_handled(text in ".{0,60}|[0-9., e-]{0,30}") {
        let _ = (integers(&text), numbers(&text), texts(&text));
        let _ = read(json!({"name": "x", "type": "?"}), &text);
    }
}
