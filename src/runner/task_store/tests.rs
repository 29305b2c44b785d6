use atelier_engine::BatchPlace;
use atelier_studio::form::double_click::DEBOUNCE_MS;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::runner::testing::{failed, pause, ready, task, until};

/// A store with an owner that lives as long as the test.
struct Shown {
    _owner: Owner,
    store: TaskStore,
}

fn shown(tasks: &[Task]) -> Shown {
    let owner = Owner::new();
    let store = owner.with(TaskStore::new);
    owner.set();
    store.show(tasks);
    Shown {
        _owner: owner,
        store,
    }
}

impl Shown {
    fn keys(&self) -> Vec<String> {
        let keys = untrack(|| self.store.keys());
        keys.iter().map(|key| key.0.clone()).collect()
    }
}

fn key(key: &str) -> TaskKey {
    TaskKey(key.into())
}

#[wasm_bindgen_test]
fn tasks_are_listed_newest_first_in_any_order_of_arrival() {
    let shown = shown(&[task("a", 10), task("c", 30)]);
    assert_eq!(shown.keys(), ["c", "a"]);
    shown.store.show(&[task("b", 20), task("d", 40)]);
    assert_eq!(shown.keys(), ["d", "c", "b", "a"]);
    assert_eq!(shown.store.newest(), Some(40));
    // Of two tasks with the same time, the one that was added last comes first.
    shown.store.show(&[task("b2", 20)]);
    assert_eq!(shown.keys(), ["d", "c", "b2", "b", "a"]);
    // A task that changes stays at its position.
    shown.store.show(&[ready("a", 10, &[])]);
    assert_eq!(shown.keys(), ["d", "c", "b2", "b", "a"]);
}

/// Guards against items that still show "Queued" while they are processed: the phase is the same.
#[wasm_bindgen_test]
fn track_labels_tracks_a_new_label_in_the_same_phase() {
    let running = |word: &str| {
        let state = json!({"state": "running", "id": "t1", "word": word});
        Task {
            state: serde_json::from_value(state).expect("a state"),
            ..task("a", 10)
        }
    };
    let shown = shown(&[running("queued")]);
    let store = shown.store;
    let label = Memo::new(move |_| {
        store.track_labels();
        store.with_tasks(|tasks| tasks[0].label().to_owned())
    });
    let runs = StoredValue::new(0);
    let phases = Memo::new(move |_| {
        store.track_phases();
        runs.update_value(|runs| *runs += 1);
    });
    assert_eq!(untrack(|| label.get()), "Queued");
    untrack(|| phases.get());
    store.show(&[running("processing")]);
    assert_eq!(untrack(|| label.get()), "Processing");
    untrack(|| phases.get());
    assert_eq!(runs.get_value(), 1, "the phase has not changed");
}

#[wasm_bindgen_test]
fn signal_of_a_task_changes_with_that_task_only() {
    let shown = shown(&[task("a", 10), task("b", 20)]);
    let signal = shown.store.task(&key("a")).expect("a task");
    let followed = signal.clone();
    let runs = StoredValue::new(0);
    let outputs = Memo::new(move |_| {
        runs.update_value(|runs| *runs += 1);
        followed.read().outputs().len()
    });
    assert_eq!((outputs.get(), runs.get_value()), (0, 1));
    shown.store.show(&[ready("b", 20, &["https://x/1"])]);
    assert_eq!((outputs.get(), runs.get_value()), (0, 1));
    shown
        .store
        .show(&[ready("a", 10, &["https://x/1", "https://x/2"])]);
    assert_eq!((outputs.get(), runs.get_value()), (2, 2));
    assert!(shown.store.task(&key("unknown")).is_none());
}

#[wasm_bindgen_test]
fn counts_follow_phases() {
    let shown = shown(&[task("a", 10), task("b", 20), ready("c", 30, &[])]);
    let store = shown.store;
    let model = store.task(&key("a")).expect("a task");
    let model = model.get_untracked().model;
    let active = Memo::new(move |_| store.active_count());
    let of_model = Memo::new(move |_| store.active_of(&model));
    assert_eq!((active.get(), of_model.get()), (2, 2));
    store.show(&[ready("a", 10, &[])]);
    assert_eq!((active.get(), of_model.get()), (1, 1));
    let mut one_of_a_batch = task("d", 40);
    one_of_a_batch.batch = Some(BatchPlace {
        batch: BatchKey("batch".into()),
        index: 0,
    });
    store.show(&[one_of_a_batch]);
    assert_eq!((active.get(), of_model.get()), (2, 1));
}

#[wasm_bindgen_test]
fn removed_task_is_not_listed_and_can_be_restored_at_its_position() {
    let shown = shown(&[task("a", 10), ready("b", 20, &[]), task("c", 30)]);
    let store = shown.store;
    let removed = Memo::new(move |_| store.removed().len());
    assert_eq!(removed.get(), 0);
    let mut removed_task = ready("b", 20, &[]);
    removed_task.removed = Some(50);
    store.show(&[removed_task.clone()]);
    assert_eq!(shown.keys(), ["c", "a"]);
    assert_eq!(removed.get(), 1);
    assert_eq!(store.removed()[0].key, removed_task.key);
    // Undo.
    removed_task.removed = None;
    store.show(&[removed_task]);
    assert_eq!(shown.keys(), ["c", "b", "a"]);
    assert_eq!(removed.get(), 0);
}

/// The page was reloaded while the removal could still be undone.
#[wasm_bindgen_test]
fn task_that_is_loaded_as_removed_is_known_and_not_listed() {
    let mut removed_task = ready("b", 20, &[]);
    removed_task.removed = Some(50);
    let shown = shown(&[task("a", 10), removed_task]);
    assert_eq!(shown.keys(), ["a"]);
    assert_eq!(shown.store.removed().len(), 1);
}

#[wasm_bindgen_test]
fn hidden_task_is_unknown_afterwards() {
    let shown = shown(&[task("a", 10), ready("b", 20, &["https://x/1"])]);
    shown.store.hide(&key("b"));
    assert_eq!(shown.keys(), ["a"]);
    assert!(shown.store.task(&key("b")).is_none());
    let outputs = shown.store.recent_outputs(OutputKind::Image, 9);
    assert!(outputs.is_empty());
    // Hiding the task again has no effect.
    shown.store.hide(&key("b"));
    assert_eq!(shown.keys(), ["a"]);
}

#[wasm_bindgen_test]
fn retry_is_listed_instead_of_the_failed_task_until_it_is_hidden() {
    let shown = shown(&[failed("first", 10)]);
    let store = shown.store;
    let latest = Memo::new(move |_| store.latest(&key("first")));
    assert_eq!(latest.get(), key("first"));
    let again = |name: &str, of: &str, created| {
        let mut task = failed(name, created);
        task.retry_of = Some(key(of));
        task
    };
    store.show(&[again("second", "first", 20)]);
    store.show(&[again("third", "second", 30), task("other", 5)]);
    assert_eq!(shown.keys(), ["third", "other"]);
    assert_eq!(latest.get(), key("third"));
    assert_eq!(store.latest(&key("other")), key("other"));
    store.hide(&key("third"));
    assert_eq!(shown.keys(), ["second", "other"]);
    assert_eq!(latest.get(), key("second"));
}

/// The second half of a double click on Retry must not hit the button of the next attempt.
#[wasm_bindgen_test]
async fn failed_task_stays_listed_briefly_after_a_retry() {
    let now = clock::now();
    let shown = shown(&[failed("first", now - 1_000)]);
    let mut again = task("second", now);
    again.retry_of = Some(key("first"));
    shown.store.show(&[again]);
    assert_eq!(shown.keys(), ["second", "first"]);
    until("the failed task to be replaced", || {
        shown.keys() == ["second"]
    })
    .await;
    assert!(clock::now() >= now + DEBOUNCE_MS - 100);
    assert_eq!(shown.store.latest(&key("first")), key("second"));
}

/// The retry is hidden before it has replaced the failed task.
#[wasm_bindgen_test]
async fn hidden_retry_does_not_replace_the_failed_task() {
    let now = clock::now();
    let shown = shown(&[failed("first", now - 1_000)]);
    let mut again = task("second", now);
    again.retry_of = Some(key("first"));
    shown.store.show(&[again]);
    shown.store.hide(&key("second"));
    until("the end of the delay", || clock::now() > now + DEBOUNCE_MS).await;
    pause().await;
    assert_eq!(shown.keys(), ["first"]);
    assert_eq!(shown.store.latest(&key("first")), key("first"));
}

/// Guards against the timer of a retry that accesses a disposed store.
#[wasm_bindgen_test]
fn retry_has_no_effect_in_a_disposed_store() {
    let shown = shown(&[failed("first", 10)]);
    let store = shown.store;
    drop(shown);
    let mut again = task("second", 20);
    again.retry_of = Some(key("first"));
    // This retry is so old that it replaces the failed task immediately.
    store.replace_failed(&again);
    store.show(&[again]);
    assert_eq!(store.newest(), None);
}

#[wasm_bindgen_test]
fn tasks_of_a_batch_are_ordered_by_index() {
    let of = |name: &str, batch: &str, index| {
        let mut task = task(name, 10);
        task.batch = Some(BatchPlace {
            batch: BatchKey(batch.into()),
            index,
        });
        task
    };
    let mut removed = of("x", "one", 3);
    removed.removed = Some(20);
    let tasks = [
        of("b", "one", 1),
        of("c", "one", 2),
        of("a", "one", 0),
        of("o", "another", 0),
        removed,
        task("alone", 10),
    ];
    let shown = shown(&tasks);
    let keys = shown.store.keys_of_batch(&BatchKey("one".into()));
    assert_eq!(keys, [key("a"), key("b"), key("c")]);
}

#[wasm_bindgen_test]
fn recent_outputs_are_newest_first_without_duplicates() {
    let shown = shown(&[
        ready("a", 10, &["https://x/old.png", "https://x/same.png"]),
        ready("b", 20, &["https://x/same.png", "https://x/film.mp4"]),
        ready("c", 30, &["https://x/new.png"]),
        task("d", 40),
    ]);
    let recent = |most| {
        let recent = shown.store.recent_outputs(OutputKind::Image, most);
        recent.into_iter().map(|(_, url)| url).collect::<Vec<_>>()
    };
    let all = [
        "https://x/new.png",
        "https://x/same.png",
        "https://x/old.png",
    ];
    assert_eq!(recent(9), all);
    assert_eq!(recent(2), all[..2]);
}

/// Guards against damaged records that replace each other, so that none is listed and can be removed.
#[wasm_bindgen_test]
fn one_of_two_tasks_that_are_retries_of_each_other_is_listed() {
    let retry = |name: &str, of: &str| Task {
        retry_of: Some(key(of)),
        ..task(name, 10)
    };
    let shown = shown(&[retry("a", "b"), retry("b", "a"), retry("itself", "itself")]);
    let keys = shown.keys();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(keys.contains(&"itself".to_owned()));
}
