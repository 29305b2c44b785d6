use super::*;

/// The label contains the number of grouped tasks, because the number of tasks would otherwise seem to contradict the
/// number of rows.
#[test]
fn the_label_counts_tasks_and_those_that_share_a_row() {
    let row = HistoryRow::Task(TaskKey("a".into()));
    let batch =
        |tasks: usize| HistoryRow::Batch(BatchKey("b".into()), vec![TaskKey("a".into()); tasks]);
    assert_eq!(count_label(6, 6, &vec![row.clone(); 6]), "6 tasks");
    assert_eq!(
        count_label(2, 6, &[row.clone(), row.clone()]),
        "2 tasks of 6"
    );
    let rows = [row, batch(4), batch(11)];
    assert_eq!(
        count_label(16, 16, &rows),
        "16 tasks (15 grouped in batches)"
    );
    let of_many = count_label(2_000, 11_242, &[batch(2_000)]);
    assert_eq!(of_many, "2,000 tasks of 11,242 (2,000 grouped in batches)");
}

#[test]
fn new_tasks_are_first_whatever_the_clock_shows() {
    assert_eq!(created(70, None, None), 70);
    assert_eq!(created(70, Some(40), None), 70);
    // The clock was set back, or both are created in the same millisecond.
    assert_eq!(created(70, Some(70), None), 71);
    assert_eq!(created(70, Some(900), None), 901);
    assert_eq!(created(70, Some(u64::MAX), None), u64::MAX);
    // The database is not read yet.
    assert_eq!(created(70, None, Some(900)), 901);
    assert_eq!(created(70, Some(950), Some(900)), 951);
    assert_eq!(created(70, None, Some(MAX_AHEAD + 71)), 70);
}
use proptest::prelude::*;

use atelier_contract::TaskId;
use serde_json::json;

fn task(key: usize, model: &str, created: u64, phase: Phase, title: &str) -> Task {
    let id = TaskId(format!("t-{key}"));
    serde_json::from_value(json!({
        "key": key.to_string(),
        "account": {"address": "", "uid": "me"},
        "model": {"category": "image", "subcategory": model},
        "model_name": format!("Model {model}"),
        "input": {
            "model": {"category": "image", "subcategory": model},
            "values": {"prompt": title, "style": "baroque", "seed": 90_210, "loop": true}
        },
        "created": created,
        "submitted": created,
        "finished": created + 40,
        "state": match phase {
            Phase::Failed => TaskState::Failed { id: Some(id), message: "no faces".into() },
            _ => TaskState::Ready { id, outputs: Vec::new() },
        },
    }))
    .unwrap()
}

fn records<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<HistoryEntry> {
    tasks.into_iter().map(HistoryEntry::new).collect()
}

#[test]
fn filters_and_the_counts_of_the_other_choices() {
    let tasks = [
        task(0, "a", 10, Phase::Ready, "a red cat"),
        task(1, "b", 30, Phase::Failed, "a red dog"),
        task(2, "a", 20, Phase::Ready, "a blue cat"),
        task(3, "a", 20, Phase::Failed, "Red sky"),
    ];
    let tasks = records(&tasks);
    let mut filter = Filter {
        query: Query::new("red"),
        ..Filter::default()
    };
    assert_eq!(filter.find(&tasks).positions, [1, 3, 0]);
    filter.phases = vec![Phase::Failed];
    filter.model = Some(ModelId::new("image", "a"));
    let found = filter.find(&tasks);
    assert_eq!(found.positions, [3]);
    assert_eq!(found.phases, [(Phase::Ready, 1), (Phase::Failed, 1)]);
    assert_eq!(
        found.models,
        [
            (ModelId::new("image", "b"), 1),
            (ModelId::new("image", "a"), 1)
        ]
    );
    let dated = Filter {
        created: 20..30,
        ..Filter::default()
    };
    assert_eq!(dated.find(&tasks).positions, [3, 2]);
    let mut tasks = tasks;
    tasks[2].has_favorites = true;
    let favorites = Filter {
        favorites: true,
        ..Filter::default()
    };
    assert_eq!(favorites.find(&tasks).positions, [2]);
    assert_eq!(Filter::default().find(&tasks).positions, [1, 3, 2, 0]);
}

#[test]
fn tasks_of_a_batch_share_a_row_unless_there_is_only_one() {
    let place = |batch: &str, index| {
        let batch = BatchKey(batch.into());
        Some(BatchPlace { batch, index })
    };
    let mut tasks = [
        task(0, "a", 10, Phase::Ready, "red"),
        task(1, "a", 10, Phase::Failed, "blue"),
        task(2, "a", 20, Phase::Ready, "red"),
        task(3, "a", 30, Phase::Ready, "red"),
    ];
    for (at, task) in tasks.iter_mut().enumerate() {
        task.batch = place("b", 1 - at.min(1)).filter(|_| at < 2);
    }
    tasks[3].batch = place("c", 0);
    let records = records(&tasks);
    let shown = |filter: Filter| rows(&records, &filter.find(&records).positions);
    let task = |n: &str| HistoryRow::Task(TaskKey(n.into()));
    let keys = ["1", "0"].map(|key| TaskKey(key.into())).to_vec();
    assert_eq!(
        shown(Filter::default()),
        [
            task("3"),
            task("2"),
            HistoryRow::Batch(BatchKey("b".into()), keys)
        ]
    );
    let blue = Filter {
        query: Query::new("blue"),
        ..Filter::default()
    };
    assert_eq!(shown(blue), [task("1")]);
    assert_eq!(rows(&records, &[77]), []);
}

/// Guards against a batch that can't be found by its name.
#[test]
fn tasks_are_found_by_the_name_of_their_batch() {
    let batch = BatchKey("x".into());
    let mut tasks = [
        task(0, "a", 10, Phase::Ready, "red"),
        task(1, "a", 10, Phase::Ready, "blue"),
    ];
    tasks[1].batch = Some(BatchPlace {
        batch: batch.clone(),
        index: 0,
    });
    let filter = Filter {
        query: Query::new("passes"),
        named: [batch].into(),
        ..Filter::default()
    };
    assert_eq!(filter.find(&records(&tasks)).positions, [1]);
}

#[test]
fn a_task_is_found_by_all_its_texts() {
    let tasks = records(&[task(77, "fluxfield", 0, Phase::Failed, "a cat")]);
    for text in [
        "cat",
        "fluxfield image",
        "model",
        "baroque",
        "90210",
        "loop true",
        "faces",
        "t-77",
    ] {
        let filter = Filter {
            query: Query::new(text),
            ..Filter::default()
        };
        assert_eq!(filter.find(&tasks).positions, [0], "{text}");
    }
}

#[test]
fn an_estimate_uses_completed_tasks_of_the_model() {
    let tasks = [
        task(0, "a", 10, Phase::Ready, ""),
        task(1, "b", 10, Phase::Ready, ""),
        task(2, "a", 10, Phase::Failed, ""),
    ];
    let of = |tasks: &[Task]| estimate(tasks, &ModelId::new("image", "a"), None);
    assert_eq!(of(&tasks), Some(40));
    assert_eq!(of(&tasks[2..]), None);
}

/// Most tasks of a batch wait for each other, and the end of a task is unknown while the page is closed.
#[test]
fn an_estimate_uses_tasks_that_did_not_wait_and_were_observed_to_end() {
    let of = |tasks: &[Task]| estimate(tasks, &ModelId::new("image", "a"), None);
    let mut tasks: Vec<Task> = (0..8)
        .map(|key| task(key, "a", 10, Phase::Ready, ""))
        .collect();
    for (index, task) in tasks.iter_mut().enumerate().take(5) {
        let batch = BatchKey("b".into());
        (task.batch, task.finished) = (Some(BatchPlace { batch, index }), Some(5_000));
    }
    assert_eq!(of(&tasks[..5]), Some(4_990), "there are no better tasks");
    assert_eq!(of(&tasks[..7]), Some(4_990), "two tasks are not enough");
    assert_eq!(of(&tasks), Some(40));
    tasks[7].ended_unseen = true;
    assert_eq!(of(&tasks), Some(4_990));
}

/// A task with four outputs takes longer than one with a single output.
#[test]
fn an_estimate_uses_tasks_with_as_many_outputs() {
    let made = |key: usize, outputs: usize| {
        let mut task = task(key, "a", 10, Phase::Ready, "");
        let id = TaskId("t".into());
        let outputs = vec!["https://a/b.png".to_owned(); outputs];
        // Four outputs take four times as long.
        task.finished = Some(10 + 10 * outputs.len() as u64);
        task.state = TaskState::Ready { id, outputs };
        task
    };
    let of = |tasks: &[Task], outputs| estimate(tasks, &ModelId::new("image", "a"), outputs);
    let mut tasks: Vec<Task> = (0..9).map(|key| made(key, 1)).collect();
    tasks.extend([9, 10].map(|key| made(key, 4)));
    assert_eq!(of(&tasks, Some(4)), Some(10), "two tasks are not enough");
    tasks.push(made(11, 4));
    let counts = [Some(4), Some(1), Some(2), None];
    let times = counts.map(|outputs| of(&tasks, outputs));
    assert_eq!(times, [Some(40), Some(10), Some(10), Some(10)]);
}

proptest! {
    #[test]
    fn results_are_sorted_and_counts_add_up(tasks in prop::collection::vec((0..4u8, 0..50u64, prop::bool::ANY), 0..60)) {
        let tasks: Vec<HistoryEntry> = tasks
            .iter()
            .enumerate()
            .map(|(key, (model, created, failed))| {
                let phase = if *failed { Phase::Failed } else { Phase::Ready };
                HistoryEntry::new(&task(key, &model.to_string(), *created, phase, "x"))
            })
            .collect();
        let found = Filter::default().find(&tasks);
        prop_assert_eq!(found.positions.len(), tasks.len());
        prop_assert!(found.positions.windows(2).all(|pair| tasks[pair[0]].created >= tasks[pair[1]].created));
        prop_assert_eq!(found.phases.iter().map(|(_, n)| n).sum::<usize>(), tasks.len());
        prop_assert_eq!(found.models.iter().map(|(_, n)| n).sum::<usize>(), tasks.len());
    }
}

/// A quadratic algorithm would exceed the time limit of a test.
#[test]
fn filter_time_grows_linearly_with_the_tasks() {
    let entry = |n: usize| {
        let prompt = format!(
            "A lighthouse keeper number {n} with his seven cats on a rocky coast at dusk, \
             oil on canvas, warm light, long shadows, detailed brush work, variation {}",
            n % 97
        );
        let phase = [Phase::Ready, Phase::Failed][n % 2];
        HistoryEntry::new(&task(n, &(n % 12).to_string(), n as u64, phase, &prompt))
    };
    let tasks: Vec<HistoryEntry> = (0..20_000).map(entry).collect();
    for text in ["", "keeper", "lighthuose brsh 77"] {
        let filter = Filter {
            query: Query::new(text),
            ..Filter::default()
        };
        assert!(!filter.find(&tasks).positions.is_empty(), "{text}");
    }
}
