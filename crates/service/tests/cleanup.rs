//! The clean-up of old tasks.

mod support;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use support::{STRATA, Server, request, until};

const QUICK: [&str; 2] = ["--speed", "0"];

fn output_of(server: &Server, task: &Value) -> String {
    let answer = server.post("/v2/response", task).json();
    answer["data"]["output"][0].as_str().unwrap().to_owned()
}

/// Moves the end of a task some days into the past.
fn age(data: &Path, task: &Value, days: i64) {
    let database = rusqlite::Connection::open(data.join("tasks.sqlite")).unwrap();
    let changed = database.execute(
        "UPDATE task SET finished_ms = finished_ms - ?2 * 86400000 WHERE id = ?1",
        (task["id"].as_str().unwrap(), days),
    );
    assert_eq!(changed.unwrap(), 1);
}

fn status(server: &Server, task: &Value) -> u16 {
    server.post("/v2/status", task).status
}

fn until_gone(server: &Server, task: &Value) {
    until("the task is gone", || status(server, task) == 404);
}

#[test]
fn tasks_are_removed_some_days_after_they_have_ended() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &QUICK);
    let make = |prompt: &str| {
        let task = server.generate(STRATA, json!({"prompt": prompt}));
        server.wait(&task);
        task
    };
    let (old, failed, new) = (make("a"), make("[fail]"), make("b"));
    let (old_output, new_output) = (output_of(&server, &old), output_of(&server, &new));
    let path = |url: &str| url[url.find("/outputs/").unwrap()..].to_owned();
    server.kill();
    age(data.path(), &old, 8);
    age(data.path(), &failed, 8);
    age(data.path(), &new, 6);

    let server = Server::start_on(data.path(), &["--speed", "0", "--keep-days", "7"]);
    until_gone(&server, &old);
    until_gone(&server, &failed);
    let gone = server.post("/v2/response", &old);
    let mut unknown = old.clone();
    unknown["id"] = "never".into();
    assert_eq!(
        gone.text().replace(old["id"].as_str().unwrap(), "never"),
        server.post("/v2/response", &unknown).text()
    );
    assert_eq!(server.get(&path(&old_output)).status, 404);
    assert_eq!(status(&server, &new), 200);
    assert_eq!(server.get(&path(&new_output)).status, 200);
    let folder = data
        .path()
        .join("outputs")
        .join(old["id"].as_str().unwrap());
    assert!(!folder.exists());
    let removed = "atelier_tasks_removed_total 2";
    assert!(server.get("/metrics").text().contains(removed));
}

/// Guards against removing the input files of a task that waits.
#[test]
fn waiting_tasks_and_their_inputs_are_not_removed() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &QUICK);
    let source = server.generate(STRATA, json!({"prompt": "a"}));
    let other = server.generate(STRATA, json!({"prompt": "b"}));
    server.wait(&source);
    server.wait(&other);
    let image = output_of(&server, &source);
    server.kill();
    age(data.path(), &source, 3);
    age(data.path(), &other, 3);
    // One process accepts the tasks and is killed. The next process has them in its queue.
    let slow = ["--speed", "20", "--workers", "1"];
    let mut server = Server::start_on(data.path(), &slow);
    let running = server.generate(STRATA, json!({"prompt": "c"}));
    let image = format!(
        "{}{}",
        server.url,
        &image[image.find("/outputs/").unwrap()..]
    );
    let model = ("image", "repaint");
    let waiting = server.generate(
        model,
        json!({"prompt": "d", "image_url": image, "style": "oil"}),
    );
    server.kill();
    let mut server = Server::start_on(data.path(), &[&slow[..], &["--keep-days", "1"]].concat());
    until_gone(&server, &other);
    std::thread::sleep(Duration::from_secs(6));
    for task in [&running, &waiting, &source] {
        assert_eq!(status(&server, task), 200);
    }
    server.kill();
    let server = Server::start_on(data.path(), &["--speed", "0", "--keep-days", "1"]);
    assert_eq!(server.wait(&waiting)["status"], "completed");
    until_gone(&server, &source);
    assert_eq!(server.wait(&running)["status"], "completed");
}

#[test]
fn the_oldest_tasks_are_removed_first() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &QUICK);
    let mut tasks = Vec::new();
    for n in 0..30 {
        let task = server.generate(STRATA, json!({"prompt": "a", "seed": n}));
        server.wait(&task);
        tasks.push(task);
    }
    let of = |task: &Value| {
        let folder = data
            .path()
            .join("outputs")
            .join(task["id"].as_str().unwrap());
        let files = std::fs::read_dir(folder).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum::<u64>()
    };
    // Enough for the last three tasks with their inputs.
    let max_bytes = tasks[27..].iter().map(of).sum::<u64>() + 5000;
    server.kill();
    for task in &tasks {
        age(data.path(), task, 2);
    }
    // Removes the sizes, as in the database of an earlier version.
    let database = rusqlite::Connection::open(data.path().join("tasks.sqlite")).unwrap();
    database
        .execute_batch(
            "DROP TRIGGER task_measured; UPDATE task SET bytes = NULL; DELETE FROM usage;
             CREATE TRIGGER task_measured AFTER UPDATE OF bytes ON task
             WHEN NEW.bytes IS NOT OLD.bytes BEGIN
                 INSERT INTO usage (uid, bytes) VALUES (NEW.uid, NEW.bytes - coalesce(OLD.bytes, 0))
                 ON CONFLICT (uid) DO UPDATE SET bytes = bytes + excluded.bytes;
             END;",
        )
        .unwrap();
    drop(database);
    let keep_bytes = max_bytes.to_string();
    let server = Server::start_on(data.path(), &["--speed", "0", "--keep-bytes", &keep_bytes]);
    until_gone(&server, &tasks[26]);
    for task in &tasks[..27] {
        assert_eq!(status(&server, task), 404);
    }
    std::thread::sleep(Duration::from_secs(6));
    for task in &tasks[27..] {
        assert_eq!(status(&server, task), 200);
    }
}

#[test]
fn an_account_stays_within_its_disk_limit() {
    let server = Server::start(&["--speed", "0", "--account-disk", "100kB"]);
    let task = server.generate(STRATA, json!({"prompt": "a"}));
    assert_eq!(server.wait(&task)["status"], "completed");
    let more = request(STRATA, json!({"prompt": "b"}));
    let refused = server.post("/v2/generate", &more);
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (402, "account_disk_full")
    );
    assert!(
        refused.text().contains("at most 0.1 MB"),
        "{}",
        refused.text()
    );
    let mut other = more.clone();
    other["uid"] = "you".into();
    assert_eq!(server.post("/v2/generate", &other).status, 200);
    assert_eq!(status(&server, &task), 200);
}
