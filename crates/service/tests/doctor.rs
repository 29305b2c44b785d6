//! `atelier-service doctor`: reports problems of a configuration before the start.

mod support;

use std::path::Path;
use std::process::Command;

use support::Server;
use tempfile::TempDir;

/// Runs `doctor`. Returns whether it succeeds, and its output.
fn doctor(data: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .arg("doctor")
        .args(args)
        .arg("--data")
        .arg(data)
        .env_remove("ATELIER_SERVICE_TOKEN")
        .env_remove("NO_SUCH_KEY")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.success(), text)
}

/// Returns the line of a part.
fn line<'a>(text: &'a str, part: &str) -> &'a str {
    let of_part = |line: &&str| line[9..].starts_with(&format!("{part}: "));
    text.lines()
        .find(of_part)
        .unwrap_or_else(|| panic!("no {part} in\n{text}"))
}

const FREE: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn a_missing_directory_is_ok_and_is_not_created() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("a/b");
    let (succeeds, text) = doctor(&data, &FREE);
    assert!(succeeds, "{text}");
    for part in [
        "data", "disk", "uploads", "recipes", "webhooks", "database", "access", "address", "clock",
    ] {
        assert!(line(&text, part).starts_with("ok "), "{text}");
    }
    assert!(!folder.path().join("a").exists());
}

#[test]
fn problems_are_reported_with_what_to_do() {
    let data = TempDir::new().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::fs::write(data.path().join("plain"), "x").unwrap();
    let models = data.path().join("models.toml");
    std::fs::write(
        &models,
        "[[model]]\ncategory = \"image\"\nsubcategory = \"a\"\nname = \"A\"\ndescription = \"A\"\n\
         [model.command]\nprogram = \"plain\"\n\
         [[model]]\ncategory = \"image\"\nsubcategory = \"b\"\nname = \"B\"\ndescription = \"B\"\n\
         [model.openai]\naddress = \"http://127.0.0.1:9/v1\"\n",
    )
    .unwrap();
    let models = models.to_str().unwrap();
    let site = data.path().to_str().unwrap();
    let args = ["--listen", &address, "--models", models, "--site", site];
    let (succeeds, text) = doctor(data.path(), &args);
    assert!(!succeeds);
    let program = line(&text, "model image/a");
    assert!(
        program.starts_with("error ") && program.contains("chmod +x"),
        "{text}"
    );
    assert!(
        line(&text, "model image/b").starts_with("warning "),
        "{text}"
    );
    assert!(line(&text, "address").starts_with("error "), "{text}");
    assert!(line(&text, "site").starts_with("error "), "{text}");

    std::fs::write(
        models,
        "[[model]]\ncategory = \"image\"\nsubcategory = \"b\"\nname = \"B\"\ndescription = \"B\"\n\
         [model.openai]\naddress = \"http://127.0.0.1:9/v1\"\nkey_env = \"NO_SUCH_KEY\"\n",
    )
    .unwrap();
    let (succeeds, text) = doctor(
        data.path(),
        &["--listen", "127.0.0.1:0", "--models", models],
    );
    assert!(!succeeds);
    let found = line(&text, "models");
    assert!(
        found.contains("models.toml:8") && found.contains("NO_SUCH_KEY"),
        "{text}"
    );

    let (succeeds, text) = doctor(data.path(), &["--listen", "0.0.0.0:0"]);
    assert!(
        !succeeds && line(&text, "access").contains("account add"),
        "{text}"
    );
    let public = [
        "--listen",
        "127.0.0.1:0",
        "--public-url",
        "https://a.example",
    ];
    let (succeeds, text) = doctor(data.path(), &public);
    assert!(
        succeeds && line(&text, "access").starts_with("warning "),
        "{text}"
    );
    assert!(line(&text, "proxy").starts_with("warning "), "{text}");
    let file = data.path().join("plain");
    let (succeeds, text) = doctor(&file, &FREE);
    assert!(
        !succeeds && line(&text, "data").contains("no directory"),
        "{text}"
    );
}

#[test]
fn a_database_of_another_version_or_another_file_is_reported() {
    let data = TempDir::new().unwrap();
    let mut server = Server::start_on(data.path(), &[]);
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let (succeeds, text) = doctor(data.path(), &["--listen", &address]);
    assert!(succeeds, "a running service is not an error:\n{text}");
    assert!(line(&text, "database").starts_with("warning "), "{text}");
    assert!(line(&text, "address").starts_with("warning "), "{text}");
    server.kill();
    let (succeeds, text) = doctor(data.path(), &FREE);
    assert!(
        succeeds && line(&text, "database").starts_with("ok "),
        "{text}"
    );
    let file = data.path().join("tasks.sqlite");
    let version = |version: u32| {
        let database = rusqlite::Connection::open(&file).unwrap();
        database
            .pragma_update(None, "user_version", version)
            .unwrap();
    };
    version(3);
    let (succeeds, text) = doctor(data.path(), &FREE);
    assert!(
        succeeds && line(&text, "database").contains("back it up"),
        "{text}"
    );
    version(99);
    let (succeeds, text) = doctor(data.path(), &FREE);
    assert!(
        !succeeds && line(&text, "database").contains("newer"),
        "{text}"
    );
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(data.path().join(format!("tasks.sqlite{end}")));
    }
    std::fs::write(
        &file,
        "this is no database, and that is quite sure ".repeat(9),
    )
    .unwrap();
    let (succeeds, text) = doctor(data.path(), &FREE);
    assert!(
        !succeeds && line(&text, "database").contains("backup"),
        "{text}"
    );
}

/// Guards against a problem that is reported twice or with an error code of the system, and against "1 models".
#[test]
fn an_unavailable_model_is_reported_once_in_plain_words() {
    let data = TempDir::new().unwrap();
    let models = data.path().join("models.toml");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let text = format!(
        "builtin = false\n[[model]]\ncategory = \"image\"\nsubcategory = \"b\"\nname = \"B\"\n\
         [model.openai]\naddress = \"http://{address}/v1\"\n"
    );
    std::fs::write(&models, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(["doctor", FREE[0], FREE[1], "--models"])
        .args([&models, Path::new("--data"), data.path()])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(line(&text, "models").ends_with(": 1 model"), "{text}");
    let unavailable = line(&text, "model image/b");
    assert!(unavailable.contains("connection refused"), "{text}");
    assert!(!unavailable.contains("os error"), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Guards against printing the address before the start can fail.
#[test]
fn a_refused_start_prints_no_address() {
    let data = TempDir::new().unwrap();
    let models = data.path().join("models.toml");
    std::fs::write(&models, "no_such_key = 1\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
        .args(FREE)
        .args([Path::new("--models"), &models])
        .args([Path::new("--data"), data.path()])
        .env_remove("ATELIER_SERVICE_TOKEN")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("no_such_key"), "{log}");
}

/// Guards against a workflow that ComfyUI refuses only when the first task is sent: one in the editor's format, or with
/// an invalid node.
#[test]
fn a_wrong_workflow_is_refused_by_doctor_and_at_start() {
    let node = r#"{"class_type": "A", "inputs": {"text": ""}}"#;
    for (workflow, input, words) in [
        (
            r#"{"nodes": [], "links": []}"#.to_owned(),
            "6.text",
            "Export (API)",
        ),
        (
            format!(r#"{{"6": {node}, "15": {{}}}}"#),
            "6.text",
            "node 15",
        ),
    ] {
        let data = TempDir::new().unwrap();
        std::fs::write(data.path().join("workflow.json"), workflow).unwrap();
        let models = data.path().join("models.toml");
        let text = format!(
            "[[model]]\ncategory = \"image\"\nsubcategory = \"b\"\nname = \"B\"\n\
             [model.comfyui]\naddress = \"http://127.0.0.1:9\"\nworkflow = \"workflow.json\"\n\
             [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\ninput = \"{input}\"\n"
        );
        std::fs::write(&models, text).unwrap();
        let models = models.to_str().unwrap();
        let (succeeds, text) = doctor(data.path(), &[FREE[0], FREE[1], "--models", models]);
        let found = line(&text, "models");
        assert!(!succeeds && found.contains(words), "{text}");
        let started = Command::new(env!("CARGO_BIN_EXE_atelier-service"))
            .args(FREE)
            .args(["--models", models, "--data"])
            .arg(data.path())
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&started.stderr);
        assert!(!started.status.success() && log.contains(words), "{log}");
    }
}

/// Guards against a parameter that replaces a connection of the workflow without a warning.
#[test]
fn a_parameter_that_replaces_a_connection_is_reported_by_doctor() {
    let data = TempDir::new().unwrap();
    let workflow = r#"{"6": {"class_type": "A", "inputs": {"text": ""}}, "3": {"class_type": "B", "inputs": {"positive": ["6", 0]}}}"#;
    std::fs::write(data.path().join("workflow.json"), workflow).unwrap();
    let models = data.path().join("models.toml");
    std::fs::write(
        &models,
        "[[model]]\ncategory = \"image\"\nsubcategory = \"b\"\nname = \"B\"\n\
         [model.comfyui]\naddress = \"http://127.0.0.1:9\"\nworkflow = \"workflow.json\"\n\
         [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\ninput = \"3.positive\"\n",
    )
    .unwrap();
    let models = models.to_str().unwrap();
    let (_, text) = doctor(data.path(), &[FREE[0], FREE[1], "--models", models]);
    assert!(text.contains("connected to node 6"), "{text}");
    assert!(text.contains("6.text"), "{text}");
}

/// Guards against a misspelled name in `environment` that causes no warning.
#[cfg(unix)]
#[test]
fn an_unset_variable_of_a_program_is_reported_by_doctor_and_at_start() {
    let data = TempDir::new().unwrap();
    let models = data.path().join("models.toml");
    std::fs::write(
        &models,
        "[[model]]\ncategory = \"image\"\nsubcategory = \"a\"\nname = \"A\"\n\
         [model.command]\nprogram = \"/bin/cat\"\nenvironment = [\"PATH\", \"NO_SUCH_KEY\"]\n",
    )
    .unwrap();
    let models = models.to_str().unwrap();
    let (succeeds, text) = doctor(data.path(), &[FREE[0], FREE[1], "--models", models]);
    let found: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("environment:"))
        .collect();
    assert!(succeeds && found.len() == 1, "{text}");
    for words in ["warning ", "model image/a: ", "NO_SUCH_KEY is not set"] {
        assert!(found[0].contains(words), "{text}");
    }
    let server = Server::start_on(data.path(), &["--models", models]);
    server.await_log("image/a: environment: NO_SUCH_KEY is not set");
}

/// Guards against a report that contains the secret.
#[test]
fn an_invalid_secret_of_webhooks_is_reported() {
    let data = TempDir::new().unwrap();
    let options = |secret| {
        let webhooks = [
            "--webhooks",
            "a.example,*.b.example",
            "--webhook-secret",
            secret,
        ];
        [&FREE[..], &webhooks].concat()
    };
    let (succeeds, text) = doctor(data.path(), &options("whsec_short"));
    let found = line(&text, "webhooks");
    assert!(
        !succeeds && found.starts_with("error ") && found.contains("24 to 64 bytes"),
        "{text}"
    );
    assert!(!text.contains("whsec_short"), "{text}");
    let good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let (succeeds, text) = doctor(data.path(), &options(good));
    assert!(
        succeeds && line(&text, "webhooks").contains("2 named hosts"),
        "{text}"
    );
}
