//! Several processes with a real PostgreSQL and a real bucket, which `./dev test cluster` installs and starts. The tests
//! are ignored otherwise. The tests of the interface also run with these servers.
#![cfg(all(unix, feature = "cluster"))]

#[path = "cluster/cancel.rs"]
mod cancel;
#[path = "cluster/crowd.rs"]
mod crowd;
#[path = "cluster/events.rs"]
mod events;
#[path = "cluster/openai_images.rs"]
mod openai_images;
#[path = "cluster/outage.rs"]
mod outage;
#[path = "cluster/progress.rs"]
mod progress;
#[path = "chaos/proxy.rs"]
mod proxy;
#[path = "cluster/queue_tables.rs"]
mod queue_tables;
#[path = "cluster/silent.rs"]
mod silent;
#[path = "cluster/turns.rs"]
mod turns;
#[path = "cluster/webhooks.rs"]
mod webhooks;

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

/// Within this time, other processes take over the tasks of a dead process.
const LEASE: Duration = Duration::from_secs(20);

/// The database, the bucket and the files that all processes of a test share.
struct Cluster {
    folder: TempDir,
    database: String,
    outputs: String,
}

/// A process that only runs tasks. It is killed on drop.
struct Worker(Child);

impl Cluster {
    /// Creates a database and a models file. The model is a program that takes a while, and records each run in a
    /// journal.
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
            database: cluster::create_database(&database, &name),
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

    /// Runs statements in the database, in one transaction. Returns the result of the last one.
    fn query(&self, statements: &str) -> String {
        let output = Command::new("psql")
            .args(["--quiet", "--tuples-only", "--no-align", "--command"])
            .arg(statements)
            .arg(&self.database)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Returns how often each task was started.
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
    /// Kills the process as `kill -9` does.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the condition `what` is true.
fn wait_until(cluster: &Cluster, what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + 3 * LEASE;
    while !is_so() {
        assert!(
            Instant::now() < deadline,
            "never: {what}\n{}",
            cluster.logs()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for the end of a task, and returns its response from this process.
fn wait_for_end(cluster: &Cluster, server: &Server, task: &Value, deadline: Instant) -> Value {
    loop {
        let data = server.post("/v2/response", task).json()["data"].clone();
        if matches!(data["status"].as_str(), Some("completed" | "failed")) {
            return data;
        }
        assert!(
            Instant::now() < deadline,
            "{task}: {data}\n{}",
            cluster.logs()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn no_task_is_lost_or_completed_twice_when_workers_are_killed() {
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    // All processes start concurrently, and only one creates the schema.
    let mut workers: Vec<Worker> = (0..3).map(|n| cluster.work(&format!("w{n}"))).collect();
    let servers = [cluster.serve("s0", &[]), cluster.serve("s1", &[])];
    let tasks: Vec<Value> = (0..30)
        .map(|n| {
            let model = if n % 3 == 0 { STRATA } else { OWN };
            servers[n % 2].generate(model, json!({"prompt": n.to_string()}))
        })
        .collect();

    // Each worker runs two tasks, which don't end yet.
    cluster.await_runs(6, Duration::from_secs(60));
    workers[0].kill();
    std::thread::sleep(Duration::from_millis(500));
    workers[1].kill();
    workers.push(cluster.work("w3"));
    drop(blocker);

    let deadline = Instant::now() + 15 * LEASE;
    let mut addresses = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        // All processes return the same response.
        let answer = wait_for_end(&cluster, &servers[(n + 1) % 2], task, deadline);
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
    assert_eq!(addresses.len(), tasks.len(), "each task has its own output");
    // The tasks that the killed workers were running were started again. On a busy machine, so may be those of a live
    // worker that misses its heartbeats.
    let runs = cluster.runs();
    assert!(runs.values().any(|runs| *runs > 1), "{runs:?}");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_task_accepted_without_workers_waits_for_one() {
    let cluster = Cluster::new();
    let mut server = cluster.serve("s0", &[]);
    let task = server.generate(OWN, json!({"prompt": "a"}));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(
        server.post("/v2/status", &task).json()["data"]["status"],
        "processing"
    );
    server.kill();
    let server = cluster.serve("s1", &[]);
    let _worker = cluster.work("w0");
    let answer = wait_for_end(&cluster, &server, &task, Instant::now() + LEASE);
    assert_eq!(answer["status"], "completed");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_second_owner_does_not_wait_behind_all_tasks_of_the_first() {
    let cluster = Cluster::new();
    let server = cluster.serve("s0", &[]);
    let ask = |uid: &str| {
        let mut body = request(OWN, json!({"prompt": uid}));
        body["uid"] = uid.into();
        let answer = server.post("/v2/generate", &body).json();
        json!({"uid": uid, "category": OWN.0, "subcategory": OWN.1, "id": answer["data"]["id"]})
    };
    let many: Vec<Value> = (0..20).map(|_| ask("many")).collect();
    let one = ask("one");
    let _worker = cluster.work("w0");
    let deadline = Instant::now() + 3 * LEASE;
    wait_for_end(&cluster, &server, &one, deadline);
    let done =
        |task: &&Value| server.post("/v2/status", task).json()["data"]["status"] == "completed";
    let before = many.iter().filter(done).count();
    assert!(before <= 6, "{before} tasks of the other owner came first");
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn rate_limits_and_idempotency_keys_apply_across_processes() {
    let cluster = Cluster::new();
    // Permits one call, and the next one after many minutes.
    let args = ["--rate", "0.001/s"];
    let servers = [cluster.serve("s0", &args), cluster.serve("s1", &args)];
    let body = json!({"uid": "me", "category": STRATA.0, "subcategory": STRATA.1, "id": "x"});
    let refused = (0..12)
        .filter(|n| servers[n % 2].post("/v2/status", &body).status == 429)
        .count();
    assert_eq!(refused, 11, "refused calls of 12 at both processes");

    let servers = [cluster.serve("s2", &[]), cluster.serve("s3", &[])];
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

/// Guards against processes that don't see a new account, or accept a removed one.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn account_changes_apply_to_all_processes() {
    let cluster = Cluster::new();
    let servers = ["a", "b"].map(|data| cluster.serve(data, &[]));
    let mut task = request(STRATA, json!({}));
    task["uid"] = "ada".into();
    task["id"] = "none".into();
    // Clients with access get 404.
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
            .args(["account", change, "ada", "--database", &cluster.database])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(answers("anything"), [404, 404], "any token is accepted");
    let first = account("add");
    let deadline = Instant::now() + Duration::from_secs(5);
    while answers("anything") != [401, 401] {
        assert!(Instant::now() < deadline, "{:?}", answers("anything"));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(answers(&first), [404, 404]);
    // Lookups are cached for a second.
    let await_refusal = |token: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while answers(token) != [401, 401] {
            assert!(Instant::now() < deadline, "{:?}", answers(token));
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let second = account("rotate");
    assert_eq!(answers(&second), [404, 404]);
    await_refusal(&first);
    account("remove");
    await_refusal(&second);
    let third = cluster.serve("c", &[]);
    let open = third.call("GET", "/api/models", &[], b"").json();
    assert_eq!(open.get("guest"), None);
}

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn doctor_reports_problems_of_a_database() {
    let cluster = Cluster::new();
    let doctor_line = |database: &str, part: &str| {
        let output = Command::new(support::program())
            .args([
                "doctor",
                "--listen",
                "127.0.0.1:0",
                "--database",
                database,
                "--data",
            ])
            .arg(Path::new(cluster.folder.path()).join("d"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let part = format!(" {part}: ");
        let line = text.lines().find(|line| line.contains(&part));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let doctor = |database: &str| doctor_line(database, "database");
    let right = doctor(&cluster.database);
    assert!(
        right.starts_with("ok") && right.contains("PostgreSQL 1"),
        "{right}"
    );
    let missing = doctor(&format!("{}_not", cluster.database));
    assert!(
        missing.starts_with("error") && missing.contains("does not exist"),
        "{missing}"
    );
    let unreachable = doctor("postgres://me:secret@127.0.0.1:1/x");
    assert!(
        unreachable.starts_with("error") && !unreachable.contains("secret"),
        "{unreachable}"
    );

    // Guards against "all accounts were removed" while it can't be read whether there are any.
    cluster.query(
        "CREATE TABLE account (name TEXT, token TEXT, created TIMESTAMPTZ);
         CREATE VIEW account_begun AS SELECT 1 WHERE 1 / (random() * 0)::int > 0",
    );
    let unreadable = doctor_line(&cluster.database, "access");
    assert!(
        unreadable.starts_with("error") && unreadable.contains("division by zero"),
        "{unreadable}"
    );

    // Processes with only one role require a database.
    let alone = Command::new(support::program())
        .args(["work", "--data"])
        .arg(cluster.folder.path().join("d"))
        .env_remove("ATELIER_DATABASE")
        .output()
        .unwrap();
    let error = String::from_utf8(alone.stderr).unwrap();
    assert!(
        !alone.status.success() && error.contains("--database"),
        "{error}"
    );
}
