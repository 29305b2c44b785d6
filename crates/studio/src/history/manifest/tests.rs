use super::*;
use crate::compose::import;
use proptest::prelude::*;
use serde_json::json;

fn manifest(prompt: &str, seed: u64) -> Manifest {
    let mut manifest = Manifest::new(
        "Cats, and dogs".into(),
        ModelId::new("image", "a"),
        "https://s.example".into(),
        None,
    );
    let Value::Object(input) = json!({"prompt": prompt, "seed": seed}) else {
        unreachable!()
    };
    manifest.items.push(ManifestItem {
        index: 1,
        state: "Completed".into(),
        id: Some("t-1".into()),
        input: input.clone(),
        outputs: vec![
            ManifestOutput::fetched("data:image/png;base64,AAAA", "01-cat-1.png".into()),
            ManifestOutput::missing("https://a/2.png", "The address answers 404.".into()),
        ],
        ..ManifestItem::default()
    });
    manifest.items.push(ManifestItem {
        index: 2,
        state: "Failed".into(),
        error: Some("=HYPERLINK(\"https://evil.example\")".into()),
        input,
        ..ManifestItem::default()
    });
    manifest
}

#[test]
fn a_manifest_of_a_later_version_is_read_as_far_as_possible() {
    let mut value: Value = serde_json::from_str(&manifest("cat", 7).to_json()).unwrap();
    value["version"] = json!(2);
    value["license"] = json!("x");
    value["items"][0]["rating"] = json!(5);
    value["items"][1]["outputs"] = json!("none");
    assert_eq!(
        Manifest::read(&value.to_string()).unwrap(),
        manifest("cat", 7)
    );
}

/// Users have manifests written by earlier versions.
#[test]
fn a_sample_survives_a_round_trip() {
    let sample = include_str!("sample.json").trim_end();
    assert_eq!(Manifest::read(sample).unwrap().to_json(), sample);
}

#[test]
fn invalid_fields_are_read_as_empty_and_do_not_affect_others() {
    let odd = json!({
        "format": "atelier-manifest", "category": "image", "subcategory": "a",
        "name": 1, "service": null, "created": [],
        "items": [
            1,
            {"index": "x", "state": {}, "id": 7, "input": [], "outputs": [
                "https://a.example", {"url": 1, "file": "f"}
            ]}
        ]
    });
    let read = Manifest::read(&odd.to_string()).unwrap();
    let mut expected = Manifest::new(
        String::new(),
        ModelId::new("image", "a"),
        String::new(),
        None,
    );
    let output = |file: Option<&str>| ManifestOutput {
        file: file.map(str::to_owned),
        ..ManifestOutput::default()
    };
    expected.items = vec![
        ManifestItem {
            index: 1,
            ..ManifestItem::default()
        },
        ManifestItem {
            index: 2,
            outputs: vec![output(None), output(Some("f"))],
            ..ManifestItem::default()
        },
    ];
    assert_eq!(read, expected);
    let none = json!({"format": "atelier-manifest", "category": "image", "subcategory": "a"});
    assert_eq!(Manifest::read(&none.to_string()).unwrap().items, []);
}

#[test]
fn tables_contain_no_formulas_of_the_service() {
    let table = csv::read(&manifest("cat", 7).to_csv());
    assert_eq!(
        table[0].join(","),
        "index,state,id,error,submitted,finished,urls,files,missing,input.prompt,input.seed"
    );
    assert_eq!(table[1][6], "data:image/png;base64\nhttps://a/2.png");
    assert_eq!(table[1][8], "The address answers 404.");
    assert!(table[2][3].starts_with("'=HYPERLINK"));
}

#[test]
fn other_files_are_rejected() {
    for text in ["", "[]", "{}", "{\"format\": \"atelier-manifest\"}", "a,b"] {
        assert!(Manifest::read(text).unwrap_err().ends_with('.'));
    }
}

proptest! {
    #[test]
    fn inputs_survive_both_forms(prompt in "[^\u{fffd}\u{0}]{1,40}", seed: u64) {
        let manifest = manifest(&prompt, seed);
        prop_assert_eq!(&Manifest::read(&manifest.to_json()).unwrap(), &manifest);
        let schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {"optional": [
                {"name": "prompt", "type": "string"},
                {"name": "seed", "type": "integer", "maximum": u64::MAX}
            ]}
        })).unwrap();
        for text in [manifest.to_csv(), manifest.to_json()] {
            let imported = import::read(&text, &schema, &[]).unwrap();
            prop_assert_eq!(imported.rows.len(), 2);
            for row in &imported.rows {
                let input = schema.validate(row, false).unwrap();
                prop_assert_eq!(input.values(), &manifest.items[0].input);
            }
        }
    }
}

/// A manifest must not contain a reference to a stored file, which is valid only in the browser that wrote the
/// manifest.
#[test]
fn a_reference_to_a_stored_file_is_in_no_manifest() {
    let reference = "data:image/png;stored=1a-5000,";
    let alone = ManifestOutput::of(reference);
    assert_eq!(alone.url, "data:image/png");
    assert!(alone.missing.is_some_and(|why| why.contains("ZIP")));
    let output = ManifestOutput::fetched(reference, "01-1.png".into());
    assert_eq!(output.url, "data:image/png");
    let missing = ManifestOutput::missing(reference, "It is gone.".into());
    assert_eq!(missing.url, "data:image/png");
    let link = ManifestOutput::of("https://x.example/a.png");
    assert_eq!(
        (link.url.as_str(), link.missing),
        ("https://x.example/a.png", None)
    );
}
