//! The values of secret parameters are in the request, and in no record; a task without them is not sent.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::hand::{Hand, START, accepted, network};
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

fn submit(hand: &mut Hand, key: &str) {
    hand.engine.keep_secrets(secrets(&[key]));
    hand.engine.submit(vec![secret_task(key)], hand.now);
}

/// A page that is loaded anew, with what was stored.
fn reload(hand: &mut Hand) {
    hand.calls();
    let mut stored = std::collections::BTreeMap::new();
    for task in &hand.saved {
        // As it was stored: nothing else outlives the page.
        let record = Task::from_value(task.to_value()).unwrap();
        stored.insert(record.key.clone(), record);
    }
    hand.engine = Engine::new(account());
    hand.engine.load(stored.into_values().collect(), hand.now);
}

/// Guards against secrets in the browser's storage.
#[test]
fn the_request_carries_a_secret_and_the_record_its_name() {
    let mut hand = Hand::new();
    submit(&mut hand, "a");
    let call = hand.call();
    assert_eq!(call.body["api_key"], SECRET);
    assert!(!hand.saved.is_empty());
    for task in &hand.saved {
        assert!(!task.to_text().contains(SECRET));
        assert_eq!(task.to_value()["secrets"], json!(["api_key"]));
    }
    hand.answer(&call, accepted("1"));
    assert!(hand.engine.secrets_of(&[secret_task("a")]).is_empty());
    let plain = task("b", START).to_value();
    assert_eq!(
        plain.get("secrets"),
        None,
        "a record without any is as it was"
    );
}

/// Guards against a request without the key that a person has entered, and against a wait without an end.
#[test]
fn a_task_that_lost_its_secret_with_its_page_fails_unsent_and_says_why() {
    let mut hand = Hand::new();
    hand.engine.set_online(false, hand.now);
    submit(&mut hand, "a");
    reload(&mut hand);
    assert!(hand.calls().is_empty(), "nothing is sent");
    let task = hand.engine.task(&TaskKey("a".into())).unwrap();
    assert!(task.is_unsent() && task.can_retry());
    assert_eq!(
        task.state,
        TaskState::Failed {
            id: None,
            message: "Not sent: api_key was kept only in the tab where you entered it. Enter it again in the form.".into()
        }
    );
}

#[test]
fn a_batch_carries_the_secret_for_each_row_and_its_rest_fails_once_the_page_is_gone() {
    let mut hand = Hand::new();
    let rows = ["b-0", "b-1", "b-2"];
    hand.engine.keep_secrets(secrets(&rows));
    let tasks = rows.iter().enumerate().map(|(index, key)| {
        let mut task = secret_task(key);
        let batch = BatchKey("b".into());
        task.batch = Some(BatchPlace { batch, index });
        task
    });
    hand.engine.submit(tasks.collect(), hand.now);
    let call = hand.call();
    let items = call.body["requests"].as_array().unwrap();
    assert!(items.len() == 3 && items.iter().all(|item| item["api_key"] == SECRET));
    // They never left: all three wait again, and the page goes.
    hand.engine.not_sent(call.id, hand.now);
    reload(&mut hand);
    assert!(hand.calls().is_empty());
    assert!(rows.iter().all(|key| hand.phase(key) == Phase::Failed));
}

/// Guards against the same idempotency key with another body, and against a task that is paid twice.
#[test]
fn what_may_have_been_sent_with_a_secret_that_is_gone_is_left_to_a_person() {
    let mut hand = Hand::new();
    let day = Idempotency::For(86_400_000);
    hand.engine
        .set_idempotency(&account().address, day, hand.now);
    submit(&mut hand, "a");
    let call = hand.call();
    // In the same page it is sent again with the same key and body.
    hand.answer(&call, Err(network()));
    assert_eq!(hand.phase("a"), Phase::Submitting);
    let again = hand.next_call();
    assert_eq!(
        (&again.body, &again.idempotency_key),
        (&call.body, &call.idempotency_key)
    );
    reload(&mut hand);
    hand.engine
        .set_idempotency(&account().address, day, hand.now);
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("a"), Phase::Unconfirmed);
    // Sent once more without it, it would be another request.
    hand.engine
        .act(&TaskKey("a".into()), Action::Resubmit, hand.now);
    assert!(hand.calls().is_empty());
    assert!(matches!(
        hand.state("a"),
        TaskState::Unconfirmed {
            error: ApiError::Network { .. }
        }
    ));
}

#[test]
fn another_tab_that_was_told_the_secret_sends_the_task_when_it_leads() {
    let mut hand = Hand::new();
    hand.engine.set_leading(false, hand.now);
    hand.engine.keep_secrets(secrets(&["a"]));
    hand.engine.merge_remote(secret_task("a"), hand.now);
    hand.engine.merge_remote(secret_task("b"), hand.now);
    assert!(hand.calls().is_empty());
    assert_eq!(hand.phase("b"), Phase::Queued, "a follower decides nothing");
    hand.engine.set_leading(true, hand.now);
    let call = hand.call();
    assert_eq!(call.tasks, [TaskKey("a".into())]);
    assert_eq!(call.body["api_key"], Value::from(SECRET));
    assert_eq!(hand.phase("b"), Phase::Failed);
}
