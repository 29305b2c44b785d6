//! Renders hostile schemas and compiles the files with Python's compiler.

use std::process::{Command, Stdio};

use atelier_contract::Schema;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::*;

/// Returns the Python interpreter that checks the files.
fn python() -> String {
    std::env::var("ATELIER_PYTHON").unwrap_or_else(|_| "python3".into())
}

/// Reads `[{file, expected…}]` from standard input. Each file must compile, and as a module contain exactly the strings
/// of the schema.
const CHECK: &str = r#"
import ast, json, keyword, sys, types
cases = json.load(sys.stdin)
# Assignments that contain no data of a schema.
CALLS = ("_MISTAKES", "_IDS_FILE", "_log", "_file_lock", "_start_locks", "WEB_DIRECTORY", "_PATH", "_ADDRESS",
    "_upload_locks")
for number, case in enumerate(cases):
    try:
        for kind in ("openai", "node"):
            tree = ast.parse(case[kind])
            # The module's top level has only definitions, imports and assignments of literals.
            for statement in tree.body[1:]:
                if isinstance(statement, ast.Assign):
                    for part in ast.walk(statement.value):
                        assert not isinstance(part, (ast.Call, ast.Attribute)) or \
                            statement.targets[0].id in CALLS, ast.dump(part)
                else:
                    assert isinstance(statement, (ast.Import, ast.ImportFrom, ast.ClassDef,
                        ast.FunctionDef, ast.AsyncFunctionDef, ast.If)), ast.dump(statement)
            module = types.ModuleType("hostile")
            body = [s for s in tree.body if isinstance(s, ast.Assign) and s.targets[0].id.isupper()
                    and not s.targets[0].id.startswith(("_", "NODE_", "WEB_"))]
            exec(compile(ast.Module(body, []), "hostile", "exec"), module.__dict__)
            names = [p["name"] for p in module.PARAMETERS]
            assert names == case["names"], (names, case["names"])
            assert module.CATEGORY == case["category"] and module.SUBCATEGORY == case["subcategory"]
            # The file can be imported under its name.
            assert case["module"].isidentifier() and not keyword.iskeyword(case["module"])
            assert case["module"] not in keyword.softkwlist, case["module"]
            assert module.MODEL_NAME == case["model"] and module.BASE_URL == case["base_url"]
            for parameter in module.PARAMETERS:
                for key, value in case["parameters"][parameter["name"]].items():
                    assert json.dumps(parameter.get(key)) == json.dumps(value), (key, value)
            compile(case[kind], "hostile", "exec")
            if kind == "openai":
                # The page copies the same function schema as the file contains, digit by digit.
                assert json.dumps(json.loads(case["function"])) == json.dumps(module.FUNCTION)
        # The files for several models contain only literals, and the same tables.
        for kind in ("functions", "mcp"):
            tree = ast.parse(case[kind])
            compile(case[kind], "hostile", "exec")
            for statement in tree.body[1:]:
                assert isinstance(statement, (ast.Assign, ast.Import, ast.ImportFrom, ast.ClassDef,
                    ast.FunctionDef, ast.AsyncFunctionDef, ast.If)), ast.dump(statement)
            (table,) = [ast.literal_eval(s.value) for s in tree.body
                        if isinstance(s, ast.Assign) and s.targets[0].id == "MODELS"]
            (model,) = table.values()
            assert [p["name"] for p in model["parameters"]] == names
            assert (model["name"], model["category"], model["subcategory"]) == (
                case["model"], case["category"], case["subcategory"])
            assert model["function"] == json.loads(case["function"])
        assert sorted(n for group in module.INPUTS.values() for n in group) == sorted(names)
    except BaseException:
        sys.stderr.write(json.dumps(case)[:4000] + "\n")
        raise
print(len(cases))
"#;

fn hostile_text() -> impl Strategy<Value = String> {
    let traps = [
        "",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "\\",
        "\\\"",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "#",
        "{",
        "}",
        "{{",
        "}}",
        "{{ 7*7 }}",
        "{% raw %}",
        "{# x #}",
        "%s",
        "%(x)s",
        "${x}",
        "class",
        "def",
        "None",
        "True",
        "self",
        "args",
        "uid",
        "import os; os.system('x')",
        "\"); import os  # ",
        "\\N{DASH}",
        "\\x",
        "\u{202e}",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "\u{7f}",
        "é",
        "画像",
        "\u{1f600}",
        "seed",
        "prompt",
        "a-b",
        "a b",
        "0",
        "__import__",
        "</script>",
        "-*- coding: latin-1 -*-",
    ];
    prop_oneof![
        proptest::sample::select(traps.to_vec()).prop_map(str::to_owned),
        proptest::collection::vec(proptest::sample::select(traps.to_vec()), 1..5)
            .prop_map(|parts| parts.concat()),
        ".{0,40}",
    ]
}

fn hostile_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        hostile_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((hostile_text(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn hostile_parameter() -> impl Strategy<Value = Value> {
    let types = [
        "string", "enum", "integer", "float", "boolean", "array", "object", "tensor", "\"\n",
    ];
    (
        hostile_text(),
        proptest::sample::select(types.to_vec()),
        hostile_text(),
        proptest::option::of(hostile_value()),
        proptest::option::of(proptest::collection::vec(hostile_value(), 0..4)),
        proptest::option::of(any::<f64>().prop_map(|n| json!(n))),
        proptest::option::of(any::<i64>().prop_map(Value::from)),
    )
        .prop_map(
            |(name, type_name, description, default, values, minimum, maximum)| {
                let mut parameter = Map::new();
                parameter.insert("name".into(), name.into());
                parameter.insert("type".into(), type_name.into());
                parameter.insert("description".into(), description.into());
                for (key, value) in [
                    ("default", default),
                    ("allowedValues", values.map(Value::from)),
                    ("minimum", minimum),
                    ("maximum", maximum),
                ] {
                    if let Some(value) = value {
                        parameter.insert(key.into(), value);
                    }
                }
                Value::Object(parameter)
            },
        )
}

#[derive(Debug)]
struct Hostile {
    schema: Schema,
    texts: ModelTexts,
    base_url: String,
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let list = || proptest::collection::vec(hostile_parameter(), 0..5);
    let texts = || (hostile_text(), hostile_text());
    let makes = proptest::option::of(proptest::sample::select(vec![
        Media::Image,
        Media::Video,
        Media::Audio,
    ]));
    (texts(), texts(), hostile_text(), makes, list(), list()).prop_map(
        |((category, subcategory), (name, description), base_url, makes, required, optional)| {
            Hostile {
                schema: serde_json::from_value(json!({
                    "category": category, "subcategory": subcategory,
                    "parameters": {"required": required, "optional": optional},
                }))
                .unwrap(),
                texts: ModelTexts {
                    name,
                    description,
                    makes,
                },
                base_url,
            }
        },
    )
}

/// The page derives the function's schema from the response of `/api/schema`.
#[test]
fn the_page_and_the_file_have_the_same_function_schema() {
    let models = crate::models::Models::built_in();
    assert_eq!(models.iter().count(), 6);
    for model in models.iter() {
        let texts = ModelTexts::from(model);
        let file = render_openai_function(&model.schema(), &texts, "http://127.0.0.1").unwrap();
        let sent = serde_json::to_string(&model.schema()).unwrap();
        let read: Schema = serde_json::from_str(&sent).unwrap();
        let shown = function_schema(&read, model.about().description);
        let literal = literal::block(&shown, 0);
        assert!(
            file.contains(&format!("\nFUNCTION = {literal}\n")),
            "{literal}"
        );
    }
}

#[test]
fn hostile_schemas_give_valid_files_with_their_strings_as_data() {
    let mut runner = TestRunner::default();
    let cases: Vec<Value> = (0..300)
        .map(|_| hostile().new_tree(&mut runner).unwrap().current())
        .map(|hostile| {
            let Hostile {
                schema,
                texts,
                base_url,
            } = &hostile;
            let names: Vec<&str> = schema.parameters().map(|(p, _)| p.name.as_str()).collect();
            let parameters: Map<String, Value> = schema
                .parameters()
                .map(|(p, required)| {
                    let expected = json!({
                        "required": required, "default": p.default, "values": p.allowed_values,
                        "minimum": p.minimum, "maximum": p.maximum,
                    });
                    (p.name.clone(), expected)
                })
                .collect();
            let openai = render_openai_function(schema, texts, base_url).unwrap();
            let models = [(schema.clone(), texts.clone())];
            let mcp = python_file::mcp(&schema.model);
            json!({
                "function": function_schema(schema, &texts.description).to_string(),
                "openai": openai,
                "functions": render_openai_functions(&models, base_url).unwrap(),
                "mcp": render_mcp_server(&models, base_url, &mcp).unwrap(),
                "node": render_comfyui_node(schema, texts, base_url).unwrap(),
                "module": python_file::module(&schema.model),
                "names": names, "parameters": parameters, "model": texts.name, "base_url": base_url,
                "category": schema.model.category, "subcategory": schema.model.subcategory,
            })
        })
        .collect();
    let mut child = Command::new(python())
        .args(["-X", "utf8", "-c", CHECK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a Python interpreter: set ATELIER_PYTHON, or put python3 on the PATH");
    serde_json::to_writer(child.stdin.take().unwrap(), &cases).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        cases.len().to_string()
    );
}

proptest! {
    #[test]
    fn function_and_argument_names_are_valid(hostile in hostile()) {
        let function = function_schema(&hostile.schema, &hostile.texts.description);
        let name = function["name"].as_str().unwrap();
        prop_assert!(!name.is_empty() && name.len() <= 64);
        let properties = function["parameters"]["properties"].as_object().unwrap();
        prop_assert_eq!(properties.len(), hostile.schema.parameters().count());
        for name in properties.keys() {
            prop_assert!(!name.is_empty() && name.len() <= 64);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)));
        }
    }
}
