//! Tests that secrets are part of requests but not of stored records, and that a task without its secrets is not sent.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::harness::{Harness, START, accepted, network};
use super::world::{account, task};
use crate::engine::Idempotency;
use crate::{Action, BatchKey, BatchPlace, Engine, Phase, Secrets, Task, TaskKey, TaskState};

const SECRET: &str = "sk-CASE-SECRET-123";

fn secret_task(key: &str) -> Task {
    let mut task = task(key, START);
    task.secrets = vec!["api_key".into()];
    task
}

fn secrets(keys: &[&str]) -> Secrets {
    let each = keys
        .iter()
        .map(|key| ((*key).to_owned(), json!({"api_key": SECRET})));
    each.collect()
}

fn submit(harness: &mut Harness, key: &str) {
    harness.engine.add_secrets(secrets(&[key]));
    harness.engine.submit(vec![secret_task(key)], harness.now);
}

/// Opens the page again with the stored records.
fn reload(harness: &mut Harness) {
    harness.calls();
    let mut stored = std::collections::BTreeMap::new();
    for task in &harness.saved {
        // Convert to the stored format and back, as a reload does.
        let record = Task::from_value(task.to_value()).unwrap();
        stored.insert(record.key.clone(), record);
    }
    harness.engine = Engine::new(account());
    harness
        .engine
        .load(stored.into_values().collect(), harness.now);
}

/// Secrets must not be in the browser's storage.
#[test]
fn a_secret_is_in_the_request_and_not_in_the_record() {
    let mut harness = Harness::new();
    submit(&mut harness, "a");
    let call = harness.call();
    assert_eq!(call.body["api_key"], SECRET);
    assert!(!harness.saved.is_empty());
    for task in &harness.saved {
        assert!(!task.to_text().contains(SECRET));
        assert_eq!(task.to_value()["secrets"], json!(["api_key"]));
    }
    harness.answer(&call, accepted("1"));
    assert!(harness.engine.secrets_of(&[secret_task("a")]).is_empty());
    let plain = task("b", START).to_value();
    assert_eq!(
        plain.get("secrets"),
        None,
        "records without secrets are unchanged"
    );
}

/// The task must neither be sent without the user's API key nor wait forever.
#[test]
fn a_task_whose_secret_is_lost_fails_unsent() {
    let mut harness = Harness::new();
    harness.engine.set_online(false, harness.now);
    submit(&mut harness, "a");
    reload(&mut harness);
    assert!(harness.calls().is_empty(), "nothing is sent");
    let task = harness.engine.task(&TaskKey("a".into())).unwrap();
    assert!(task.is_unsent() && task.can_retry());
    assert_eq!(
        task.state,
        TaskState::Failed {
            id: None,
            message: "Not sent: api_key was stored only in the tab where you entered it. Enter it again in the form.".into()
        }
    );
}

#[test]
fn a_batch_sends_secrets_and_fails_without_them_after_a_reload() {
    let mut harness = Harness::new();
    let rows = ["b-0", "b-1", "b-2"];
    harness.engine.add_secrets(secrets(&rows));
    let tasks = rows.iter().enumerate().map(|(index, key)| {
        let mut task = secret_task(key);
        let batch = BatchKey("b".into());
        task.batch = Some(BatchPlace { batch, index });
        task
    });
    harness.engine.submit(tasks.collect(), harness.now);
    let call = harness.call();
    let items = call.body["requests"].as_array().unwrap();
    assert!(items.len() == 3 && items.iter().all(|item| item["api_key"] == SECRET));
    // No request was sent, so all three tasks are queued again when the page closes.
    harness.engine.not_sent(call.id, harness.now);
    reload(&mut harness);
    assert!(harness.calls().is_empty());
    assert!(rows.iter().all(|key| harness.phase(key) == Phase::Failed));
}

/// Guards against a second charge: a different body must not be sent with the same idempotency key.
#[test]
fn a_submission_whose_secret_is_lost_is_unconfirmed() {
    let mut harness = Harness::new();
    let day = Idempotency::For(86_400_000);
    harness
        .engine
        .set_idempotency(&account().address, day, harness.now);
    submit(&mut harness, "a");
    let call = harness.call();
    // In the same page, it is resent with the same key and body.
    harness.answer(&call, Err(network()));
    assert_eq!(harness.phase("a"), Phase::Submitting);
    let again = harness.next_call();
    assert_eq!(
        (&again.body, &again.idempotency_key),
        (&call.body, &call.idempotency_key)
    );
    reload(&mut harness);
    harness
        .engine
        .set_idempotency(&account().address, day, harness.now);
    assert!(harness.calls().is_empty());
    assert_eq!(harness.phase("a"), Phase::Unconfirmed);
    // Without the secret, it would be a different request.
    harness
        .engine
        .act(&TaskKey("a".into()), Action::Resubmit, harness.now);
    assert!(harness.calls().is_empty());
    assert!(matches!(
        harness.state("a"),
        TaskState::Unconfirmed {
            error: ApiError::Network { .. }
        }
    ));
}

#[test]
fn a_new_leader_with_the_secret_sends_the_task() {
    let mut harness = Harness::new();
    harness.engine.set_leading(false, harness.now);
    harness.engine.add_secrets(secrets(&["a"]));
    harness.engine.merge_remote(secret_task("a"), harness.now);
    harness.engine.merge_remote(secret_task("b"), harness.now);
    assert!(harness.calls().is_empty());
    assert_eq!(
        harness.phase("b"),
        Phase::Queued,
        "a follower does not fail tasks"
    );
    harness.engine.set_leading(true, harness.now);
    let call = harness.call();
    assert_eq!(call.tasks, [TaskKey("a".into())]);
    assert_eq!(call.body["api_key"], Value::from(SECRET));
    assert_eq!(harness.phase("b"), Phase::Failed);
}
