use super::*;
use atelier_engine::TaskState;
use serde_json::json;

/// Returns a completed task with two outputs.
fn task(key: &str, model: &str, created: Millis, prompt: &str) -> Task {
    serde_json::from_value(json!({
        "key": key,
        "account": {"address": "", "uid": "me"},
        "model": {"category": "image", "subcategory": model},
        "model_name": model,
        "input": {
            "model": {"category": "image", "subcategory": model},
            "values": {"prompt": prompt, "aspect_ratio": "16:9", "style": "baroque"}
        },
        "created": created,
        "favorites": [1],
        "state": TaskState::Ready {
            id: atelier_contract::TaskId(key.into()),
            outputs: vec!["https://a.example/1.png".into(), "https://a.example/2.mp4".into()],
        },
    }))
    .unwrap()
}

fn found(filter: &GalleryFilter, tasks: &[Task]) -> Vec<String> {
    let entries: Vec<GalleryEntry> = tasks.iter().flat_map(GalleryEntry::all_of).collect();
    filter.find(&entries).map(GalleryEntry::name).collect()
}

#[test]
fn newest_first_and_the_outputs_of_a_task_in_their_order() {
    let tasks = [
        task("a", "strata", 10, "a lake"),
        task("b", "silk", 30, "a red lake"),
    ];
    let all = found(&GalleryFilter::default(), &tasks);
    assert_eq!(all, ["b/0", "b/1", "a/0", "a/1"]);
    let entries = GalleryEntry::all_of(&tasks[0]);
    assert_eq!(entries[0].ratio, Some(16.0 / 9.0));
    assert_eq!(entries[1].kind, OutputKind::Video);
}

/// Tasks of a batch are created in the same millisecond, and their keys are random.
#[test]
fn outputs_created_together_are_in_the_order_of_their_batch() {
    let place = |key: &str, index| {
        let mut task = task(key, "strata", 20, "a lake");
        let batch = BatchKey("lakes".into());
        task.batch = Some(BatchPlace { batch, index });
        task
    };
    let tasks = [
        place("z", 1),
        task("newer", "strata", 30, "a lake"),
        place("m", 2),
        place("a", 0),
        task("older", "strata", 10, "a lake"),
    ];
    let tasks = found(&GalleryFilter::default(), &tasks);
    let firsts: Vec<_> = tasks
        .iter()
        .filter_map(|it| it.strip_suffix("/0"))
        .collect();
    assert_eq!(firsts, ["newer", "a", "z", "m", "older"]);
    assert_eq!(tasks[2..4], ["a/0", "a/1"]);
}

/// A retry must not move an item in the order of arrow keys.
#[test]
fn a_batch_is_in_its_own_order_regardless_of_creation_times() {
    let place = |key: &str, created, index| {
        let mut task = task(key, "strata", created, "a lake");
        let batch = BatchKey("lakes".into());
        task.batch = Some(BatchPlace { batch, index });
        task
    };
    let tasks = [place("c", 20, 2), place("b", 90, 1), place("a", 20, 0)];
    let filter = GalleryFilter {
        scope: Scope::Batch(BatchKey("lakes".into())),
        ..GalleryFilter::default()
    };
    let found = found(&filter, &tasks);
    assert_eq!(found, ["a/0", "a/1", "b/0", "b/1", "c/0", "c/1"]);
}

#[test]
fn each_criterion_narrows_the_result() {
    let tasks = [
        task("a", "strata", 10, "a lake"),
        task("b", "silk", 30, "a red lake"),
    ];
    let filter = |change: &dyn Fn(&mut GalleryFilter)| {
        let mut filter = GalleryFilter::default();
        change(&mut filter);
        found(&filter, &tasks)
    };
    assert_eq!(
        filter(&|f| f.kind = Some(OutputKind::Video)),
        ["b/1", "a/1"]
    );
    assert_eq!(filter(&|f| f.favorites = true), ["b/1", "a/1"]);
    assert_eq!(filter(&|f| f.query = Query::new("red")), ["b/0", "b/1"]);
    assert_eq!(
        filter(&|f| f.query = Query::new("baroque strata")),
        ["a/0", "a/1"]
    );
    let silk = ModelId::new("image", "silk");
    assert_eq!(filter(&|f| f.model = Some(silk.clone())), ["b/0", "b/1"]);
    assert_eq!(
        filter(&|f| f.scope = Scope::Model(silk.clone())),
        ["b/0", "b/1"]
    );
    let a = TaskKey("a".into());
    assert_eq!(
        filter(&|f| f.scope = Scope::of(&Route::Task(a.clone()))),
        ["a/0", "a/1"]
    );
    assert_eq!(
        filter(&|f| f.scope = Scope::Batch(BatchKey("x".into()))),
        [""; 0]
    );
}

#[test]
fn unfinished_tasks_have_no_outputs() {
    let mut unfinished = task("a", "strata", 10, "a lake");
    unfinished.state = TaskState::Queued;
    assert!(GalleryEntry::all_of(&unfinished).is_empty());
}

/// A query with a number finds only outputs with exactly this number, if there are any. Names of days select days.
#[test]
fn numbers_match_exactly_first_and_days_are_days() {
    let seeded = |key: &str, seed: u64, created: Millis, prompt: &str| {
        let mut task = task(key, "strata", created, prompt);
        let mut values = task.input.values().clone();
        values.insert("seed".into(), seed.into());
        let model = json!({"category": "image", "subcategory": "strata"});
        let input = json!({"model": model, "values": values});
        task.input = serde_json::from_value(input).unwrap();
        task
    };
    let tasks = [
        seeded("a", 1020, 10, "a lake"),
        seeded("b", 10_203, 20, "a lake"),
        seeded("c", 77, 30, "as it was yesterday"),
    ];
    let typed = |text: &str| GalleryFilter {
        query: Query::new(text),
        ..GalleryFilter::default()
    };
    assert_eq!(found(&typed("1020"), &tasks), ["a/0", "a/1"]);
    assert_eq!(found(&typed("102"), &tasks), ["b/0", "b/1", "a/0", "a/1"]);
    assert_eq!(found(&typed("lake 1020"), &tasks), ["a/0", "a/1"]);
    let long = [seeded("d", 777, 40, &"a wide valley ".repeat(200))];
    assert_eq!(
        found(&typed("777"), &long),
        ["d/0", "d/1"],
        "the number follows a long prompt"
    );
    let yesterday = GalleryFilter {
        named_days: Some((15..25, Query::new(""))),
        ..typed("yesterday")
    };
    assert_eq!(found(&yesterday, &tasks), ["c/0", "c/1", "b/0", "b/1"]);
    let created = GalleryFilter {
        created: Some(15..25),
        ..GalleryFilter::default()
    };
    assert_eq!(found(&created, &tasks), ["b/0", "b/1"]);
}
