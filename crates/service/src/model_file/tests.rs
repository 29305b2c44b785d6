use super::*;
use crate::model::Model;

fn load_text(text: &str) -> Result<Loaded, ModelFileError> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("models.toml");
    std::fs::write(&file, text).unwrap();
    let workflow = r#"{"3": {"class_type": "KSampler", "inputs": {"seed": 1, "positive": ["6", 0]}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "x"}}}"#;
    std::fs::write(dir.path().join("workflow.json"), workflow).unwrap();
    std::fs::write(
        dir.path().join("saved.json"),
        r#"{"nodes": [], "links": []}"#,
    )
    .unwrap();
    load(&file, dir.path())
}

fn problem(text: &str) -> String {
    let text = load_text(text).err().expect("a problem").to_string();
    let place = text.find("models.toml").unwrap();
    text[place..].to_owned()
}

const HEAD: &str = "[[model]]\ncategory = \"a\"\nsubcategory = \"b\"\nname = \"c\"\n";

#[test]
fn an_error_is_reported_with_file_line_and_key() {
    for (text, line, words) in [
        ("x = 1", 1, vec!["`x`", "`builtin`"]),
        ("[[model]]\ncategory = 5", 2, vec!["category", "string"]),
        (
            "[[model]]\ncategory = \"a b\"",
            2,
            vec!["category", "letters"],
        ),
        ("[[model]\n", 1, vec![]),
        (&format!("{HEAD}at_once = 0"), 5, vec!["at_once", "1 to 64"]),
        (
            &format!("{HEAD}time_limit = \"10 min\""),
            5,
            vec!["time_limit", "10m"],
        ),
        (HEAD, 1, vec!["a/b", "exactly one", "[model.command]"]),
        (
            &format!("{HEAD}[model.command]\nprogram = \"x\"\nshell = 1"),
            7,
            vec!["`shell`"],
        ),
        (
            &format!("{HEAD}[model.openai]\naddress = \"here\""),
            6,
            vec!["address", "http"],
        ),
        (
            &format!(
                "{HEAD}[model.cog]\naddress = \"http://a\"\nallow_fetch = [\"http://b/files\"]"
            ),
            7,
            vec!["allow_fetch", "without a path"],
        ),
        (
            &format!("{HEAD}[model.openai]\naddress = \"http://a\"\nkey_env = \"NOT_THERE\""),
            7,
            vec!["key_env", "NOT_THERE"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"uid\"\ntype = \"string\""
            ),
            7,
            vec!["name", "uid"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"n\"\ntype = \"integer\"\nmaximum = 3\ndefault = 4"
            ),
            7,
            vec!["default", "at most 3"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n{HEAD}[model.command]\nprogram = \"x\""
            ),
            7,
            vec!["two models are named a/b"],
        ),
        (
            &format!("{HEAD}[model.cog]\naddress = \"http://a\"\nschema = \"nothing.json\""),
            7,
            vec!["schema", "nothing.json"],
        ),
        (
            &format!(
                "{HEAD}[model.comfyui]\naddress = \"http://a\"\nworkflow = \"workflow.json\"\n[[model.parameter]]\nname = \"p\"\ntype = \"string\"\ninput = \"9.text\""
            ),
            8,
            vec!["input", "9.text", "it has 6.text"],
        ),
        (
            &format!("{HEAD}[model.comfyui]\naddress = \"http://a\"\nworkflow = \"saved.json\""),
            7,
            vec!["workflow", "saved.json", "Export (API)"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"key\"\ntype = \"string\"\ndefault = \"sk\"\nsecret = true"
            ),
            7,
            vec!["secret", "key", "no default"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"text\"\ntype = \"string\"\nmax_items = 3"
            ),
            7,
            vec!["max_items", "text", "files"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"images\"\ntype = \"files\"\nvalues = [\"a\"]"
            ),
            7,
            vec!["values", "images"],
        ),
        (
            &format!(
                "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"images\"\ntype = \"files\"\nmax_items = 1\ndefault = [\"/a\", \"/b\"]"
            ),
            7,
            vec!["default", "images"],
        ),
        ("builtin = false", 1, vec!["[[model]]"]),
    ] {
        let problem = problem(text);
        assert!(
            problem.starts_with(&format!("models.toml:{line}: ")),
            "{problem}"
        );
        for word in words {
            assert!(problem.contains(word), "{problem}");
        }
    }
}

#[test]
fn files_are_a_list_of_addresses_with_a_maximum_number() {
    let text = format!(
        "{HEAD}[model.command]\nprogram = \"x\"\n[[model.parameter]]\nname = \"images\"\ntype = \"files\"\nmax_items = 3"
    );
    let schema = load_text(&text).unwrap().remotes[0].schema();
    let (parameter, is_required) = schema.parameter("images").unwrap();
    assert!(!is_required);
    assert_eq!(parameter.media_list(), Some(Media::Image));
    assert_eq!(parameter.item_bounds(), (None, Some(3)));
    let written = serde_json::to_value(parameter).unwrap();
    assert_eq!(written["type"], "array");
    assert_eq!(written["items"], json!({"type": "string", "format": "uri"}));
}

const EXAMPLE: &str = include_str!("../../../../docs/models.example.toml");
const SCHEMA: &str = include_str!("../../../../docs/models.schema.json");

#[test]
fn the_schema_for_editors_matches_the_parser() {
    let made = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    assert!(
        SCHEMA == made,
        "docs/models.schema.json is outdated; run: atelier-service models-schema > docs/models.schema.json"
    );
}

#[test]
fn the_example_is_valid() {
    // Uses PATH as the variable of the key, because PATH is always set.
    let example = EXAMPLE.replace("OPENAI_API_KEY", "PATH");
    let loaded = load_text(&example).unwrap();
    assert!(loaded.builtin && loaded.remotes.len() == 4);
}
