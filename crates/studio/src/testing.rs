//! Tasks for tests.

use atelier_engine::{Account, Millis, Task, TaskKey};
use serde_json::json;

/// Returns a queued task whose prompt is its key.
pub fn task(key: &str, created: Millis) -> Task {
    let account = Account {
        address: "https://service.example".into(),
        uid: "me".into(),
    };
    let input = json!({
        "model": {"category": "image", "subcategory": "a"},
        "values": {"prompt": key, "seed": u64::MAX},
    });
    let input = serde_json::from_value(input).unwrap();
    Task::new(TaskKey(key.into()), account, "A".into(), input, created)
}
