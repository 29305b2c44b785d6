use super::*;
use crate::task::{Account, BatchKey, BatchPlace, CancelRequest, PollError, TaskKey};
use crate::{Phase, TaskState};
use atelier_contract::{ApiError, Input, StatusWord, TaskId};
use proptest::prelude::*;
use serde_json::{Map, json};

/// Returns a record with all fields, in the order in which they are written.
fn full() -> Value {
    json!({
        "key": "k", "account": {"address": "https://s.example", "uid": "me"},
        "model": {"category": "image", "subcategory": "a"}, "model_name": "A",
        "input": {
            "model": {"category": "image", "subcategory": "a"},
            "values": {"seed": u64::MAX, "low": i64::MIN, "scale": 0.1, "prompt": "é\n"}
        },
        "created": 1,
        "state": {"state": "failed", "id": null, "message": "no"},
        "trouble": {"since": 2, "error": {"kind": "rate_limited", "message": "", "retry_after_ms": null}},
        "watching": false, "paused": true, "taken_back": true, "not_before": 3, "waits_since": 9, "retry_of": "j",
        "batch": {"batch": "b", "index": 4}, "varied": "o", "submitted": 5, "idempotency_key": "k", "accepted": 6, "finished": 7, "refreshed": 8,
        "favorites": [2, 0],
        "cancel": {"since": 11, "refusal": "It can't."},
        "later": {"z": 1, "a": [null]}, "and_later": null
    })
}

/// The samples were written by a release without serde's derives. They contain all states and kinds of errors, with all
/// optional fields and with none.
#[test]
fn stored_samples_round_trip() {
    let samples = include_str!("samples.jsonl").lines();
    for (at, sample) in samples.enumerate() {
        let task = json::read(sample).and_then(Task::from_value);
        let written = task.map(|task| [task.to_value().to_string(), task.to_text()]);
        assert_eq!(
            written,
            Some([sample, sample].map(String::from)),
            "sample {at}"
        );
    }
}

#[test]
fn every_field_round_trips() {
    let task = Task::from_value(full()).unwrap();
    assert_eq!(task.to_value().to_string(), full().to_string());
}

/// The progress is sent to other tabs, but not stored.
#[test]
fn progress_is_not_stored() {
    let task = Task::from_value(full()).unwrap();
    let mut running = task.clone();
    running.progress = Some("step 3".into());
    running.fraction = Some(0.3);
    running.preview = Some("/p.png".into());
    assert_eq!(running.to_text(), task.to_text());
    assert_eq!(Task::from_value(running.to_value()), Some(running));
}

#[test]
fn reads_records_of_the_first_version() {
    let mut value = full();
    let map = value.as_object_mut().unwrap();
    for name in [
        "trouble",
        "watching",
        "paused",
        "taken_back",
        "not_before",
        "waits_since",
        "retry_of",
        "batch",
        "varied",
        "submitted",
        "idempotency_key",
        "accepted",
        "finished",
        "refreshed",
        "favorites",
        "cancel",
        "later",
        "and_later",
    ] {
        map.shift_remove(name);
    }
    let task = Task::from_value(value.clone()).unwrap();
    assert!(task.watching && !task.paused && !task.taken_back && task.extra.is_empty());
    assert!(task.favorites.is_empty());
    value["watching"] = json!(true);
    assert_eq!(task.to_value(), value);
    value["submitted"] = Value::Null;
    assert_eq!(Task::from_value(value).unwrap(), task);
}

/// Earlier releases must be able to read a canceled task, as a failure.
#[test]
fn a_canceled_task_is_stored_as_a_failure() {
    let stored = json!({"state": "failed", "id": "1", "message": "Canceled", "canceled": true});
    let state = TaskState::Canceled {
        id: TaskId("1".into()),
    };
    assert_eq!(json::encode(&state), stored);
    assert_eq!(json::decode(stored), Some(state));
    for (id, canceled) in [(json!("1"), json!(false)), (json!(null), json!(true))] {
        let failed = json!({"state": "failed", "id": id, "message": "no", "canceled": canceled});
        let state: TaskState = json::decode(failed).unwrap();
        assert_eq!(state.phase(), Phase::Failed);
    }
}

/// Guards against a task that is not shown and not followed while two releases use the same browser.
#[test]
fn a_state_of_a_later_release_is_read_as_a_status_of_the_service() {
    for word in ["asleep", "canceled"] {
        let mut value = full();
        value["state"] = json!({"state": word, "id": "1", "since": 7});
        let task = Task::from_value(value).unwrap();
        let running = TaskState::Running {
            id: TaskId("1".into()),
            word: StatusWord::Other(word.into()),
        };
        assert_eq!((task.state.label(), &task.state), (word, &running));
        // It can be read again.
        assert_eq!(Task::from_value(task.to_value()), Some(task));
    }
}

#[test]
fn rejects_invalid_records() {
    for (pointer, odd) in [
        ("/key", json!(1)),
        ("/created", json!(-1)),
        ("/created", json!(1.5)),
        ("/account", json!([])),
        ("/state/state", json!("asleep")),
        ("/state/message", json!(null)),
        ("/trouble/error/kind", json!("new")),
        ("/watching", json!(null)),
        ("/batch/index", json!("4")),
        ("/cancel/since", json!("11")),
    ] {
        let mut value = full();
        *value.pointer_mut(pointer).unwrap() = odd;
        assert_eq!(Task::from_value(value), None, "{pointer}");
    }
    for value in [json!(null), json!([]), json!({}), json!("k")] {
        assert_eq!(Task::from_value(value), None);
    }
}

fn errors() -> impl Strategy<Value = ApiError> {
    let field = |(parameter, message): (String, String)| json!({"parameter": parameter, "message": message});
    let wait = prop::option::of(any::<u64>());
    prop_oneof![
        ".*".prop_map(|detail| ApiError::Network { detail }),
        any::<u64>().prop_map(|after_ms| ApiError::Timeout { after_ms }),
        ".*".prop_map(|message| ApiError::Unauthorized {
            message,
            is_forbidden: false
        }),
        ".*".prop_map(|message| ApiError::NotFound {
            message,
            is_of_service: false
        }),
        (".*", prop::collection::vec((".*", ".*"), 0..3)).prop_map(move |(message, fields)| {
            let fields: Vec<Value> = fields.into_iter().map(field).collect();
            let error = json!({"kind": "invalid", "message": message, "fields": fields});
            json::decode(error).unwrap()
        }),
        (".*", wait.clone()).prop_map(|(message, retry_after_ms)| ApiError::RateLimited {
            message,
            retry_after_ms
        }),
        (any::<u16>(), ".*", wait).prop_map(|(status, message, retry_after_ms)| {
            ApiError::Server {
                status,
                message,
                retry_after_ms,
            }
        }),
        ".*".prop_map(ApiError::malformed),
        (any::<u16>(), ".*").prop_map(|(status, message)| ApiError::Refused { status, message }),
    ]
}

fn states() -> impl Strategy<Value = TaskState> {
    let id = || ".*".prop_map(TaskId);
    prop_oneof![
        Just(TaskState::Queued),
        Just(TaskState::Submitting),
        errors().prop_map(|error| TaskState::Unconfirmed { error }),
        (id(), "[a-z ]*").prop_map(|(id, word)| TaskState::Running {
            id,
            word: StatusWord::from(word.as_str())
        }),
        id().prop_map(|id| TaskState::Fetching { id }),
        (id(), prop::collection::vec(".*", 0..3))
            .prop_map(|(id, outputs)| TaskState::Ready { id, outputs }),
        (prop::option::of(id()), ".*").prop_map(|(id, message)| TaskState::Failed { id, message }),
        id().prop_map(|id| TaskState::Gone { id }),
        id().prop_map(|id| TaskState::Canceled { id }),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((".*", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn fields(names: &'static str) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((names, values()), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn tasks() -> impl Strategy<Value = Task> {
    let time = || prop::option::of(any::<u64>());
    let facts = (
        [".*", ".*", ".*", ".*"],
        (any::<u64>(), any::<[bool; 4]>()),
        [time(), time(), time(), time()],
        [prop::option::of(".*"), prop::option::of(".*")],
        prop::option::of((".*", any::<u32>())),
        prop::option::of((any::<u64>(), errors())),
    );
    // Names of future fields must not collide with current ones.
    (facts, states(), fields(".*"), fields("x_.*")).prop_map(|(facts, state, values, extra)| {
        let ([key, address, uid, model_name], (created, switches), times, ..) = facts;
        let (.., [retry_of, idempotency_key], batch, trouble) = facts;
        let [not_before, submitted, accepted, finished] = times;
        let refused_cancel = retry_of.clone();
        let input = json!({"model": {"category": uid, "subcategory": key}, "values": values});
        let mut task = Task::new(
            TaskKey(key),
            Account { address, uid },
            model_name,
            Input::from_value(input).unwrap(),
            created,
        );
        task.state = state;
        task.poll_error = trouble.map(|(since, error)| PollError { since, error });
        [
            task.watching,
            task.paused,
            task.taken_back,
            task.seed_chosen,
        ] = switches;
        task.not_before = not_before;
        task.retry_of = retry_of.map(TaskKey);
        task.batch = batch.map(|(batch, index)| BatchPlace {
            batch: BatchKey(batch),
            index: index as usize,
        });
        (task.submitted, task.accepted, task.finished) = (submitted, accepted, finished);
        task.idempotency_key = idempotency_key;
        task.cancel = accepted.map(|since| CancelRequest {
            since,
            refusal: refused_cancel,
        });
        task.extra = extra;
        task
    })
}

proptest! {
    #[test]
    fn any_task_round_trips(task in tasks()) {
        let text = task.to_value().to_string();
        let read = Task::from_value(json::read(&text).unwrap()).unwrap();
        prop_assert_eq!(&read, &task);
        prop_assert_eq!(read.to_value().to_string(), text);
    }

    #[test]
    fn handles_fields_of_any_shape(name in "[a-z_]{1,10}", odd in values()) {
        let mut value = full();
        let names: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        for name in names.into_iter().chain([name]) {
            let before = value[&name].clone();
            value[&name] = odd.clone();
            let _ = Task::from_value(value.clone());
            value[&name] = before;
        }
    }
}
