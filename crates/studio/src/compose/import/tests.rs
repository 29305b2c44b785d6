use super::*;
use crate::compose::table::Table;
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
fn csv_with_all_its_variants() {
    let text = "\u{feff}PROMPT;Aspect Ratio;Seed;note;num-outputs\r\n\
        \"a cat; \"\"sitting\"\"\non a mat\";16:9;18446744073709551615;x;2\r\n\
        a dog\r\n\
        a bird;1:1;5;;1;surplus\r\n\
        ;;;only a note;\r\n";
    let imported = read(text, &schema(), &[]).unwrap();
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

/// A typo must not drop a column silently, and the reason why a row is invalid must be visible.
#[test]
fn a_misspelled_column_is_suggested_and_problems_are_shown() {
    let schema = schema();
    let text = "promt;aspect ratio;cost\na cat;16:9;3\n;;\na dog;2:1;3";
    let imported = read(text, &schema, &[]).unwrap();
    assert_eq!(imported.unknown_columns, ["promt", "cost"]);
    let assigned = imported.suggestions(&schema);
    assert_eq!(assigned, [("promt".to_owned(), "prompt".to_owned())]);
    let missing: Vec<usize> = imported.bad(&schema).iter().map(|it| it.row).collect();
    assert_eq!(missing, [1, 3]);
    let imported = read(text, &schema, &assigned).unwrap();
    assert!(imported.suggestions(&schema).is_empty());
    // The user can also exclude the column.
    let expected = "Not sent, as the model has no such parameter: cost.";
    assert_eq!(imported.left_out_message(), expected);
    let unknown = imported.unknown_names(&schema);
    assert_eq!(
        (unknown[0].name.as_str(), &unknown[0].suggestion),
        ("cost", &None)
    );
    let none = [assigned.clone(), vec![("cost".to_owned(), String::new())]].concat();
    let removed = read(text, &schema, &none).unwrap();
    assert_eq!(removed.left_out_message(), "");
    assert_eq!(removed.rows, imported.rows);
    let bad = imported.bad(&schema);
    assert_eq!((bad.len(), bad[0].row), (1, 3));
    assert!(
        bad[0].message.starts_with("aspect_ratio "),
        "{}",
        bad[0].message
    );
    // The suggestion doesn't require another known column.
    let alone = read("promt\na cat", &schema, &[]).unwrap();
    assert!(alone.rows.is_empty() && alone.notes.is_empty());
    assert_eq!(
        read("promt\na cat", &schema, &alone.suggestions(&schema))
            .unwrap()
            .rows
            .len(),
        1
    );
    assert!(read("cost\n3", &schema, &[]).is_err());
    // The assignment is ignored if the file has a column with the exact name.
    let both = read("promt,prompt\nx,a cat", &schema, &assigned).unwrap();
    assert_eq!(both.unknown_columns, ["promt"]);
    assert!(both.bad(&schema).is_empty());
}

#[test]
fn json_arrays_and_lines_keep_types() {
    let rows = r#"{"prompt": "a", "Seed": 18446744073709551615, "num_outputs": "2"}"#;
    for text in [format!("[{rows}, 7]"), format!("{rows}\n7\n")] {
        let imported = read(&text, &schema(), &[]).unwrap();
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
    let imported = read(&broken, &schema(), &[]).unwrap();
    assert_eq!(imported.notes[0].row, 2);
    let twice = read(r#"[{"seed": 1, "SEED": 2}]"#, &schema(), &[]).unwrap();
    assert_eq!(
        notes(&twice),
        [(1, "seed is given twice; “SEED” was left out.")]
    );
}

#[test]
fn invalid_files_are_explained() {
    for text in ["", "a cat\na dog", "[1, 2", "{\"a\": ", "{broken"] {
        let error = read(text, &schema(), &[]).unwrap_err();
        assert!(error.ends_with('.'), "{text}: {error}");
    }
}

#[test]
fn names_that_differ_only_in_spelling_must_match_exactly() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "c", "subcategory": "s",
        "parameters": {"optional": [{"name": "a_b", "type": "string"}, {"name": "aB", "type": "string"}]}
    }))
    .unwrap();
    let imported = read("aB,A B\n1,2", &schema, &[]).unwrap();
    assert_eq!(imported.unknown_columns, ["A B"]);
    assert_eq!(imported.rows[0].get("aB"), Some(&Entry::Text("1".into())));
}

fn table_schema() -> Schema {
    let parameters = json!({
        "required": [{"name": "prompt", "type": "string"}],
        "optional": [
            {"name": "seed", "type": "integer", "minimum": 0, "maximum": u64::MAX},
            {"name": "strength", "type": "number", "minimum": 0, "maximum": 1},
            {"name": "upscale", "type": "boolean"}
        ]
    });
    let schema = json!({"category": "image", "subcategory": "t", "parameters": parameters});
    Schema::from_value(schema).unwrap()
}

fn sent(imported: &Imported) -> Vec<Value> {
    let schema = table_schema();
    let rows = imported.rows.iter();
    let inputs = rows.filter_map(|row| schema.validate(row, false).ok());
    inputs
        .map(|input| Value::Object(input.values().clone()))
        .collect()
}

/// Guards against reading column names from Excel's hint.
#[test]
fn the_hint_for_excel_is_not_a_record() {
    for text in [
        "sep=;\r\nprompt;strength\r\nein Fuchs;0.5\r\n",
        "sep=\t\r\nprompt\tstrength\r\nein Fuchs\t0.5\r\n",
    ] {
        let imported = read(text, &table_schema(), &[]).unwrap();
        assert_eq!(
            sent(&imported),
            [json!({"prompt": "ein Fuchs", "strength": 0.5})]
        );
    }
}

/// Guards against rows from pandas that are invalid because of `nan`.
#[test]
fn words_for_no_value_leave_numbers_and_booleans_out() {
    let text = "prompt,seed,strength,upscale\na,1.0,nan,True\nb,,NaN,\nNone,None,NULL,None\n";
    let imported = read(text, &table_schema(), &[]).unwrap();
    let expected = [
        json!({"prompt": "a", "seed": 1, "upscale": true}),
        json!({"prompt": "b"}),
        json!({"prompt": "None"}),
    ];
    assert_eq!(sent(&imported), expected);
    let json = r#"[{"prompt": "a", "seed": "NaN", "strength": "0.5"}]"#;
    let imported = read(json, &table_schema(), &[]).unwrap();
    assert_eq!(sent(&imported), [json!({"prompt": "a", "strength": 0.5})]);
}

/// A spreadsheet writes the seed 4294967295 as 4.29497E+09, which is another seed.
#[test]
fn numbers_rounded_by_a_spreadsheet_are_rejected() {
    let text = "prompt,seed\na,4.29497E+09\nb,1.84467E+19\nc,1024.0\nd,\"1,024\"\ne,Jan-24\nf,1.000\ng,1E+09\n";
    let imported = read(text, &table_schema(), &[]).unwrap();
    assert_eq!(sent(&imported), [json!({"prompt": "c", "seed": 1024})]);
    let bad = imported.bad(&table_schema());
    let rows: Vec<usize> = bad.iter().map(|note| note.row).collect();
    assert_eq!(rows, [1, 2, 4, 5, 6, 7]);
    let expected = "seed must be written with all its digits, not “4.29497E+09”";
    assert!(bad[0].message.starts_with(expected), "{}", bad[0].message);
}

/// The parser's message, "expected value at line 1 column 31", doesn't help the user.
#[test]
fn python_literals_are_named_with_their_position() {
    let array = r#"[{"prompt": "a", "strength": NaN}, {"prompt": "c", "strength": 0.5}]"#;
    let refused = read(array, &table_schema(), &[]).unwrap_err();
    assert_eq!(
        refused,
        "This is not a JSON array: “NaN” in line 1, column 30, is not valid JSON; write null."
    );
    let lines = "{\"prompt\": \"a\", \"strength\": NaN}\n{\"prompt\": \"b\", \"strength\": -Infinity}\n\
        {\"prompt\": \"c\", \"strength\": 0.5}\n{\"prompt\": \"d\", \"upscale\": None}\n";
    let imported = read(lines, &table_schema(), &[]).unwrap();
    assert_eq!(sent(&imported), [json!({"prompt": "c", "strength": 0.5})]);
    let notes = notes(&imported);
    let named: Vec<bool> = ["NaN", "-Infinity", "None"]
        .iter()
        .zip(&notes)
        .map(|(word, (_, message))| message.contains(&format!("“{word}” in line 1, column ")))
        .collect();
    assert_eq!(named, [true; 3], "{notes:?}");
}

/// Guards against charging rows with U+FFFD or NUL.
#[test]
fn rows_with_lost_characters_are_left_out_and_reported() {
    let text = "prompt,seed\nein M\u{fffd}dchen,1\na cat,2\n";
    let imported = read(text, &table_schema(), &[]).unwrap();
    assert_eq!(sent(&imported), [json!({"prompt": "a cat", "seed": 2})]);
    let [(1, message)] = notes(&imported)[..] else {
        panic!("{:?}", imported.notes);
    };
    assert!(
        message.contains("was lost") && message.ends_with("as UTF-8."),
        "{message}"
    );
}

proptest! {
    #[test]
    fn a_written_table_is_imported_completely(prompts in prop::collection::vec("[ -~é\n]{1,20}", 1..10)) {
        let mut text = String::new();
        csv::write(&mut text, ["input.prompt", "seed"]);
        for (seed, prompt) in prompts.iter().enumerate() {
            csv::write(&mut text, [prompt.as_str(), &seed.to_string()]);
        }
        let imported = read(&text, &schema(), &[]).unwrap();
        prop_assert!(imported.notes.is_empty());
        let read: Vec<String> = imported.rows.iter().map(|row| row.get("prompt").unwrap().to_text()).collect();
        prop_assert_eq!(read, prompts);
    }

    #[test]
    fn any_text_is_handled(text in ".{0,80}|[\\[\\]{}\":,;a-z0-9 \n]{0,80}|prompt[,;\t\n\"a-z]{0,60}") {
        if let Ok(imported) = read(&text, &schema(), &[]) {
            prop_assert!(imported.rows.iter().all(|row| !row.is_empty()));
        }
    }
}

/// Guards against storing an API key with the table.
#[test]
fn a_column_of_a_secret_is_left_out_and_reported() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {"required": [
            {"name": "prompt", "type": "string"},
            {"name": "api_key", "type": "string", "format": "password"}
        ]}
    }))
    .unwrap();
    let schema = schema.with_secrets_apart();
    for text in [
        "prompt,Api Key,note\na cat,sk-CASE,x\n",
        r#"[{"prompt": "a cat", "api_key": "sk-CASE"}]"#,
    ] {
        let imported = read(text, &schema, &[]).unwrap();
        assert!(!format!("{:?}", imported.rows).contains("sk-CASE"));
        let message = imported.left_out_message();
        assert!(
            message.contains("Left out, because tables are stored: "),
            "{message}"
        );
        assert!(names_secret(text, &schema), "the text itself is not stored");
        let mut table = Table::default();
        table.append(imported.rows, &schema).unwrap();
        assert_eq!(table.good(), 1, "the secret is entered once for all rows");
    }
    // A table stored by an earlier version.
    let old = json!({"rows": [{"entries": {"prompt": {"text": "a cat"}, "api_key": {"text": "sk-CASE"}}}], "added": []});
    let table = Table::from_value(old, &schema).unwrap();
    assert!(!table.to_value().to_string().contains("sk-CASE"));
}
