use super::*;
use crate::uploads::Upload;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

fn open(path: &Path) -> Result<Sqlite, StoreError> {
    Sqlite::open(path)
}

fn task(id: &str) -> Task {
    let Value::Object(input) = json!({"prompt": "a", "seed": u64::MAX}) else {
        unreachable!("an object is written above")
    };
    Task {
        id: id.into(),
        uid: "me".into(),
        model: ModelId::new("image", "strata"),
        input,
        secrets: Secrets::default(),
        status: StatusWord::Queued,
        webhook: None,
    }
}

#[test]
fn tasks_are_unchanged_after_the_database_is_reopened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.sqlite");
    let store = open(&path).unwrap();
    for id in ["a", "b", "c"] {
        store.insert(&task(id), None).unwrap();
    }
    store.set_processing("b").unwrap();
    store.complete("a", &["a/0.png".into()], 7).unwrap();
    drop(store);
    let store = open(&path).unwrap();
    let unfinished = store.unfinished().unwrap();
    let ids: Vec<&str> = unfinished.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(unfinished[0].uid, "me");
    let done = store.progress("a").unwrap().unwrap();
    assert_eq!(done.status, StatusWord::Completed);
    assert_eq!(done.output, ["a/0.png"]);
    assert_eq!(store.order("a").unwrap(), None, "the task has ended");
    let order = store.order("b").unwrap().unwrap();
    assert_eq!(order.model, ModelId::new("image", "strata"));
    assert_eq!(order.input["seed"], json!(u64::MAX), "seeds stay exact");
    assert_eq!(store.progress("d").unwrap(), None);
}

#[test]
fn an_ended_task_does_not_change() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    store.insert(&task("a"), None).unwrap();
    store.fail("a", "no", Failed::Permanent).unwrap();
    store.set_processing("a").unwrap();
    store.complete("a", &["a/0.png".into()], 7).unwrap();
    let task = store.progress("a").unwrap().unwrap();
    assert_eq!(
        (task.status, task.error),
        (StatusWord::Failed, Some("no".into()))
    );
}

#[test]
fn only_the_first_end_of_a_task_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let store = open(&path).unwrap();
    for id in ["waiting", "running", "sent", "done"] {
        store.insert(&task(id), None).unwrap();
    }
    for id in ["running", "sent", "done"] {
        assert!(store.set_processing(id).unwrap());
    }
    assert!(store.set_sent("sent", false).unwrap());
    assert!(store.complete("done", &["done/0.png".into()], 7).unwrap());
    for (id, is_canceled) in [
        ("waiting", true),
        ("running", true),
        ("sent", false),
        ("done", false),
        ("none", false),
    ] {
        assert_eq!(store.cancel(id).unwrap(), is_canceled, "{id}");
        assert!(!store.cancel(id).unwrap(), "{id}, the second time");
        assert_eq!(
            store.is_stopping(id).unwrap(),
            id == "running",
            "only a task that has begun has to be stopped: {id}"
        );
    }
    for id in ["waiting", "running"] {
        assert!(!store.set_processing(id).unwrap());
        assert!(!store.set_sent(id, true).unwrap());
        assert!(!store.complete(id, &["x/0.png".into()], 7).unwrap());
        assert!(!store.fail(id, "no", Failed::Permanent).unwrap());
        let found = store.progress(id).unwrap().unwrap();
        assert_eq!(found.status, StatusWord::Failed);
        assert_eq!(
            (found.error.as_deref(), found.canceled),
            (Some("Canceled"), true)
        );
    }
    drop(store);
    let store = open(&path).unwrap();
    let resumed = |store: &Sqlite| {
        let tasks = store.unfinished().unwrap().into_iter();
        tasks.map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(resumed(&store), ["running", "sent"]);
    store.set_stopped("running").unwrap();
    assert_eq!(resumed(&store), ["sent"]);
    assert!(store.progress("running").unwrap().unwrap().canceled);
}

#[test]
fn a_task_is_sent_until_it_is_marked_as_unsent() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    store.insert(&task("a"), None).unwrap();
    let sent = || store.order("a").unwrap().unwrap().sent;
    assert!(!sent());
    assert!(store.set_sent("a", false).unwrap());
    // Guards against two concurrent attempts that both send a paid task.
    assert!(!store.set_sent("a", false).unwrap());
    assert!(store.set_sent("a", true).unwrap());
    assert!(sent());
    store.set_unsent("a").unwrap();
    assert!(!sent());
}

/// Guards against responses that are never deleted from the database.
#[test]
fn a_saved_answer_is_deleted_when_its_task_ends() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    store.insert(&task("a"), None).unwrap();
    assert_eq!(store.saved_answer("a").unwrap(), None);
    assert!(store.save_answer("a", b"{}").unwrap());
    assert_eq!(store.saved_answer("a").unwrap(), Some(b"{}".to_vec()));
    store.complete("a", &["a/0.png".into()], 7).unwrap();
    assert_eq!(store.saved_answer("a").unwrap(), None);
    assert!(
        !store.save_answer("a", b"{}").unwrap(),
        "the task has ended"
    );
    assert_eq!(store.saved_answer("a").unwrap(), None, "the task has ended");
}

fn submission(key: &str) -> Submission {
    let Value::Object(fields) = json!({"idempotency_key": key}) else {
        unreachable!("an object is written above")
    };
    Submission {
        account: "me".into(),
        key: crate::idempotency::Key::of_fields(&fields)
            .unwrap()
            .unwrap(),
        fingerprint: "f".into(),
    }
}

#[test]
fn a_key_expires_after_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let store = open(&path).unwrap();
    let (old, new) = (submission("old"), submission("new"));
    assert_eq!(store.insert(&task("a"), Some(&old)).unwrap(), None);
    assert_eq!(store.insert(&task("b"), Some(&new)).unwrap(), None);
    let day = i64::from(crate::idempotency::TTL_SECONDS) * 1000;
    let age = |ms: i64| {
        store
            .with(|connection| {
                connection.execute(
                    "UPDATE submission SET created_ms = ?1 WHERE key = 'old'",
                    [now_ms() - ms],
                )
            })
            .unwrap()
    };
    age(day - 60_000);
    let first_response = store.insert(&task("c"), Some(&old)).unwrap().unwrap();
    assert_eq!(
        (first_response.id.as_str(), first_response.status),
        ("a", StatusWord::Queued)
    );
    assert_eq!(store.progress("c").unwrap(), None, "nothing was written");
    age(day);
    assert_eq!(store.first_response(&old).unwrap(), None);
    assert_eq!(
        store.insert(&task("d"), Some(&submission("x"))).unwrap(),
        None
    );
    let kept: i64 = store
        .with(|c| c.query_row("SELECT count(*) FROM submission", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(kept, 2, "the expired key is deleted");
    assert_eq!(store.insert(&task("e"), Some(&old)).unwrap(), None);
}

#[test]
fn a_database_of_the_first_version_is_migrated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(MIGRATIONS[0]).unwrap();
    old.execute_batch(
        r#"INSERT INTO task (id, uid, category, subcategory, input, status, created_ms)
           VALUES ('a', 'me', 'image', 'strata', '{"prompt":"x"}', 'queued', 1);
           PRAGMA user_version = 1;"#,
    )
    .unwrap();
    drop(old);
    let store = open(&path).unwrap();
    assert_eq!(store.order("a").unwrap().unwrap().input["prompt"], "x");
    assert_eq!(
        store.insert(&task("b"), Some(&submission("k"))).unwrap(),
        None
    );
    drop(store);
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    assert!(matches!(open(&path), Err(StoreError::Newer(99))));
}

#[test]
fn disk_usage_of_tasks_is_counted_and_released() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    for id in ["a", "b", "c"] {
        store.insert(&task(id), None).unwrap();
    }
    let input = store.bytes().unwrap() / 3;
    assert!(input > 10);
    store.complete("a", &["a/0.png".into()], 1000).unwrap();
    store.fail("b", "no", Failed::Permanent).unwrap();
    assert_eq!(store.bytes_of("me").unwrap(), 3 * input + 1000);
    assert_eq!(store.bytes_of("you").unwrap(), 0);
    let ended = store
        .ended_after(EndPosition::default(), i64::MAX, 9)
        .unwrap();
    let ids: Vec<&str> = ended.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"], "waiting tasks are not included");
    assert_eq!(ended[0].bytes, input + 1000);
    let later = store.ended_after(ended[0].position, i64::MAX, 9).unwrap();
    assert_eq!(later, ended[1..]);
    store.remove(&ended).unwrap();
    assert_eq!(store.bytes().unwrap(), input);
    assert_eq!(store.progress("a").unwrap(), None);
    assert!(store.order("c").unwrap().is_some());
    let inputs: i64 = store
        .with(|c| c.query_row("SELECT count(*) FROM input", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(inputs, 1);
}

/// Guards against a clean-up that reads every task.
#[test]
fn finding_the_oldest_ended_tasks_uses_the_index() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    let plan: Vec<String> = store
        .with(|connection| {
            connection
                .prepare(&format!("EXPLAIN QUERY PLAN {}", usage::ENDED_AFTER))?
                .query_map([1, 1, 1, 1], |row| row.get(3))?
                .collect()
        })
        .unwrap();
    assert_eq!(plan.len(), 1, "{plan:?}: nothing is sorted");
    assert!(
        plan[0].contains("USING INDEX task_by_end (") && plan[0].starts_with("SEARCH"),
        "{plan:?}"
    );
}

#[test]
fn tasks_of_an_earlier_version_are_measured_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let old = Connection::open(&path).unwrap();
    for migration in &MIGRATIONS[..4] {
        old.execute_batch(migration).unwrap();
    }
    old.execute_batch(
        r#"INSERT INTO task (id, uid, category, subcategory, status, created_ms, finished_ms)
           VALUES ('a', 'me', 'image', 'strata', 'completed', 1, 1),
                  ('b', 'me', 'image', 'strata', 'queued', 1, NULL);
           INSERT INTO input VALUES (1, '{"prompt":"é"}'), (2, '{}');
           PRAGMA user_version = 4;"#,
    )
    .unwrap();
    drop(old);
    let store = open(&path).unwrap();
    assert_eq!(store.bytes().unwrap(), 0);
    assert_eq!(store.tasks_without_size(9).unwrap(), ["a"]);
    for _ in 0..2 {
        store.set_sizes(&[("a".into(), 100)]).unwrap();
        assert_eq!(store.bytes().unwrap(), 115);
    }
    assert!(store.tasks_without_size(9).unwrap().is_empty());
    store.complete("b", &[], 10).unwrap();
    assert_eq!(store.bytes().unwrap(), 115 + 12);
}

/// Guards against tasks of the version before that look canceled.
#[test]
fn tasks_of_the_version_before_cancel_are_not_canceled() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let old = Connection::open(&path).unwrap();
    for migration in &MIGRATIONS[..8] {
        old.execute_batch(migration).unwrap();
    }
    old.execute_batch(
        r#"INSERT INTO task (id, uid, category, subcategory, status, created_ms, finished_ms, error)
           VALUES ('a', 'me', 'image', 'strata', 'failed', 1, 1, 'x'),
                  ('b', 'me', 'image', 'strata', 'processing', 1, NULL, NULL),
                  ('c', 'me', 'image', 'strata', 'queued', 1, NULL, NULL);
           INSERT INTO input VALUES (1, '{}'), (2, '{}'), (3, '{}');
           PRAGMA user_version = 8;"#,
    )
    .unwrap();
    drop(old);
    let store = open(&path).unwrap();
    let is_canceled = |id: &str| store.progress(id).unwrap().unwrap().canceled;
    assert!(["a", "b", "c"].iter().all(|id| !is_canceled(id)));
    let unfinished = |store: &Sqlite| -> Vec<String> {
        let found = store.unfinished().unwrap();
        found.into_iter().map(|task| task.id).collect()
    };
    assert_eq!(unfinished(&store), ["b", "c"]);
    assert!(!store.cancel("a").unwrap());
    assert!(store.cancel("b").unwrap() && store.cancel("c").unwrap());
    // The model may still run only the task that has begun.
    assert!(store.is_stopping("b").unwrap() && !store.is_stopping("c").unwrap());
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(unfinished(&store), ["b"]);
    store.set_stopped("b").unwrap();
    assert!(unfinished(&store).is_empty());
}

/// Guards against secrets that SQLite leaves in unused parts of its file or in its write-ahead log.
#[test]
fn secrets_of_ended_tasks_are_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("t")).unwrap();
    let secret = |n: usize| format!("sk-{n:05}-{}", "x".repeat(n * 37 % 9000));
    let read = || -> Vec<u8> {
        let files = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap);
        files
            .flat_map(|file| std::fs::read(file.path()).unwrap())
            .collect()
    };
    let found = |from: usize| -> Vec<usize> {
        let bytes = String::from_utf8_lossy(&read()).into_owned();
        (from..from + 100)
            .filter(|n| bytes.contains(&format!("sk-{n:05}-")))
            .collect()
    };
    for round in [0, 100] {
        for n in round..round + 100 {
            let stored = json!({"key": secret(n)}).to_string();
            let secrets = Secrets::from_stored(Some(&stored));
            let task = Task {
                secrets,
                ..task(&n.to_string())
            };
            store.insert(&task, None).unwrap();
        }
        assert_eq!(
            found(round).len(),
            100,
            "secrets of waiting tasks are stored"
        );
        // Uses another order, so that pages are split, merged and reused.
        for n in (0..100).map(|n| round + n * 37 % 100) {
            let id = n.to_string();
            let order = store.order(&id).unwrap().unwrap();
            assert_eq!(order.secrets.hide_in(&secret(n)), crate::secrets::HIDDEN);
            if n % 2 == 0 {
                store.complete(&id, &[], 1).unwrap();
            } else {
                store.fail(&id, "no", Failed::Permanent).unwrap();
            }
            assert_eq!(store.order(&id).unwrap(), None);
        }
        assert_eq!(found(round), Vec::<usize>::new());
    }
    drop(store);
    assert_eq!(found(0), Vec::<usize>::new());
}

fn upload(id: &str, sha256: &str, expires_ms: i64) -> Upload {
    Upload {
        id: id.into(),
        owner: "me".into(),
        sha256: sha256.into(),
        name: format!("{id}/0.png"),
        content_type: "image/png".into(),
        bytes: 100,
        size: Some((3, 2)),
        expires_ms,
    }
}

/// Guards against the removal of an upload that was uploaded again, or used, after it was found to have expired.
#[test]
fn an_upload_is_claimed_only_while_it_is_expired_and_unused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("tasks.sqlite")).unwrap();
    let past = now_ms() - 1;
    let future = now_ms() + 1_000_000;
    for (id, sha256) in [("a", "1"), ("b", "2"), ("c", "3")] {
        assert_eq!(store.add_upload(&upload(id, sha256, past)).unwrap(), None);
    }
    assert_eq!(store.expired_uploads(9).unwrap(), ["a", "b", "c"]);
    let found = store.upload("me", "1", future).unwrap().unwrap();
    assert_eq!(found, upload("a", "1", future));
    assert!(!store.claim_upload("a").unwrap(), "the upload was extended");
    let mut using = task("using");
    using.input["prompt"] = json!("/outputs/b/0.png and /outputs/b/0.png");
    store.insert(&using, None).unwrap();
    assert!(!store.claim_upload("b").unwrap(), "a task uses the upload");
    assert!(store.claim_upload("c").unwrap());
    // A killed removal is resumed, and the same bytes are a new upload.
    assert_eq!(store.expired_uploads(9).unwrap(), ["c"]);
    assert_eq!(store.upload("me", "3", future).unwrap(), None);
    assert_eq!(store.add_upload(&upload("d", "3", future)).unwrap(), None);
    assert!(store.claim_upload("c").unwrap());
    store.remove_upload("c").unwrap();
    assert!(store.expired_uploads(9).unwrap().is_empty());
}

/// Guards against the removal of tasks because of uploads, which it would not free.
#[test]
fn uploads_count_for_their_owner_and_not_for_the_size_of_all_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("tasks.sqlite")).unwrap();
    store.insert(&task("a"), None).unwrap();
    let tasks = store.bytes().unwrap();
    assert_eq!(store.bytes_of("me").unwrap(), tasks);
    store.add_upload(&upload("u", "1", 0)).unwrap();
    assert_eq!(store.bytes_of("me").unwrap(), tasks + 100);
    assert_eq!(store.bytes().unwrap(), tasks);
    store.remove_upload("u").unwrap();
    assert_eq!(store.bytes_of("me").unwrap(), tasks);
}
