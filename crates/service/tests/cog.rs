//! Models in cog containers, with the real servers from PyPI, which `./dev test runners` installs. `ATELIER_COG` contains
//! the folders of their virtual environments, separated by colons. The tests are ignored otherwise. `containers.rs` tests
//! behavior of containers that these servers don't show.

mod support;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::small_server::unused_address;
use support::{Server, try_call, until};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "cog");

/// A running cog server with a small predictor.
struct Cog {
    child: Child,
    url: String,
}

/// An installed version of cog, and a folder with the predictor and its schema.
struct Installed {
    bin: PathBuf,
    folder: TempDir,
    journal: PathBuf,
}

/// Returns the installed versions with the predictor in `cog/`.
fn installed() -> Vec<Installed> {
    installed_with("cog", |_| {})
}

/// Returns the installed versions with the streaming predictor in `cog/stream/`.
fn installed_streaming() -> Vec<Installed> {
    installed_with("cog/stream", |schema| {
        // The command line of cog 0.23, which builds images, declares it.
        schema["paths"]["/predictions"]["post"]["x-cog-streaming"] = true.into();
    })
}

/// `declare` changes the printed schema, which newer versions read from a file.
fn installed_with(predictor: &str, declare: impl Fn(&mut Value)) -> Vec<Installed> {
    let named =
        std::env::var("ATELIER_COG").expect("ATELIER_COG is not set; use ./dev test runners");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(predictor);
    let all: Vec<PathBuf> = std::env::split_paths(&named)
        .map(|path| path.join("bin"))
        .collect();
    let schema = all.iter().find_map(|bin| {
        let printed = Command::new(bin.join("python"))
            .args(["-m", "cog.command.openapi_schema"])
            .current_dir(&sources)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .ok()?;
        printed.status.success().then_some(printed.stdout)
    });
    let schema = schema.expect("one version prints the schema");
    let mut schema: Value = serde_json::from_slice(&schema).unwrap();
    declare(&mut schema);
    let schema = schema.to_string();
    all.into_iter()
        .map(|bin| {
            let folder = TempDir::new().unwrap();
            for name in ["cog.yaml", "predict.py"] {
                fs::copy(sources.join(name), folder.path().join(name)).unwrap();
            }
            fs::create_dir(folder.path().join(".cog")).unwrap();
            fs::write(folder.path().join(".cog/openapi_schema.json"), &schema).unwrap();
            let journal = folder.path().join("journal");
            Installed {
                bin,
                folder,
                journal,
            }
        })
        .collect()
}

impl Installed {
    fn start(&self, address: SocketAddr) -> Cog {
        let path = std::env::var_os("PATH").unwrap();
        let paths = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&path));
        let child = Command::new(self.bin.join("python"))
            .args(["-m", "cog.server.http", "--host", "127.0.0.1"])
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(paths).unwrap())
            .env("PORT", address.port().to_string())
            .env("COG_PREDICT_TYPE_STUB", "predict.py:Predictor")
            .env("PREDICTIONS", &self.journal)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cog = Cog {
            child,
            url: format!("http://{address}"),
        };
        until("cog is ready", || {
            let health = try_call("GET", &format!("{}/health-check", cog.url), &[], b"");
            health.is_ok_and(|answer| answer.json()["status"] == "READY")
        });
        cog
    }

    /// Returns the prompts that the predictor has run.
    fn prompts(&self) -> Vec<String> {
        let journal = fs::read_to_string(&self.journal).unwrap_or_default();
        journal.lines().map(str::to_owned).collect()
    }

    fn await_run(&self, count: usize) {
        until("the prompts are run", || self.prompts().len() >= count);
    }
}

impl Drop for Cog {
    fn drop(&mut self) {
        // SIGTERM lets the server end its own child processes.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        for _ in 0..50 {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn models(address: &str) -> String {
    format!(
        "[[model]]\ncategory = \"image\"\nsubcategory = \"cog\"\nname = \"Cog\"\nmakes = \"image\"\n\
         [model.cog]\naddress = \"{address}\"\n"
    )
}

fn is_available(entry: &Value) -> bool {
    entry.get("away").is_none()
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_schema_inputs_outputs_and_failures() {
    for version in installed() {
        let cog = version.start(unused_address());
        let data = TempDir::new().unwrap();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &["--speed", "0"]);
        let schema = server.get("/api/schema/image/cog").json()["data"]["parameters"].clone();
        assert_eq!(schema["required"][0]["name"], "prompt");
        let optional = schema["optional"].as_array().unwrap();
        let names: Vec<_> = optional
            .iter()
            .map(|p| p["name"].as_str().unwrap())
            .collect();
        let order = [
            "colour", "size", "strength", "count", "seed", "image", "seconds", "fail",
        ];
        assert_eq!(names, order);
        assert_eq!(
            optional[0]["allowedValues"],
            json!(["red", "green", "blue"])
        );
        assert_eq!(
            (&optional[1]["minimum"], &optional[1]["maximum"]),
            (&json!(16), &json!(512))
        );
        assert_eq!(optional[5]["format"], "uri");

        let urls = server.output(MODEL, json!({"prompt": "a", "count": 2, "colour": "red"}));
        assert_eq!(urls.len(), 2);
        let first = server.get(&urls[0]);
        assert_eq!(first.header("content-type"), "image/png");
        assert!(first.bytes.starts_with(b"\x89PNG"));
        // An output of the service can be an input file.
        let onto = json!({"prompt": "b", "image": urls[0], "seed": null});
        assert_ne!(
            server.get(&server.output(MODEL, onto)[0]).bytes,
            first.bytes
        );

        let refused = server.post(
            "/v2/generate",
            &support::request(MODEL, json!({"prompt": "a", "size": 5})),
        );
        assert_eq!(refused.error(), "invalid_input");
        let failing = json!({"prompt": "c", "fail": true, "seconds": 0.5});
        let failed = server.wait(&server.generate(MODEL, failing));
        assert_eq!(failed["status"], "failed");
        assert!(
            failed["error"]
                .as_str()
                .unwrap()
                .contains("the paint has run out"),
            "{failed}"
        );
    }
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_tasks_are_resumed_after_a_kill_and_wait_for_a_busy_container() {
    for version in installed() {
        let cog = version.start(unused_address());
        let data = TempDir::new().unwrap();
        let mut server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let task = server.generate(MODEL, json!({"prompt": "slow", "seconds": 4}));
        version.await_run(1);
        server.kill();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let next = server.generate(MODEL, json!({"prompt": "next"}));
        assert_eq!(server.wait(&task)["status"], "completed");
        assert_eq!(server.wait(&next)["status"], "completed");
        // The first prediction, whose files could not be fetched, was cancelled.
        assert_eq!(version.prompts(), ["slow", "slow", "next"]);

        // Another client uses the container.
        let other = json!({"input": {"prompt": "other", "seconds": 2}}).to_string();
        let headers = [
            ("content-type", "application/json"),
            ("prefer", "respond-async"),
        ];
        let url = format!("{}/predictions/other", cog.url);
        let begun = try_call("PUT", &url, &headers, other.as_bytes()).unwrap();
        assert_eq!(begun.status, 202, "{}", begun.text());
        version.await_run(4);
        let task = server.generate(MODEL, json!({"prompt": "patient"}));
        server.await_log("the container is busy");
        assert_eq!(server.wait(&task)["status"], "completed");
        assert_eq!(version.prompts().last().unwrap(), "patient");
    }
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_a_canceled_prediction_ends_and_frees_the_container() {
    for version in installed() {
        let cog = version.start(unused_address());
        let data = TempDir::new().unwrap();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let task = server.generate(MODEL, json!({"prompt": "long", "seconds": 3600}));
        version.await_run(1);
        let waiting = server.generate(MODEL, json!({"prompt": "never"}));
        for task in [&waiting, &task] {
            let canceled = server.post("/v2/cancel", task).json();
            assert_eq!(canceled["data"]["canceled"], true, "{canceled}");
        }
        // The first prediction would take an hour.
        let next = server.generate(MODEL, json!({"prompt": "next"}));
        assert_eq!(server.wait(&next)["status"], "completed");
        assert_eq!(version.prompts(), ["long", "next"]);
        assert_eq!(server.wait(&task)["error"], "Canceled");
    }
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_a_stopped_container_is_unavailable_until_it_restarts() {
    for version in installed() {
        let address = unused_address();
        let data = TempDir::new().unwrap();
        let cog = version.start(address);
        let models = models(&cog.url);
        let server = Server::start_with_models(data.path(), &models, &[]);
        server.await_model(MODEL, is_available);
        drop((server, cog));
        // The schema is cached.
        let server = Server::start_with_models(data.path(), &models, &[]);
        server.await_model(MODEL, |entry| !is_available(entry));
        let task = server.generate(MODEL, json!({"prompt": "a", "size": 32}));
        server.await_log("trying again");
        let _cog = version.start(address);
        assert_eq!(server.wait(&task)["status"], "completed");
        server.await_model(MODEL, is_available);
    }
}

fn texts(server: &Server, urls: &[String]) -> Vec<String> {
    urls.iter().map(|url| server.get(url).text()).collect()
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_a_streaming_model_reports_its_log_and_its_files_arrive() {
    let mut streaming = 0;
    for version in installed_streaming() {
        let cog = version.start(unused_address());
        let document = try_call("GET", &format!("{}/openapi.json", cog.url), &[], b"").unwrap();
        let operation = &document.json()["paths"]["/predictions"]["post"];
        let is_streaming = operation["x-cog-streaming"] == true;
        let data = TempDir::new().unwrap();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &["--speed", "0"]);
        let task = server.generate(MODEL, json!({"prompt": "a", "seconds": 1}));
        if is_streaming {
            streaming += 1;
            let status = server.await_status(&task, |status| status["progress"] == 0.1);
            assert!(status["message"].is_string(), "{status}");
            let status = server.await_status(&task, |status| status["progress"] == 0.66);
            assert_eq!(status["message"], "66%|##   | 2/3 [00:03<00:04,  2.66it/s]");
        }
        let urls = server.output_of(&task);
        assert_eq!(texts(&server, &urls), ["a 0", "a 1", "a 2"]);
        let failing = server.generate(MODEL, json!({"prompt": "b", "fail": true}));
        let failed = server.wait(&failing)["error"].to_string();
        assert!(failed.contains("the paint has run out"), "{failed}");
        assert_eq!(version.prompts(), ["a", "b"]);

        // More lines than the container holds for a slow client.
        let urls = server.output(MODEL, json!({"prompt": "c", "lines": 20_000}));
        assert_eq!(texts(&server, &urls), ["c 0", "c 1", "c 2"]);
    }
    assert_eq!(streaming, 1, "one version streams");
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_a_stream_is_canceled_and_repeated_after_a_kill() {
    for version in installed_streaming() {
        let cog = version.start(unused_address());
        let data = TempDir::new().unwrap();
        let mut server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let task = server.generate(MODEL, json!({"prompt": "long", "seconds": 3600}));
        version.await_run(1);
        let canceled = server.post("/v2/cancel", &task).json();
        assert_eq!(canceled["data"]["canceled"], true, "{canceled}");
        // The first prediction would take hours.
        let task = server.generate(MODEL, json!({"prompt": "slow", "seconds": 1}));
        version.await_run(2);
        server.kill();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let urls = server.output_of(&task);
        assert_eq!(texts(&server, &urls), ["slow 0", "slow 1", "slow 2"]);
        assert_eq!(version.prompts(), ["long", "slow", "slow"]);
    }
}
