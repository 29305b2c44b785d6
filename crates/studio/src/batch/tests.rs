use super::*;
use crate::history::manifest::Manifest;
use proptest::prelude::*;
use serde_json::json;

pub fn batch(size: usize) -> Batch {
    serde_json::from_value(json!({
        "key": "b", "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
        "name": "cats", "created": 0, "size": size, "colour": "red"
    }))
    .unwrap()
}

pub fn task(key: &str, index: usize, created: Millis, state: Value) -> Task {
    serde_json::from_value(json!({
        "key": key, "account": {"address": "https://s.example", "uid": "me"},
        "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
        "input": {"model": {"category": "image", "subcategory": "a"}, "values": {"prompt": key}},
        "created": created, "submitted": created, "state": state,
        "batch": {"batch": "b", "index": index}
    }))
    .unwrap()
}

pub fn ready() -> Value {
    json!({"state": "ready", "id": "t", "outputs": ["https://a/1.png"]})
}

pub fn failed() -> Value {
    json!({"state": "failed", "id": null, "message": "no"})
}

pub fn queued() -> Value {
    json!({"state": "queued"})
}

#[test]
fn items_that_were_taken_back_are_counted_and_settled() {
    let mut taken_back = task("zero", 0, 1, queued());
    taken_back.taken_back = true;
    let tasks = [taken_back, task("one", 1, 1, ready())];
    let batch = batch(2);
    let items = batch.items(&tasks);
    assert_eq!(items.counts().user_message(), "1 completed, 1 taken back");
    assert!(items.unsent().is_empty() && items.counts().is_settled());
    assert_eq!(items.taken_back()[0].key.0, "zero");
    assert_eq!(Manifest::of(&batch, &items).items[0].state, "Taken back");
}

/// An item is emptied only if no other attempt of it is left.
#[test]
fn removing_tasks_empties_items_without_another_attempt() {
    let going = [task("a", 0, 1, queued()), task("b-2", 1, 2, queued())];
    let left = [task("b", 1, 1, failed()), task("c", 2, 1, ready())];
    let batch = batch(3);
    assert_eq!(batch.emptied(&going, &left), [0]);
    assert_eq!(batch.emptied(&going, &left[1..]), [0, 1]);
    assert_eq!(batch.emptied(&[], &left), [] as [usize; 0]);
    let mut of_other = task("z", 0, 1, queued());
    of_other.batch = None;
    assert_eq!(batch.emptied(&[of_other], &left), [] as [usize; 0]);
}

/// Tests items that are no longer polled, because the user stopped following them or their responses are too large.
#[test]
fn items_that_are_not_followed_are_settled() {
    let running = json!({"state": "running", "id": "t", "word": "processing"});
    let mut hidden = task("zero", 0, 1, running);
    hidden.watching = false;
    let mut tasks = [hidden, task("one", 1, 1, ready())];
    tasks[1].finished = Some(5);
    let batch = batch(2);
    let items = batch.items(&tasks);
    let message = items.counts().user_message();
    assert_eq!(message, "1 completed, 1 not followed");
    assert!(items.counts().is_settled());
    assert_eq!(items.finished(), Some(5));
}

#[test]
fn the_user_can_rename_a_batch() {
    let mut batch = batch(1);
    for (name, is_new) in [
        ("", false),
        (" \n", false),
        ("cats", false),
        (" dogs ", true),
    ] {
        assert_eq!(batch.rename(name), is_new, "{name}");
    }
    assert_eq!(batch.name, "dogs");
    assert!(batch.rename(&"long".repeat(99)));
    assert_eq!(batch.name.chars().count(), 120);
}

#[test]
fn a_removed_batch_is_restored_with_its_tasks_and_expires_with_them() {
    let mut batch = batch(2);
    let mut tasks = vec![task("zero", 0, 1, ready()), task("one", 1, 1, failed())];
    assert!(!batch.is_removed(&tasks));
    batch.removed = Some(50);
    // The tasks exist: the batch was restored, or this tab was not notified of their removal yet.
    assert!(!batch.is_removed(&tasks));
    for task in &mut tasks {
        task.removed = Some(50);
    }
    assert!(batch.is_removed(&tasks));
    assert!(!batch.is_expired(&tasks, 90_000));
    assert!(batch.is_expired(&[], 50 + UNDO_MS));
    assert!(!batch.is_expired(&[], 49 + UNDO_MS));
    batch.removed = None;
    assert!(!batch.is_removed(&[]) && !batch.is_expired(&[], 90_000));
}

/// The record must not be deleted while its tasks can be restored, or while this tab may not have received them yet.
#[test]
fn the_record_of_variations_expires_with_the_last_of_them() {
    const LATER: Millis = 9_000_000;
    let mut batch = batch(2);
    assert!(!batch.is_expired(&[], LATER));
    batch.varied = Some(atelier_engine::TaskKey("one".into()));
    assert!(batch.is_expired(&[], LATER));
    assert!(!batch.is_expired(&[], batch.created + 1_000));
    let mut last = task("zero", 0, 1, ready());
    assert!(!batch.is_expired([&last], LATER));
    last.removed = Some(LATER);
    assert!(!batch.is_expired([&last], LATER));
}

#[test]
fn the_latest_attempt_counts_and_failures_can_be_retried() {
    let mut again = task("again", 1, 5, ready());
    again.retry_of = Some(atelier_engine::TaskKey("first".into()));
    let mut elsewhere = task("other", 0, 9, failed());
    elsewhere.batch = None;
    let tasks = [
        again,
        task("first", 1, 9, failed()),
        task("zero", 0, 1, failed()),
        task("two", 2, 1, queued()),
        task("stray", 99, 1, failed()),
        elsewhere,
    ];
    let batch = batch(4);
    let items = batch.items(&tasks);
    assert_eq!(items.get(1).unwrap().key.0, "again");
    assert_eq!(
        items.counts().user_message(),
        "1 completed, 1 failed, 1 queued, 1 removed"
    );
    let phrases: Vec<_> = items.counts().phrases().collect();
    assert_eq!(phrases[1], (Part::Failed, "1 failed".to_owned()));
    assert_eq!(phrases[3].0.phase_word(), "removed");
    assert_eq!((items.counts().done(), items.counts().total()), (3, 4));
    assert_eq!(
        items
            .to_retry()
            .iter()
            .map(|t| t.key.0.as_str())
            .collect::<Vec<_>>(),
        ["zero"]
    );
    assert_eq!(items.unsent().len(), 1);
    assert_eq!(items.finished(), None);
    assert_eq!(
        items.counts().shares().map(|(_, share)| share).sum::<f64>(),
        1.0
    );
    // The item belongs to another tab's batch.
    let mut batch = batch.clone();
    assert!(batch.leave_out([3, 7]) && !batch.leave_out([3]));
    let counts = batch.items(&tasks).counts();
    assert_eq!(
        (batch.count(), counts.user_message().as_str()),
        (3, "1 completed, 1 failed, 1 queued")
    );
}

#[test]
fn the_manifest_lists_every_item() {
    let tasks = [task("zero", 0, 1_000, ready()), task("two", 2, 1, failed())];
    let batch = batch(3);
    let manifest = Manifest::of(&batch, &batch.items(&tasks));
    let states: Vec<(usize, &str)> = manifest
        .items
        .iter()
        .map(|i| (i.index, i.state.as_str()))
        .collect();
    assert_eq!(states, [(1, "Completed"), (2, "Removed"), (3, "Failed")]);
    assert_eq!(manifest.items[0].id.as_deref(), Some("t"));
    assert_eq!(
        manifest.items[0].submitted.as_deref(),
        Some("1970-01-01T00:00:01.000Z")
    );
    assert_eq!(manifest.items[2].error.as_deref(), Some("no"));
    assert_eq!(manifest.service, "https://s.example");
}

#[test]
fn fields_of_later_versions_are_preserved() {
    let value = serde_json::to_value(batch(1)).unwrap();
    assert_eq!(value["colour"], "red");
}

#[test]
fn estimates_the_remaining_time() {
    let running = || json!({"state": "running", "id": "t", "word": "processing"});
    let tasks: Vec<Task> = (0..4)
        .map(|n| task("t", n, 0, if n < 2 { running() } else { queued() }))
        .collect();
    let batch = batch(4);
    // How many tasks the service runs concurrently is unknown.
    let items = batch.items(&tasks);
    assert_eq!(items.remaining(10_000, Some(30_000)), None);

    let mut tasks: Vec<Task> = (0..20)
        .map(|n| task("t", n, 0, if n < 10 { ready() } else { queued() }))
        .collect();
    for (n, task) in tasks.iter_mut().take(10).enumerate() {
        task.finished = Some(1_000 + 1_000 * n as u64);
    }
    let batch = self::batch(20);
    let items = batch.items(&tasks);
    let remaining = items.remaining(10_500, Some(1)).unwrap();
    assert!((9_000..=10_000).contains(&remaining), "{remaining}");
    let settled = batch.items(&tasks[..10]);
    assert_eq!(settled.remaining(10_500, Some(1)), None);

    // An item is retried an hour later. The hour does not count.
    let mut again = task("again", 3, 3_600_000, running());
    again.submitted = Some(3_600_000);
    let tasks: Vec<Task> = tasks.into_iter().take(10).chain([again]).collect();
    let items = batch.items(&tasks);
    assert_eq!(items.remaining(3_602_000, Some(7_000)), Some(5_000));
    assert_eq!(items.remaining(3_602_000, None), None);
}

#[test]
fn the_reported_progress_of_items_counts() {
    let running = json!({"state": "running", "id": "t", "word": "processing"});
    let mut tasks = [
        task("a", 0, 0, ready()),
        task("b", 1, 0, running.clone()),
        task("c", 2, 0, running),
        task("d", 3, 0, queued()),
    ];
    let batch = batch(4);
    assert_eq!(batch.items(&tasks).progress(), 0.0);
    tasks[1].fraction = Some(0.5);
    tasks[2].fraction = Some(0.25);
    assert_eq!(batch.items(&tasks).progress(), 0.375);
    // A number in a status line may mean something else.
    tasks[2].fraction = None;
    tasks[2].progress = Some("step 5 of 20".into());
    assert_eq!(batch.items(&tasks).progress(), 0.25);
    // The last item has 10 s of its usual 20 s left.
    tasks[1].submitted = Some(0);
    let items = self::batch(2);
    let items = items.items(&tasks[..2]);
    assert_eq!(items.remaining(15_000, Some(20_000)), Some(10_000));
    // It may be stuck.
    assert_eq!(items.remaining(20_001, Some(20_000)), None);
}

proptest! {
    #[test]
    fn every_item_counts_once(attempts in prop::collection::vec((0..12usize, 0..5u64, 0..3u8), 0..60), now: u64) {
        let tasks: Vec<Task> = attempts.iter().enumerate().map(|(key, (index, created, state))| {
            task(&key.to_string(), *index, *created, [ready, failed, queued][usize::from(*state)]())
        }).collect();
        let batch = batch(10);
        let items = batch.items(&tasks);
        prop_assert_eq!(items.counts().total(), 10);
        prop_assert_eq!(items.to_retry().len(), items.counts().of(Part::Failed));
        let _ = items.remaining(now, Some(now));
    }
}

/// Each item must keep the number of its row.
#[test]
fn places_without_an_item_are_left_out() {
    assert_eq!(Batch::gaps(&[]), (0, vec![]));
    assert_eq!(Batch::gaps(&[0, 1, 2]), (3, vec![]));
    assert_eq!(Batch::gaps(&[2, 6]), (7, vec![0, 1, 3, 4, 5]));
}

#[test]
fn canceled_items_are_neither_failed_nor_retried() {
    let canceled = json!({"state": "failed", "id": "t", "message": "Canceled", "canceled": true});
    let tasks = [
        task("a", 0, 1, canceled),
        task("b", 1, 1, failed()),
        task("c", 2, 1, ready()),
    ];
    let whole = batch(3);
    let items = whole.items(&tasks);
    let counts = items.counts();
    assert_eq!(counts.user_message(), "1 completed, 1 failed, 1 canceled");
    assert!(counts.is_settled());
    let keys = |tasks: Vec<&Task>| tasks.iter().map(|it| it.key.0.clone()).collect::<Vec<_>>();
    assert_eq!(keys(items.to_retry()), ["b"]);
    assert_eq!(keys(items.to_cancel()), [] as [&str; 0]);
}

#[test]
fn the_rest_of_a_batch_is_all_items_that_have_not_ended() {
    let running = json!({"state": "running", "id": "t", "word": "processing"});
    let mut canceling = task("e", 4, 1, running.clone());
    canceling.cancel = serde_json::from_value(json!({"since": 1})).unwrap();
    let mut refused = task("f", 5, 1, running.clone());
    refused.cancel = serde_json::from_value(json!({"since": 1, "refusal": "no"})).unwrap();
    let mut taken_back = task("g", 6, 1, queued());
    taken_back.taken_back = true;
    let mut repeated = task("h", 7, 1, json!({"state": "submitting"}));
    let error = atelier_contract::ApiError::Network {
        detail: String::new(),
    };
    repeated.poll_error = Some(atelier_engine::PollError { since: 1, error });
    let tasks = [
        task("a", 0, 1, ready()),
        task("b", 1, 1, queued()),
        task("c", 2, 1, json!({"state": "submitting"})),
        task("d", 3, 1, running),
        canceling,
        refused,
        taken_back,
        repeated,
    ];
    let batch = batch(8);
    let items = batch.items(&tasks);
    let rest: Vec<&str> = items
        .to_cancel()
        .iter()
        .map(|it| it.key.0.as_str())
        .collect();
    assert_eq!(rest, ["b", "c", "d", "f", "h"]);
}
