//! Runs the Python files with a real interpreter and the packages that they and their users need.
//!
//! `ATELIER_PYTHON` names the interpreter; the default is `python3`. The tests fail if a package is missing.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use atelier_contract::{Draft, Entry, Kind, Parameter, Schema};
use atelier_service::models::Models;
use atelier_service::python::{ModelTexts, render_openai_function};
use serde_json::{Map, Value, json};
use support::Server;

fn python(script: &str, server: &Server, input: &Value) {
    let interpreter = std::env::var("ATELIER_PYTHON").unwrap_or_else(|_| "python3".into());
    let have = Command::new(&interpreter)
        .args([
            "-c",
            "import av, jsonschema, mcp, numpy, openai, PIL, requests",
        ])
        .output()
        .unwrap_or_else(|error| panic!("{interpreter}: {error}. Set ATELIER_PYTHON."));
    assert!(
        have.status.success(),
        "{interpreter} lacks a package of: av jsonschema mcp numpy openai pillow requests. Install them, or set \
         ATELIER_PYTHON to an interpreter that has them.\n{}",
        String::from_utf8_lossy(&have.stderr)
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let mut child = Command::new(&interpreter)
        .args(["-B", "-X", "utf8"])
        .arg(folder.join(script))
        .arg(&server.url)
        .envs([
            ("SERVICE_UID", "me"),
            ("SERVICE_TOKEN", "t"),
            ("NO_PROXY", "127.0.0.1"),
        ])
        .env_remove("SERVICE_BASE_URL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{script}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn both_files_of_every_model_run_a_task() {
    // The recipe contains the id of the task, so files of the same input would differ.
    let options = ["--speed", "0", "--workers", "4", "--embed-recipe", "off"];
    let server = Server::start(&options);
    python("proof_workflow.py", &server, &Value::Null);
}

#[test]
fn a_canceled_wait_cancels_the_task() {
    let server = Server::start(&["--speed", "100", "--workers", "1"]);
    python("proof_cancel.py", &server, &Value::Null);
}

#[test]
fn a_chat_client_calls_the_function() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_openai.py", &server, &Value::Null);
}

#[test]
fn openais_client_generates_and_edits_images() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_images_api.py", &server, &Value::Null);
}

/// Guards against an MCP server that the official client can't use, and against a second charge when it gives up.
#[cfg(unix)]
#[test]
fn the_official_mcp_client_uses_the_service() {
    let server = Server::start_with_mcp_tools();
    python("proof_mcp_service.py", &server, &Value::Null);
}

/// A model with parameters of every kind. Its program outputs the input.
#[cfg(unix)]
const EVERY_KIND: &str = r#"
[[model]]
category = "image"
subcategory = "every-kind"
name = "Every kind"
command = { program = "/bin/sh", arguments = ["-c", "cat > input.json"] }
parameter = [
    { name = "prompt", type = "string", required = true },
    { name = "num_outputs", type = "integer", values = [1, 2, 4], default = 1 },
    { name = "scale", type = "float", values = [0.5, 1.0, 2.0] },
    { name = "upscale", type = "boolean", values = [true, false] },
    { name = "mixed", type = "string", values = ["auto", "1", 1, true, ""] },
    { name = "loras", type = "array" },
    { name = "options", type = "object" },
    { name = "9 lives%", type = "string" },
    { name = "image", type = "file" },
]
"#;

/// Guards against an enumeration of numbers, which makes Gemini refuse all tools, and against sending a filler text as the
/// address of a file.
#[cfg(unix)]
#[test]
fn providers_accept_the_schemas_and_json_texts_are_parsed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with_models(data.path(), EVERY_KIND, &[]);
    python("proof_schemas.py", &server, &Value::Null);
}

/// Guards against asking a chat model for a key, against a key in a workflow file, and against a run that fails because of
/// a missing key after another node was paid for.
#[cfg(unix)]
#[test]
fn secrets_come_from_the_environment_or_the_caller() {
    let models = r#"
[[model]]
category = "text"
subcategory = "secret"
name = "Secret"
command = { program = "/bin/sh", arguments = ["-c", "cat > input.json"] }
parameter = [
    { name = "prompt", type = "string", required = true },
    { name = "api_key", type = "string", required = true, secret = true },
    { name = "org-id", type = "string", secret = true, max_length = 40 },
]
"#;
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with_models(data.path(), models, &[]);
    python("proof_secrets.py", &server, &Value::Null);
}

/// Guards against a saved workflow whose values silently move to other inputs after the model's inputs have changed.
#[cfg(unix)]
#[test]
fn a_saved_workflow_is_restored_by_name() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with_models(data.path(), EVERY_KIND, &[]);
    python("proof_saved.py", &server, &Value::Null);
}

#[test]
fn an_assistant_calls_the_tools_of_the_mcp_server() {
    let server = Server::start(&["--speed", "0", "--workers", "4"]);
    python("proof_mcp.py", &server, &Value::Null);
}

/// Guards against a second paid task if a client times out after a minute and calls again.
#[test]
fn a_repeated_tool_call_creates_one_task() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_mcp_again.py", &server, &Value::Null);
}

#[test]
fn the_node_pack_is_a_package_with_a_workflow_for_each_node() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_pack.py", &server, &Value::Null);
}

#[test]
fn other_programs_read_the_recipes_in_files() {
    let server = Server::start(&["--speed", "0", "--draw-scale", "0.25"]);
    let input = json!({"prompt": "a fox, ÄÖ", "seed": 7});
    let models = [("image", "strata"), ("video", "silk"), ("audio", "reverie")];
    let files = models.map(|model| {
        let output = server.output(model, input.clone());
        (format!("{}/{}", model.0, model.1), output[0].clone().into())
    });
    let files: Map<String, Value> = files.into_iter().collect();
    python("proof_recipes.py", &server, &files.into());
}

/// Runs the nodes in ComfyUI itself; COMFYUI_DIR is the path of a checkout: `./dev test comfyui`.
#[test]
#[ignore = "needs a checkout of ComfyUI with its requirements: several gigabytes"]
fn comfyui_runs_the_nodes() {
    let server = Server::start(&["--speed", "1", "--workers", "4"]);
    python("proof_comfyui.py", &server, &Value::Null);
}

/// A model that takes files. Its program outputs the input, which contains the paths of the files.
#[cfg(unix)]
const OWN_FILES: &str = r#"
[[model]]
category = "image"
subcategory = "own-files"
name = "Own files"
command = { program = "/bin/sh", arguments = ["-c", "cat > input.json"] }
parameter = [
    { name = "prompt", type = "string" },
    { name = "image", type = "file" },
    { name = "mask", type = "file" },
    { name = "video", type = "file" },
    { name = "audio", type = "file" },
    { name = "images", type = "array" },
]
"#;

/// Guards against uploading a file twice, against paying twice because an upload is repeated, and against reading a file
/// that a chat model names.
#[cfg(unix)]
#[test]
fn files_of_the_user_are_uploaded_once_or_sent_within_the_request() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with_models(data.path(), OWN_FILES, &["--speed", "0"]);
    python("proof_files.py", &server, &Value::Null);
}

#[test]
fn a_generate_call_that_may_have_arrived_is_not_resent() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_network.py", &server, &Value::Null);
}

#[test]
fn the_files_report_the_progress_of_a_task() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_progress.py", &server, &Value::Null);
}

/// Tests the service against its OpenAPI document with schemathesis: valid and invalid requests, which are the same each
/// time. Checks every response.
#[test]
fn the_service_matches_its_openapi_document() {
    let server = Server::start(&["--token", "secret", "--speed", "100", "--workers", "1"]);
    let interpreter = std::env::var("ATELIER_PYTHON").unwrap_or_else(|_| "python3".into());
    let folder = tempfile::tempdir().unwrap();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/schemathesis.toml");
    let output = Command::new(&interpreter)
        .args([
            "-B",
            "-X",
            "utf8",
            "-m",
            "schemathesis.cli",
            "--config-file",
        ])
        .arg(config)
        .args(["run", &format!("{}/api/openapi.json", server.url)])
        // schemathesis stores its findings in the current folder.
        .current_dir(folder.path())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap_or_else(|error| panic!("{interpreter}: {error}. Set ATELIER_PYTHON."));
    let report = String::from_utf8_lossy(&output.stdout);
    // Each path has one operation. schemathesis does not test the path of the document itself, and not the stream of events.
    let document = server.get("/api/openapi.json").json();
    let operations = document["paths"].as_object().unwrap().len() - 1;
    assert!(
        output.status.success()
            && report.contains(&format!("{} selected / {operations} total", operations - 1)),
        "{report}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn form_function_and_node_accept_the_same_inputs() {
    let server = Server::start(&["--speed", "0"]);
    python("proof_agreement.py", &server, &Value::Array(cases()));
}

/// Tests enumerations that no built-in model has: of numbers, of lists, and of values that look alike. Each is tested
/// as a single choice and as a multiple choice.
///
/// Guards against sending a list of permitted values as a single value.
#[test]
fn form_and_function_accept_the_same_enumerations() {
    let values = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!(true),
        json!(null),
        json!(2.5),
        json!(0),
        json!(-0.0),
        json!(false),
        json!(""),
        json!((1_u64 << 53) + 1),
        json!((1_u64 << 53) as f64),
        json!(u64::MAX),
        json!(u64::MAX as f64),
        json!([1, {"a": 2}]),
        json!([1.0, {"a": 2.0}]),
        json!([true, {"a": 2}]),
        json!({}),
    ];
    let lists = [
        json!([1, 0]),
        json!([1.0, "1"]),
        json!([true, "", null]),
        json!([1, 1.0, true]),
        json!([(1_u64 << 53) + 1, u64::MAX]),
        json!([[1, {"a": 2}], {}]),
        json!([false, 2.5]),
    ];
    let in_lists = values.iter().map(|value| json!([value]));
    let more = [
        json!([]),
        json!([1, "1"]),
        json!([1, 0, 1.0]),
        json!(["", true]),
    ];
    let values: Vec<Value> = values.iter().cloned().chain(in_lists).chain(more).collect();
    let kinds = lists
        .iter()
        .flat_map(|allowed| [("enum", allowed), ("array", allowed)]);
    let cases: Vec<Value> = kinds
        .map(|(kind, allowed)| {
            let schema: Schema = serde_json::from_value(json!({
                "category": "a", "subcategory": "b",
                "parameters": {"optional": [{"name": "n", "type": kind, "allowedValues": allowed}]}
            }))
            .unwrap();
            let texts = ModelTexts {
                name: "A".into(),
                description: String::new(),
                makes: None,
            };
            let verdicts: Vec<Value> = values
                .iter()
                .map(|value| {
                    let draft = Draft::from_values([(&"n".to_owned(), value)]);
                    let verdict = schema.validate(&draft, false);
                    let sent = verdict.as_ref().ok().map(|input| input.values());
                    json!({"value": value, "accepted": verdict.is_ok(), "sent": sent})
                })
                .collect();
            json!({
                "file": render_openai_function(&schema, &texts, "http://127.0.0.1").unwrap(),
                "verdicts": verdicts, "allowed": allowed,
            })
        })
        .collect();
    let server = Server::start(&["--speed", "0"]);
    python("proof_enumerations.py", &server, &Value::Array(cases));
}

/// Returns every parameter of every model with values of all kinds, and the results of the contract's validation.
fn cases() -> Vec<Value> {
    let mut cases = Vec::new();
    for model in Models::built_in().iter() {
        let schema = model.schema();
        let required = schema.parameters().filter(|(_, required)| *required);
        let base: Map<String, Value> = required
            .map(|(parameter, _)| (parameter.name.clone(), json!("a text")))
            .collect();
        for (parameter, _) in schema.parameters() {
            let kind = match parameter.kind() {
                Kind::Text => "text",
                Kind::Enum => "enum",
                Kind::Integer => "integer",
                Kind::Number => "number",
                Kind::Boolean => "boolean",
                other => panic!("no model has a parameter of {other:?}"),
            };
            for value in candidates(parameter).into_iter().map(Some).chain([None]) {
                let mut draft = Draft::from_values(&base);
                match &value {
                    Some(value) => draft.set(&parameter.name, Entry::Value(value.clone())),
                    None => draft.reset(&parameter.name),
                }
                let verdict = schema.validate(&draft, false);
                let sent = verdict
                    .as_ref()
                    .ok()
                    .and_then(|input| input.values().get(&parameter.name));
                cases.push(json!({
                    "model": format!("{}/{}", schema.model.category, schema.model.subcategory),
                    "base": base, "parameter": parameter.name, "kind": kind, "value": value,
                    "absent": value.is_none(), "accepted": verdict.is_ok(), "sent": sent,
                }));
            }
        }
    }
    cases
}

fn candidates(parameter: &Parameter) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(""),
        json!(" "),
        json!("text"),
        json!("1"),
        json!("true"),
        json!(0),
        json!(1),
        json!(-1),
        json!(7),
        json!(1.5),
        json!(2.0),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!([1]),
        json!((1u64 << 53) + 1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!("画像 \"quoted\"\n{{x}}"),
    ];
    if let Some(most) = parameter.max_length() {
        let most = usize::try_from(most).unwrap();
        values.extend([json!("é".repeat(most)), json!("é".repeat(most + 1))]);
    }
    values.extend(parameter.allowed_values.iter().flatten().cloned());
    values.extend(parameter.default.clone());
    for bound in [&parameter.minimum, &parameter.maximum]
        .into_iter()
        .flatten()
    {
        values.push(json!(bound));
        if let Some(whole) = bound.as_u64() {
            values.extend(whole.checked_add(1).map(Value::from));
            values.extend(whole.checked_sub(1).map(Value::from));
        } else if let Some(float) = bound.as_f64() {
            values.extend([json!(float + 0.001), json!(float - 0.001)]);
        }
    }
    values
}
