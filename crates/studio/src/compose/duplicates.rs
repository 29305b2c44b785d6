//! Finds items whose results exist already, and items that are in a batch twice. The same input with the same seed
//! gives the same files, which are charged again.

use std::collections::{BTreeMap, HashMap, HashSet};

use atelier_contract::{Draft, Schema};
use atelier_engine::{Account, BatchPlace, Phase, Task};
use serde_json::{Map, Value};

use crate::form::seed;

mod repeats;

pub use repeats::Repeats;

/// A draft whose result exists or is being generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The index of the draft.
    pub at: usize,
    /// The batch and place of the task with that result, if it belongs to a batch.
    pub place: Option<BatchPlace>,
    /// Whether the result is still being generated.
    pub is_under_way: bool,
}

/// An input as the service sees it: with defaults filled in.
type CompleteInput = BTreeMap<String, String>;

/// Finds the drafts whose results a task of the account has generated or is generating. Drafts without a fixed seed are
/// never duplicates.
pub fn find_duplicates(
    drafts: &[&Draft],
    schema: &Schema,
    account: &Account,
    tasks: &[&Task],
) -> Vec<Duplicate> {
    let by_seed = tasks_by_seed(schema, account, tasks);
    duplicates_in(
        &with_fixed_seeds(drafts, schema, &by_seed),
        &by_seed,
        schema,
    )
}

/// A seed as a number, so that two spellings of a seed are equal.
type SeedBits = u64;

fn bits(text: &str) -> Option<SeedBits> {
    text.parse::<f64>().ok().map(f64::to_bits)
}

/// Returns the account's tasks of the model that have or will have files, by their seeds.
fn tasks_by_seed<'a>(
    schema: &Schema,
    account: &Account,
    tasks: &[&'a Task],
) -> HashMap<SeedBits, Vec<&'a Task>> {
    let default_seed = schema.parameter(seed::NAME);
    let default_seed = default_seed.and_then(|(it, _)| it.default.as_ref());
    let is_ours = |task: &&&Task| {
        task.model == schema.model && task.account == *account && has_or_will_have_files(task)
    };
    let mut by_seed: HashMap<SeedBits, Vec<&Task>> = HashMap::new();
    for task in tasks.iter().filter(is_ours) {
        let seed = task.input.values().get(seed::NAME).or(default_seed);
        if let Some(bits) = seed.and_then(|seed| bits(&seed.to_string())) {
            by_seed.entry(bits).or_default().push(task);
        }
    }
    by_seed
}

fn duplicates_in(
    fixed: &[(usize, CompleteInput)],
    by_seed: &HashMap<SeedBits, Vec<&Task>>,
    schema: &Schema,
) -> Vec<Duplicate> {
    let seeds = fixed
        .iter()
        .filter_map(|(_, input)| bits(input.get(seed::NAME)?));
    let seeds: HashSet<SeedBits> = seeds.collect();
    let mut known: HashMap<CompleteInput, &Task> = HashMap::new();
    for task in seeds.iter().filter_map(|seed| by_seed.get(seed)).flatten() {
        let known = known.entry(complete_input(task.input.values(), schema));
        let best = known.or_insert(task);
        if is_under_way(best) {
            *best = task;
        }
    }
    let found = |(at, input): &(usize, CompleteInput)| {
        let task = known.get(input)?;
        Some(Duplicate {
            at: *at,
            place: task.batch.clone(),
            is_under_way: is_under_way(task),
        })
    };
    fixed.iter().filter_map(found).collect()
}

/// Returns the valid drafts whose fixed seed equals that of a task or of another draft, each with its index. Only these
/// can be duplicates. Most drafts of a large batch have no such seed, so they need no validation.
fn with_fixed_seeds(
    drafts: &[&Draft],
    schema: &Schema,
    by_seed: &HashMap<SeedBits, Vec<&Task>>,
) -> Vec<(usize, CompleteInput)> {
    let numbered = drafts.iter().enumerate();
    let fixed = numbered.filter_map(|(at, draft)| Some((at, *draft, fixed_seed(draft, schema)?)));
    let fixed: Vec<(usize, &Draft, SeedBits)> = fixed.collect();
    let mut counts: HashMap<SeedBits, usize> = HashMap::new();
    for (_, _, seed) in &fixed {
        *counts.entry(*seed).or_default() += 1;
    }
    let may_be_duplicate = |seed: &SeedBits| counts[seed] > 1 || by_seed.contains_key(seed);
    let inputs = fixed
        .into_iter()
        .filter(|(_, _, seed)| may_be_duplicate(seed));
    let inputs = inputs.filter_map(|(at, draft, _)| {
        let input = schema.validate(draft, false).ok()?;
        Some((at, complete_input(input.values(), schema)))
    });
    inputs.collect()
}

/// Returns the seed if the model generates the same result from it each time. By convention, -1, a seed below the
/// minimum and a default below 0 stand for a random seed.
fn fixed_seed(draft: &Draft, schema: &Schema) -> Option<SeedBits> {
    let parameter = schema.parameter(seed::NAME).map(|(it, _)| it);
    let parameter = parameter.filter(|it| it.is_seed())?;
    let typed = seed::text(draft);
    let default_seed = parameter.default.as_ref().map(Value::to_string);
    let (text, least) = match (typed.trim(), &default_seed) {
        ("", Some(default_seed)) => (default_seed.as_str(), 0.0),
        (typed, _) => (typed, f64::MIN),
    };
    let minimum = parameter.minimum.as_ref().and_then(|it| it.as_f64());
    let least = minimum.map_or(least, |minimum| minimum.max(least));
    let is_fixed = |seed: &f64| *seed >= least && (seed + 1.0).abs() > f64::EPSILON;
    text.parse().ok().filter(is_fixed).map(f64::to_bits)
}

fn has_or_will_have_files(task: &Task) -> bool {
    match task.state.phase() {
        Phase::Failed | Phase::Gone | Phase::Canceled | Phase::Unconfirmed => false,
        Phase::Ready => !task.outputs().is_empty(),
        Phase::Queued | Phase::Submitting | Phase::Running | Phase::Fetching => !task.taken_back,
    }
}

fn is_under_way(task: &Task) -> bool {
    task.state.phase() != Phase::Ready
}

fn complete_input(values: &Map<String, Value>, schema: &Schema) -> CompleteInput {
    let defaults = schema.parameters().filter_map(|(parameter, _)| {
        let value = parameter.default.as_ref().filter(|it| !it.is_null())?;
        Some((&parameter.name, value))
    });
    let all = defaults.chain(values);
    all.map(|(name, value)| (name.clone(), value.to_string()))
        .collect()
}

/// Maps each seed of these drafts to a new one, so that drafts that share a seed share the new one.
pub fn fresh_seeds<'a>(
    drafts: impl Iterator<Item = &'a Draft>,
    schema: &Schema,
    random: &mut dyn FnMut() -> u64,
) -> HashMap<String, String> {
    let Some((parameter, _)) = schema.parameter(seed::NAME) else {
        return HashMap::new();
    };
    let mut fresh = HashMap::new();
    for seed in drafts.map(seed::text) {
        let drawn = || seed::seed(parameter, random()).to_string();
        fresh.entry(seed).or_insert_with(drawn);
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::table::ToSend;
    use atelier_contract::{ApiError, Entry, TaskId};
    use atelier_engine::{BatchKey, TaskKey, TaskState};
    use serde_json::json;

    fn schema(seed: Value) -> Schema {
        let schema = json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [{"name": "steps", "type": "integer", "default": 20}, seed]
            }
        });
        Schema::from_value(schema).unwrap()
    }

    fn seeded() -> Schema {
        schema(json!({"name": "seed", "type": "integer"}))
    }

    fn draft(prompt: &str, seed: &str) -> Draft {
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(prompt.into()));
        draft.set("seed", Entry::Text(seed.into()));
        draft
    }

    fn task(draft: &Draft, schema: &Schema) -> Task {
        let input = schema.validate(draft, false).unwrap();
        let key = TaskKey("k".into());
        let mut task = Task::new(key, Account::default(), "A".into(), input, 0);
        task.batch = Some(BatchPlace {
            batch: BatchKey("one".into()),
            index: 3,
        });
        task
    }

    fn places(drafts: &[Draft], schema: &Schema, tasks: &[Task]) -> Vec<usize> {
        let drafts: Vec<&Draft> = drafts.iter().collect();
        let tasks: Vec<&Task> = tasks.iter().collect();
        let made = find_duplicates(&drafts, schema, &Account::default(), &tasks);
        made.into_iter().map(|made| made.at).collect()
    }

    /// Guards against generating and charging the same files again without a warning.
    #[test]
    fn the_same_input_with_the_same_seed_is_a_duplicate() {
        let schema = seeded();
        let tasks = [task(&draft("a", "7"), &schema)];
        let mut with_default = draft("a", "7");
        with_default.set("steps", Entry::Text("20".into()));
        let mut other = draft("a", "7");
        other.set("steps", Entry::Text("21".into()));
        let drafts = [
            draft("b", "7"),
            draft("a", " 7"),
            with_default,
            other,
            draft("a", "8"),
        ];
        assert_eq!(places(&drafts, &schema, &tasks), [1, 2]);
        let found = find_duplicates(&[&drafts[1]], &schema, &Account::default(), &[&tasks[0]]);
        assert_eq!(found[0].place, tasks[0].batch);
    }

    #[test]
    fn drafts_with_random_seeds_or_failed_tasks_are_not_duplicates() {
        let schema = seeded();
        let mut failed = task(&draft("a", "7"), &schema);
        failed.state = TaskState::Unconfirmed {
            error: ApiError::Timeout { after_ms: 1 },
        };
        assert!(places(&[draft("a", "7")], &schema, &[failed]).is_empty());
        let mut drawn = draft("a", "");
        let tasks = [
            task(&draft("a", "7"), &schema),
            task(&draft("a", "-1"), &schema),
        ];
        assert!(places(&[drawn.clone(), draft("a", "-1")], &schema, &tasks).is_empty());
        drawn.reset("seed");
        assert!(places(&[drawn], &schema, &tasks).is_empty());
        let without = self::schema(json!({"name": "size", "type": "integer"}));
        let mut plain = Draft::default();
        plain.set("prompt", Entry::Text("a".into()));
        let tasks = [task(&plain, &without)];
        assert!(places(&[plain], &without, &tasks).is_empty());
    }

    #[test]
    fn drafts_that_share_a_seed_share_the_new_one() {
        let drafts = [draft("a", "7"), draft("b", "7"), draft("c", "8")];
        let mut bits = 0;
        let mut random = || {
            bits += 1 << 40;
            bits
        };
        let fresh = fresh_seeds(drafts.iter(), &seeded(), &mut random);
        assert_eq!(fresh.len(), 2);
        assert_ne!(fresh["7"], fresh["8"]);
    }

    #[test]
    fn a_seed_is_fixed_unless_its_value_means_random() {
        let is_fixed = |seed: Value, text: &str| {
            let schema = schema(seed);
            let mut draft = draft("a", text);
            if text.is_empty() {
                draft.reset("seed");
            }
            let tasks = [task(&draft, &schema)];
            !places(&[draft], &schema, &tasks).is_empty()
        };
        let seed = |default: Value| json!({"name": "seed", "type": "integer", "default": default});
        assert!(is_fixed(seed(json!(42)), "") && is_fixed(seed(json!(42)), "7"));
        assert!(!is_fixed(seed(json!(-1)), "") && !is_fixed(seed(Value::Null), ""));
        assert!(is_fixed(seed(Value::Null), "-5") && !is_fixed(seed(Value::Null), "-1"));
        assert!(is_fixed(seed(json!(-1)), "0"));

        let required = json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [
                    {"name": "prompt", "type": "string"},
                    {"name": "seed", "type": "integer"}
                ],
                "optional": []
            }
        });
        let required = Schema::from_value(required).unwrap();
        let tasks = [task(&draft("a", "7"), &required)];
        assert_eq!(places(&[draft("a", "7")], &required, &tasks), [0]);
        let fresh = fresh_seeds([draft("a", "7")].iter(), &required, &mut || 1);
        assert!(fresh.contains_key("7"));
    }

    /// Tasks of other accounts and tasks without outputs don't count.
    #[test]
    fn only_existing_results_of_the_account_are_duplicates() {
        let schema = seeded();
        let mut task = task(&draft("a", "7"), &schema);
        let other = Account {
            uid: "other".into(),
            ..Account::default()
        };
        let own = Account::default();
        let made = |task: &Task, account| {
            let found = super::find_duplicates(&[&draft("a", "7")], &schema, account, &[task]);
            found.first().map(|it| it.is_under_way)
        };
        assert_eq!(made(&task, &other), None);
        assert_eq!(made(&task, &own), Some(true));
        let ready = |outputs| TaskState::Ready {
            id: TaskId("id".into()),
            outputs,
        };
        task.state = ready(vec!["file".into()]);
        assert_eq!(made(&task, &own), Some(false));
        task.state = ready(Vec::new());
        assert_eq!(made(&task, &own), None);
    }

    /// Items that were sent before are counted, too, but not twice.
    #[test]
    fn the_summary_counts_each_repeated_item_once() {
        let schema = seeded();
        let tasks = [task(&draft("a", "7"), &schema)];
        let to_send = ToSend {
            drafts: ["a", "b", "b", "c", "d"].map(|it| draft(it, "7")).into(),
            sent_before: [0, 3].into(),
        };
        let tasks: Vec<&Task> = tasks.iter().collect();
        let repeats = Repeats::of(&to_send, &schema, &Account::default(), &tasks);
        assert_eq!(
            repeats.made_message(),
            "1 of these 5 items is generated already or under way (same seed)."
        );
        assert_eq!(
            repeats.message(),
            "2 of these 5 items are identical (same seed): each is charged. \
             1 of these 5 items was sent before: it is generated again, and may be charged again."
        );
        assert_eq!(repeats.rest_label(), "Only the 4 others");
    }

    /// Guards against charging the same files twice in one batch. `7` and `07` are the same seed.
    #[test]
    fn duplicates_within_a_batch_are_found_without_tasks() {
        let to_send = ToSend {
            drafts: [("a", "7"), ("a", "07"), ("a", "8"), ("b", "7"), ("a", "9")]
                .map(|(prompt, seed)| draft(prompt, seed))
                .into(),
            ..ToSend::default()
        };
        let repeats = Repeats::of(&to_send, &seeded(), &Account::default(), &[]);
        assert_eq!(
            repeats.message(),
            "2 of these 5 items are identical (same seed): each is charged."
        );
    }
}
