//! Tests of the cost of polls.

mod support;

use std::path::Path;

use serde_json::{Value, json};

use support::Server;

const TASKS: usize = 10;

/// Writes a database of the first version with some tasks.
fn write_tasks(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE task (
                 seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, uid TEXT NOT NULL,
                 category TEXT NOT NULL, subcategory TEXT NOT NULL, input TEXT NOT NULL,
                 status TEXT NOT NULL, output TEXT NOT NULL DEFAULT '[]', error TEXT,
                 created_ms INTEGER NOT NULL, finished_ms INTEGER);
             CREATE INDEX task_unfinished ON task (seq) WHERE finished_ms IS NULL;
             CREATE INDEX task_by_uid ON task (uid, seq);
             PRAGMA user_version = 1;",
        )
        .unwrap();
    for n in 0..TASKS {
        database
            .execute(
                r#"INSERT INTO task (id, uid, category, subcategory, input, status, created_ms, finished_ms)
                   VALUES (?1, 'me', 'image', 'strata', '{"prompt":"a"}', 'completed', 1, 1)"#,
                [format!("task{n}")],
            )
            .unwrap();
    }
}

/// Guards against polls that read the input: polling ten tasks with inputs of a megabyte each slowed down all other
/// calls. The inputs in this test are not text, so reading one fails.
#[test]
fn status_does_not_read_the_input() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("tasks.sqlite");
    write_tasks(&path);
    // Migrates the database before it answers.
    let server = Server::start_on(data.path(), &[]);
    assert_eq!(server.get("/api/models").status, 200);
    drop(server);
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch("UPDATE input SET input = x'ff'")
        .unwrap();
    drop(database);
    let server = Server::start_on(data.path(), &[]);
    let task = |n: usize| json!({"uid": "me", "category": "image", "subcategory": "strata", "id": format!("task{n}")});
    for n in 0..TASKS {
        assert_eq!(
            server.post("/v2/status", &task(n)).json()["data"]["status"],
            "completed"
        );
    }
    let tasks: Vec<Value> = (0..TASKS).map(task).collect();
    let answer = server
        .post("/v2/status-batch", &json!({ "requests": tasks }))
        .json();
    for entry in answer["data"]["results"].as_array().unwrap() {
        assert_eq!(entry["body"]["data"]["status"], "completed");
    }
}
