//! Models in cog containers: the real servers from PyPI, which `./dev test runners` installs and names
//! in `ATELIER_COG` (folders of virtual environments, with a colon between). Not run otherwise; for what
//! a container may do that these don't, see `containers.rs`.

mod support;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::small_server::nobody;
use support::{Server, try_call};
use tempfile::TempDir;

const MODEL: (&str, &str) = ("image", "cog");

/// A cog server with the small predictor next to this file.
struct Cog {
    child: Child,
    url: String,
}

/// One installed version, and a folder with the predictor and its schema.
struct Installed {
    bin: PathBuf,
    folder: TempDir,
    journal: PathBuf,
}

fn installed() -> Vec<Installed> {
    let named =
        std::env::var("ATELIER_COG").expect("ATELIER_COG names no cog; use ./dev test runners");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cog");
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
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let health = try_call("GET", &format!("{}/health-check", cog.url), &[], b"");
            if health.is_ok_and(|answer| answer.json()["status"] == "READY") {
                return cog;
            }
            assert!(Instant::now() < deadline, "cog does not get ready");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The prompts that were really run.
    fn ran(&self) -> Vec<String> {
        let journal = fs::read_to_string(&self.journal).unwrap_or_default();
        journal.lines().map(str::to_owned).collect()
    }

    fn await_run(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.ran().len() < count {
            assert!(Instant::now() < deadline, "{:?}", self.ran());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cog {
    fn drop(&mut self) {
        // It ends what it has started itself.
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

fn there(entry: &Value) -> bool {
    entry.get("away").is_none()
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_schema_inputs_outputs_and_failures_of_the_real_thing() {
    for version in installed() {
        let cog = version.start(nobody());
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
        // An output of ours goes in as a file.
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
fn runners_a_killed_service_takes_its_task_up_again_and_a_busy_container_is_waited_for() {
    for version in installed() {
        let cog = version.start(nobody());
        let data = TempDir::new().unwrap();
        let mut server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let task = server.generate(MODEL, json!({"prompt": "slow", "seconds": 4}));
        version.await_run(1);
        server.kill();
        let server = Server::start_with_models(data.path(), &models(&cog.url), &[]);
        let next = server.generate(MODEL, json!({"prompt": "next"}));
        assert_eq!(server.wait(&task)["status"], "completed");
        assert_eq!(server.wait(&next)["status"], "completed");
        // The one whose files could not be fetched was ended, and its time given back.
        assert_eq!(version.ran(), ["slow", "slow", "next"]);

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
        assert_eq!(version.ran().last().unwrap(), "patient");
    }
}

#[test]
#[ignore = "needs cog: ./dev test runners"]
fn runners_a_stopped_container_is_said_to_be_away_and_comes_back() {
    for version in installed() {
        let address = nobody();
        let data = TempDir::new().unwrap();
        let cog = version.start(address);
        let models = models(&cog.url);
        let server = Server::start_with_models(data.path(), &models, &[]);
        server.await_model(MODEL, there);
        drop((server, cog));
        // Its schema is known all the same.
        let server = Server::start_with_models(data.path(), &models, &[]);
        server.await_model(MODEL, |entry| !there(entry));
        let task = server.generate(MODEL, json!({"prompt": "a", "size": 32}));
        server.await_log("trying again");
        let _cog = version.start(address);
        assert_eq!(server.wait(&task)["status"], "completed");
        server.await_model(MODEL, there);
    }
}
