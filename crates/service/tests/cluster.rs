//! Several processes with one PostgreSQL and one bucket, both real: `./dev test cluster` installs, starts
//! and names them. Not run otherwise. The suites of the interface run with them, too.
#![cfg(all(unix, feature = "cluster"))]

#[path = "cluster/crowd.rs"]
mod crowd;
#[path = "cluster/queue_tables.rs"]
mod queue_tables;
#[path = "cluster/silent.rs"]
mod silent;
#[path = "cluster/turns.rs"]
mod turns;

mod support;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{STRATA, Server, cluster, request};
use tempfile::TempDir;

const OWN: (&str, &str) = ("text", "own");

/// A dead process is known to be dead by then, and its tasks are others'.
const LEASE: Duration = Duration::from_secs(20);

/// What all processes of a test share.
struct Place {
    folder: TempDir,
    database: String,
    outputs: String,
}

/// A process that answers no requests; killed when dropped.
struct Worker(Child);

impl Place {
    /// With a program as a model that takes a while, and writes down each time that it is run.
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let name: String = folder.path().file_name().unwrap().to_string_lossy().into();
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let database = cluster::database().expect("use ./dev test cluster");
        let outputs = cluster::bucket().expect("use ./dev test cluster");
        let program = folder.path().join("program.sh");
        let journal = folder.path().join("journal");
        let script = format!(
            "#!/bin/sh\necho $ATELIER_TASK >> {}\nsleep 0.3\n\
             while [ -e {} ]; do sleep 0.05; done\necho done > 0.txt\n",
            journal.display(),
            folder.path().join("hold").display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let models = format!(
            "[[model]]\ncategory = \"text\"\nsubcategory = \"own\"\nname = \"Own\"\nat_once = 2\n\
             command = {{ program = {program:?} }}\n\
             [[model.parameter]]\nname = \"prompt\"\ntype = \"string\"\n"
        );
        fs::write(folder.path().join("models.toml"), models).unwrap();
        Self {
            database: cluster::made(&database, &name),
            outputs: format!("{outputs}/{name}"),
            folder,
        }
    }

    fn command(&self, role: &str, data: &str, args: &[&str]) -> Command {
        let mut command = Command::new(support::program());
        let data = self.folder.path().join(data);
        let models = self.folder.path().join("models.toml");
        command
            .arg(role)
            .args(["--database", &self.database, "--outputs", &self.outputs])
            .args(["--listen", "127.0.0.1:0", "--models"])
            .arg(models)
            .arg("--data")
            .arg(data)
            .args(args);
        command
    }

    fn serve(&self, data: &str, args: &[&str]) -> Server {
        Server::run(self.command("serve", data, args))
    }

    fn work(&self, data: &str) -> Worker {
        self.work_with(data, &[])
    }

    fn work_with(&self, data: &str, args: &[&str]) -> Worker {
        let log = fs::File::create(self.folder.path().join(format!("{data}.log"))).unwrap();
        let child = self
            .command("work", data, &["--speed", "0", "--workers", "2"])
            .args(args)
            .env("RUST_LOG", "info")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        Worker(child.unwrap())
    }

    /// How often each task was begun.
    fn runs(&self) -> HashMap<String, usize> {
        let journal = fs::read_to_string(self.folder.path().join("journal")).unwrap_or_default();
        let mut runs = HashMap::new();
        for line in journal.lines() {
            *runs.entry(line.to_owned()).or_default() += 1;
        }
        runs
    }

    fn logs(&self) -> String {
        let files = fs::read_dir(self.folder.path()).unwrap().flatten();
        let logs = files.filter(|file| file.path().extension().is_some_and(|e| e == "log"));
        logs.map(|log| fs::read_to_string(log.path()).unwrap())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Worker {
    /// As `kill -9`.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The answer to a finished task, asked of any process.
fn finished(place: &Place, server: &Server, task: &Value, by: Instant) -> Value {
    loop {
        let data = server.post("/v2/response", task).json()["data"].clone();
        if matches!(data["status"].as_str(), Some("completed" | "failed")) {
            return data;
        }
        assert!(Instant::now() < by, "{task}: {data}\n{}", place.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn nothing_is_lost_and_nothing_comes_twice_when_workers_are_killed() {
    let place = Place::new();
    let hold = place.hold();
    // All at the same time: the schema is made once.
    let mut workers: Vec<Worker> = (0..3).map(|n| place.work(&format!("w{n}"))).collect();
    let servers = [place.serve("s0", &[]), place.serve("s1", &[])];
    let tasks: Vec<Value> = (0..30)
        .map(|n| {
            let model = if n % 3 == 0 { STRATA } else { OWN };
            servers[n % 2].generate(model, json!({"prompt": n.to_string()}))
        })
        .collect();

    // Two of each worker, none of which ends.
    place.await_begun(6, Duration::from_secs(60));
    workers[0].kill();
    std::thread::sleep(Duration::from_millis(500));
    workers[1].kill();
    workers.push(place.work("w3"));
    drop(hold);

    let by = Instant::now() + 3 * LEASE;
    let mut addresses = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        // Whichever process is asked says the same.
        let answer = finished(&place, &servers[(n + 1) % 2], task, by);
        assert_eq!(answer["status"], "completed", "{answer}");
        let other = servers[n % 2].post("/v2/response", task).json()["data"].clone();
        assert_eq!(answer["output"].as_array().unwrap().len(), 1);
        let path = |answer: &Value| {
            let url = answer["output"][0].as_str().unwrap();
            url[url.find("/outputs/").unwrap()..].to_owned()
        };
        assert_eq!(path(&answer), path(&other));
        assert_eq!(servers[n % 2].get(&path(&answer)).status, 200);
        addresses.push(path(&answer));
    }
    addresses.sort();
    addresses.dedup();
    assert_eq!(
        addresses.len(),
        tasks.len(),
        "each has an output of its own"
    );
    // Only what a killed worker had begun, two at most each, was begun once more.
    let runs = place.runs();
    assert!(runs.values().all(|runs| *runs <= 3), "{runs:?}");
    let again: usize = runs.values().map(|runs| runs - 1).sum();
    assert!((1..=4).contains(&again), "{runs:?}");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_task_accepted_without_workers_waits_for_one() {
    let place = Place::new();
    let mut server = place.serve("s0", &[]);
    let task = server.generate(OWN, json!({"prompt": "a"}));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(
        server.post("/v2/status", &task).json()["data"]["status"],
        "processing"
    );
    server.kill();
    let server = place.serve("s1", &[]);
    let _worker = place.work("w0");
    let answer = finished(&place, &server, &task, Instant::now() + LEASE);
    assert_eq!(answer["status"], "completed");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_second_owner_does_not_wait_behind_all_tasks_of_the_first() {
    let place = Place::new();
    let server = place.serve("s0", &[]);
    let ask = |uid: &str| {
        let mut body = request(OWN, json!({"prompt": uid}));
        body["uid"] = uid.into();
        let answer = server.post("/v2/generate", &body).json();
        json!({"uid": uid, "category": OWN.0, "subcategory": OWN.1, "id": answer["data"]["id"]})
    };
    let many: Vec<Value> = (0..20).map(|_| ask("many")).collect();
    let one = ask("one");
    let _worker = place.work("w0");
    let by = Instant::now() + 3 * LEASE;
    finished(&place, &server, &one, by);
    let done =
        |task: &&Value| server.post("/v2/status", task).json()["data"]["status"] == "completed";
    let before = many.iter().filter(done).count();
    assert!(before <= 6, "{before} of the other came first");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn calls_are_counted_and_keys_are_known_at_every_process() {
    let place = Place::new();
    // One call, and the next one after many minutes.
    let args = ["--rate", "0.001/s"];
    let servers = [place.serve("s0", &args), place.serve("s1", &args)];
    let body = json!({"uid": "me", "category": STRATA.0, "subcategory": STRATA.1, "id": "x"});
    let refused = (0..12)
        .filter(|n| servers[n % 2].post("/v2/status", &body).status == 429)
        .count();
    assert_eq!(refused, 11, "of 12 at both processes");

    let servers = [place.serve("s2", &[]), place.serve("s3", &[])];
    let body = request(STRATA, json!({"prompt": "a"})).to_string();
    let ask = |server: &Server| {
        let headers = [
            ("authorization", "Bearer t"),
            ("content-type", "application/json"),
            ("idempotency-key", "once"),
        ];
        let answer = server.call("POST", "/v2/generate", &headers, body.as_bytes());
        answer.json()["data"]["id"].as_str().unwrap().to_owned()
    };
    let ids: Vec<String> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let (ask, server) = (&ask, &servers[n % 2]);
                    move || ask(server)
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// Guards against an account that one of the processes does not know, or knows for longer than it is one.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn all_processes_know_the_same_accounts() {
    let place = Place::new();
    let servers = ["a", "b"].map(|data| place.serve(data, &[]));
    let mut task = request(STRATA, json!({}));
    task["uid"] = "ada".into();
    task["id"] = "none".into();
    // 404 is returned to clients that may ask.
    let answers = |token: &str| {
        let authorization = format!("Bearer {token}");
        let headers = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
        ];
        let body = task.to_string();
        let ask = |server: &Server| {
            let answer = server.call("POST", "/v2/status", &headers, body.as_bytes());
            answer.status
        };
        [ask(&servers[0]), ask(&servers[1])]
    };
    let account = |change: &str| {
        let output = Command::new(support::program())
            .args(["account", change, "ada", "--database", &place.database])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(answers("anything"), [404, 404], "open to this machine");
    let first = account("add");
    let patience = Instant::now() + Duration::from_secs(5);
    while answers("anything") != [401, 401] {
        assert!(Instant::now() < patience, "{:?}", answers("anything"));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(answers(&first), [404, 404]);
    // What was looked up is believed for a second.
    let await_refusal = |token: &str| {
        let patience = Instant::now() + Duration::from_secs(60);
        while answers(token) != [401, 401] {
            assert!(Instant::now() < patience, "{:?}", answers(token));
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let second = account("rotate");
    assert_eq!(answers(&second), [404, 404]);
    await_refusal(&first);
    account("remove");
    await_refusal(&second);
    let third = place.serve("c", &[]);
    let open = third.call("GET", "/api/models", &[], b"").json();
    assert_eq!(open.get("guest"), None);
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn doctor_reports_problems_of_a_database() {
    let place = Place::new();
    let doctor = |database: &str| {
        let output = Command::new(support::program())
            .args([
                "doctor",
                "--listen",
                "127.0.0.1:0",
                "--database",
                database,
                "--data",
            ])
            .arg(Path::new(place.folder.path()).join("d"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.contains(" database: "));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let right = doctor(&place.database);
    assert!(
        right.starts_with("ok") && right.contains("PostgreSQL 1"),
        "{right}"
    );
    let missing = doctor(&format!("{}_not", place.database));
    assert!(
        missing.starts_with("error") && missing.contains("does not exist"),
        "{missing}"
    );
    let away = doctor("postgres://me:secret@127.0.0.1:1/x");
    assert!(
        away.starts_with("error") && !away.contains("secret"),
        "{away}"
    );

    // Processes of different roles need one.
    let alone = Command::new(support::program())
        .args(["work", "--data"])
        .arg(place.folder.path().join("d"))
        .env_remove("ATELIER_DATABASE")
        .output()
        .unwrap();
    let said = String::from_utf8(alone.stderr).unwrap();
    assert!(
        !alone.status.success() && said.contains("--database"),
        "{said}"
    );
}
