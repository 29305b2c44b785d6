//! Runs the programs with the shell, Python, Node.js and Cargo, against a service that records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::*;

/// Secret parameters: name, environment variable and value.
const SECRETS: [(&str, &str, &str); 2] = [
    ("api_key", "API_KEY", "sk-\"\\ $HOME '\n&%s\\n"),
    ("service_token", "MODEL_SERVICE_TOKEN", "sk-é"),
];

/// Starts a service that completes every task at once. Returns its address, and the path, `Authorization` and body of each
/// request.
fn service() -> (String, mpsc::Receiver<(String, String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Some(call) = answer(stream) {
                let _ = sender.send(call);
            }
        }
    });
    (address, received)
}

fn answer(stream: TcpStream) -> Option<(String, String, Value)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let data = match path.as_str() {
        "/v2/generate" => json!({"id": "t-1", "status": "starting"}),
        "/v2/status" => json!({"id": "t-1", "status": "completed"}),
        _ => json!({"status": "completed", "output": ["https://a/1.png", "https://a/2.png"]}),
    };
    let reply = json!({"success": true, "data": data}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    reader
        .get_mut()
        .write_all((head + &reply).as_bytes())
        .ok()?;
    Some((path, authorization, serde_json::from_slice(&body).ok()?))
}

/// Compiles a Rust program with the crates in its header; returns the executable.
fn compiled(program: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/debug/deps/test
    let target = test.ancestors().nth(3).unwrap();
    let project = target.join("copy-as-rust");
    std::fs::create_dir_all(project.join("src")).unwrap();
    let given = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/share/snippet/copy-as-rust");
    for file in ["Cargo.toml", "Cargo.lock"] {
        std::fs::copy(given.join(file), project.join(file)).unwrap();
    }
    std::fs::write(project.join("src/main.rs"), program).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked"])
        .current_dir(&project)
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{program}");
    project.join("target/debug/copy-as-rust")
}

fn run(language: Language, program: &str) -> String {
    let (command, arguments): (PathBuf, &[&str]) = match language {
        Language::Curl => ("sh".into(), &["-s"]),
        Language::Python => ("python3".into(), &["-"]),
        Language::JavaScript => ("node".into(), &["--input-type=module", "-"]),
        Language::Rust => (compiled(program), &[]),
    };
    let mut child = Command::new(&command)
        .args(arguments)
        .env("SERVICE_TOKEN", "token-value")
        .envs(SECRETS.map(|(_, variable, value)| (variable, value)))
        .env("SERVICE_UID", "me")
        .env("NO_PROXY", "127.0.0.1")
        .env("no_proxy", "127.0.0.1")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if language != Language::Rust {
        stdin.write_all(program.as_bytes()).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let command = command.display();
    assert!(output.status.success(), "{command}: {errors}\n{program}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program, and checks that the service receives exactly these values and the outputs are printed.
fn carries(language: Language, model: &ModelId, values: &Map<String, Value>) {
    let (address, received) = service();
    let secrets = SECRETS.map(|(name, ..)| name.to_owned());
    let program = snippet(language, &format!("{address}/"), model, values, &secrets);
    assert!(!program.contains("token-value") && !program.contains("sk-"));
    let printed = run(language, &program);
    assert!(
        printed.contains("https://a/1.png") && printed.contains("https://a/2.png"),
        "{printed}"
    );

    let mut expected = identity(model);
    expected.insert("uid".into(), "me".into());
    let mut generate = expected.clone();
    generate.extend(values.clone());
    let secrets = SECRETS.map(|(name, _, value)| (name.to_owned(), value.into()));
    generate.extend(secrets);
    expected.insert("id".into(), "t-1".into());
    for (path, body) in [
        ("/v2/generate", generate),
        ("/v2/status", expected.clone()),
        ("/v2/response", expected),
    ] {
        let call = received.recv().unwrap();
        assert_eq!(
            call,
            (
                path.to_owned(),
                "Bearer token-value".into(),
                Value::Object(body)
            )
        );
    }
}

fn hostile() -> (ModelId, Map<String, Value>) {
    let values = json!({
        "prompt": "it's \"quoted\" `id` $(id) $HOME ${HOME} \\ \\n \n\r\t\u{0}\u{8} %s !! é 東京 🦊 \u{2028}\u{202e}\u{feff}\u{85}",
        "end": "'''; import os; \"\"\" # */ </script> \"### r#\"x\"# @VALUES@",
        "seed": u64::MAX,
        "low": i64::MIN,
        "cfg": 7.5,
        "tiny": 1e-7,
        "flags": [true, false, null, {"a'b": "c\"d"}],
        "a name'd \"x\"": null,
        "__proto__": {"x": 1},
        "def": ""
    });
    let Value::Object(values) = values else {
        unreachable!()
    };
    (ModelId::new("image's", "@VALUES@ $(x) \"y\" \\"), values)
}

#[test]
fn hostile_values_arrive_unchanged() {
    let (model, values) = hostile();
    for language in [Language::Curl, Language::Python, Language::JavaScript] {
        carries(language, &model, &values);
        carries(language, &ModelId::new("image", "a"), &Map::new());
    }
}

/// The programs run one after the other, because Cargo uses the same package for all of them.
#[test]
fn rust_programs_compile_and_send_hostile_values_unchanged() {
    let (model, values) = hostile();
    carries(Language::Rust, &model, &values);
    carries(Language::Rust, &ModelId::new("image", "a"), &Map::new());
}

#[test]
fn any_text_arrives_unchanged() {
    let config = Config {
        cases: 6,
        failure_persistence: None,
        ..Config::default()
    };
    let texts = prop::collection::vec("(?s).{0,40}|['\"\\\\$`\n!#@{}]{0,20}", 4);
    let result = TestRunner::new(config).run(&texts, |texts| {
        let values = texts
            .iter()
            .enumerate()
            .map(|(n, text)| (format!("{n}{text}"), Value::String(text.clone())))
            .collect();
        for language in [Language::Curl, Language::Python, Language::JavaScript] {
            carries(
                language,
                &ModelId::new(texts[0].clone(), texts[1].clone()),
                &values,
            );
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn rust_literals_contain_their_text() {
    let (model, values) = hostile();
    let program = snippet(Language::Rust, "https://s.example/", &model, &values, &[]);
    let literals: Vec<Value> = program
        .split("from_str(r")
        .skip(1)
        .map(|rest| {
            let hashes = rest.find('"').unwrap();
            let end = format!("\"{}", &rest[..hashes]);
            let (inside, _) = rest[hashes + 1..].split_once(&end).unwrap();
            serde_json::from_str(inside).unwrap()
        })
        .collect();
    assert_eq!(
        literals,
        [Value::Object(identity(&model)), Value::Object(values)]
    );
    assert!(program.contains("r#\"https://s.example\"#"));
}

#[test]
fn an_invalid_form_is_shown_as_typed() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "prompt", "type": "string"}, {"name": "size", "type": "string", "default": "m"}],
            "optional": [{"name": "steps", "type": "integer", "default": 4}, {"name": "seed", "type": "integer"}]
        }
    }))
    .unwrap();
    let mut draft = Draft::default();
    draft.set("steps", Entry::Text("many".into()));
    draft.set("seed", Entry::Text("18446744073709551615".into()));
    assert_eq!(
        Value::Object(values(&schema, &draft, true)),
        json!({"size": "m", "steps": "many", "seed": u64::MAX})
    );
    draft.reset("steps");
    assert_eq!(
        Value::Object(values(&schema, &draft, true)),
        json!({"size": "m", "steps": 4, "seed": u64::MAX})
    );
}

proptest! {
    /// Generate and the copied code send the same values.
    #[test]
    fn a_valid_form_and_its_code_send_the_same_values(prompt in "[a-z ]{0,5}", seed in "[0-9]{0,5}", ratio in "1|2.0|x", send_defaults: bool) {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string", "default": "cat"}],
                "optional": [
                    {"name": "seed", "type": "integer", "default": 4},
                    {"name": "ratio", "type": "enum", "allowedValues": [1, 2]},
                    {"name": "note", "type": "string", "default": null},
                    {"name": "tiled", "type": "boolean", "default": false}
                ]
            }
        }))
        .unwrap();
        let mut draft = Draft::default();
        for (name, text) in [("prompt", prompt), ("seed", seed), ("ratio", ratio)] {
            draft.set(name, Entry::Text(text));
        }
        if let Ok(input) = schema.validate(&draft, send_defaults) {
            prop_assert_eq!(&values(&schema, &draft, send_defaults), input.values());
        }
    }
}
