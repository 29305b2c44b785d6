use super::*;
use proptest::prelude::*;
use serde_json::json;

fn schema() -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "prompt", "type": "string"}],
            "optional": [
                {"name": "aspect_ratio", "type": "enum", "allowedValues": ["1:1", "16:9"]},
                {"name": "seed", "type": "integer", "maximum": u64::MAX},
                {"name": "numOutputs", "type": "integer"}
            ]
        }
    }))
    .unwrap()
}

fn notes(imported: &Imported) -> Vec<(usize, &str)> {
    imported
        .notes
        .iter()
        .map(|note| (note.row, note.message.as_str()))
        .collect()
}

#[test]
fn csv_with_all_its_troubles() {
    let text = "\u{feff}PROMPT;Aspect Ratio;Seed;note;num-outputs\r\n\
        \"a cat; \"\"sitting\"\"\non a mat\";16:9;18446744073709551615;x;2\r\n\
        a dog\r\n\
        a bird;1:1;5;;1;surplus\r\n\
        ;;;only a note;\r\n";
    let imported = read(text, &schema()).unwrap();
    assert_eq!(imported.format, Format::Csv);
    assert_eq!(imported.unknown_columns, ["note"]);
    assert_eq!(
        notes(&imported),
        [
            (
                2,
                "The row has 1 field for 5 columns; the missing ones count as empty."
            ),
            (
                3,
                "The row has 6 fields for 5 columns; what is beyond them was left out."
            ),
            (4, "The row has no value for any parameter."),
        ]
    );
    let input = schema().validate(&imported.rows[0], false).unwrap();
    assert_eq!(
        Value::Object(input.values().clone()),
        json!({"prompt": "a cat; \"sitting\"\non a mat", "aspect_ratio": "16:9", "seed": u64::MAX, "numOutputs": 2})
    );
}

#[test]
fn json_arrays_and_lines_keep_types() {
    let rows = r#"{"prompt": "a", "Seed": 18446744073709551615, "num_outputs": "2"}"#;
    for text in [format!("[{rows}, 7]"), format!("{rows}\n7\n")] {
        let imported = read(&text, &schema()).unwrap();
        assert_eq!(
            imported.rows[0].get("seed"),
            Some(&Entry::Value(json!(u64::MAX)))
        );
        assert_eq!(
            imported.rows[0].get("numOutputs"),
            Some(&Entry::Text("2".into()))
        );
        assert_eq!(
            notes(&imported),
            [(
                2,
                "The row is a single value, not an object with parameters."
            )]
        );
    }
    let broken = format!("{rows}\n{{\"prompt\": \n{rows}");
    let imported = read(&broken, &schema()).unwrap();
    assert_eq!(imported.notes[0].row, 2);
    let twice = read(r#"[{"seed": 1, "SEED": 2}]"#, &schema()).unwrap();
    assert_eq!(
        notes(&twice),
        [(1, "seed is given twice; “SEED” was left out.")]
    );
}

#[test]
fn what_cant_be_read_is_said() {
    for text in ["", "a cat\na dog", "[1, 2", "{\"a\": ", "{broken"] {
        let error = read(text, &schema()).unwrap_err();
        assert!(error.ends_with('.'), "{text}: {error}");
    }
}

#[test]
fn names_that_differ_in_spelling_only_need_it() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "c", "subcategory": "s",
        "parameters": {"optional": [{"name": "a_b", "type": "string"}, {"name": "aB", "type": "string"}]}
    }))
    .unwrap();
    let imported = read("aB,A B\n1,2", &schema).unwrap();
    assert_eq!(imported.unknown_columns, ["A B"]);
    assert_eq!(imported.rows[0].get("aB"), Some(&Entry::Text("1".into())));
}

proptest! {
    #[test]
    fn a_written_table_is_imported_whole(prompts in prop::collection::vec("[ -~é\n]{1,20}", 1..10)) {
        let mut text = String::new();
        csv::write(&mut text, ["input.prompt", "seed"]);
        for (seed, prompt) in prompts.iter().enumerate() {
            csv::write(&mut text, [prompt.as_str(), &seed.to_string()]);
        }
        let imported = read(&text, &schema()).unwrap();
        prop_assert!(imported.notes.is_empty());
        let read: Vec<String> = imported.rows.iter().map(|row| row.get("prompt").unwrap().to_text()).collect();
        prop_assert_eq!(read, prompts);
    }

    #[test]
    fn any_text_is_survived(text in ".{0,80}|[\\[\\]{}\":,;a-z0-9 \n]{0,80}|prompt[,;\t\n\"a-z]{0,60}") {
        if let Ok(imported) = read(&text, &schema()) {
            prop_assert!(imported.rows.iter().all(|row| !row.is_empty()));
        }
    }
}
