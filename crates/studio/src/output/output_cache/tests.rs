use super::*;
use proptest::prelude::*;
use serde_json::json;

fn copy(n: usize, bytes: u64, shown: Millis) -> CachedOutput {
    CachedOutput {
        key: format!("task/{n}"),
        url: "https://host.example/a.png".into(),
        bytes,
        kept: 1,
        shown,
    }
}

fn copies(facts: &[(u64, Millis)]) -> Vec<CachedOutput> {
    let numbered = facts.iter().enumerate();
    numbered
        .map(|(n, (bytes, shown))| copy(n, *bytes, *shown))
        .collect()
}

/// The page explains copies while the cache is off, and disables a button that would delete none.
#[test]
fn the_messages_explain_copies_that_exist_or_cannot_be_deleted() {
    let shown = |count: usize, favorites: &[&str], is_wanted| {
        let favorites: Vec<String> = favorites.iter().map(|&it| it.into()).collect();
        let messages = messages(&copies(&vec![(1_000, 1); count]), &favorites, is_wanted);
        (
            messages.count,
            messages.reason.is_some(),
            messages.undeletable_reason,
        )
    };
    let nothing = Some("Nothing is kept.");
    assert_eq!(
        shown(0, &["task/0"], false),
        ("0 copies, 0 kB".into(), false, nothing)
    );
    let favorites = Some("Only favorites are kept, and they stay.");
    assert_eq!(
        shown(1, &["task/0"], false),
        ("1 copy, 1 kB".into(), true, favorites)
    );
    assert_eq!(
        shown(1, &["task/0"], true),
        ("1 copy, 1 kB".into(), false, favorites)
    );
    assert_eq!(
        shown(2, &["task/0"], false),
        ("2 copies, 2 kB".into(), true, None)
    );
    assert_eq!(shown(2, &[], false), ("2 copies, 2 kB".into(), false, None));
}

#[test]
fn the_least_recently_shown_are_evicted_first() {
    let all = copies(&[(40, 3), (40, 1), (40, 2)]);
    let going = |incoming, limit| copies_to_evict(&all, incoming, limit, Millis::MAX);
    assert_eq!(going(0, 120), Some(vec![]));
    assert_eq!(going(1, 120), Some(vec!["task/1".into()]));
    assert_eq!(going(41, 120), Some(vec!["task/1".into(), "task/2".into()]));
    assert_eq!(going(120, 120).map(|keys| keys.len()), Some(3));
    assert_eq!(going(121, 120), None, "it exceeds the limit alone");
    // The limit was lowered.
    assert_eq!(going(0, 100), Some(vec!["task/1".into()]));
    assert_eq!(copies_to_evict(&[], 100, 100, Millis::MAX), Some(vec![]));
}

/// After the cache is switched on, older outputs are copied one by one. They must not evict newer ones.
#[test]
fn copies_shown_later_are_not_evicted() {
    let all = copies(&[(40, 3), (40, 1), (40, 2)]);
    let going = |incoming, shown| copies_to_evict(&all, incoming, 120, shown);
    assert_eq!(going(40, 2), Some(vec!["task/1".into()]));
    assert_eq!(going(80, 2), Some(vec!["task/1".into(), "task/2".into()]));
    assert_eq!(going(81, 2), None);
    assert_eq!(going(40, 0), None);
    assert_eq!(copies_to_evict(&all, 40, 160, 0), Some(vec![]));
}

#[test]
fn favorites_are_not_evicted() {
    let task = |key: &str, favorites: Value| {
        let model = json!({"category": "image", "subcategory": "a"});
        let value = json!({
            "key": key, "account": {"address": "", "uid": "me"}, "model": model, "model_name": "A",
            "input": {"model": model, "values": {}}, "created": 1, "state": {"state": "queued"},
            "favorites": favorites
        });
        Task::from_value(value).unwrap()
    };
    let tasks = [task("task", json!([1])), task("other", json!([]))];
    let favorites = favorites(&tasks);
    assert_eq!(favorites, ["task/1"]);
    let others = evictable(copies(&[(40, 3), (40, 1), (40, 2)]), &favorites);
    assert_eq!(
        copies_to_evict(&others, 0, 40, Millis::MAX),
        Some(vec!["task/2".into()])
    );
    assert_eq!(
        copies_to_evict(&others, 0, 0, Millis::MAX).map(|keys| keys.len()),
        Some(2)
    );
}

#[test]
fn records_survive_a_round_trip() {
    let value = json!({
        "key": "task/0", "url": "https://host.example/a.png", "bytes": 7, "kept": 1, "shown": 2
    });
    let copy = CachedOutput::from_value(value.clone()).unwrap();
    assert_eq!(copy, self::copy(0, 7, 2));
    assert_eq!(copy.to_value(), value);
    for odd in [json!({}), json!(1), json!({"key": "task/0"})] {
        assert_eq!(CachedOutput::from_value(odd), None);
    }
}

/// Browsers contain records of earlier versions.
#[test]
fn stored_samples_survive_a_round_trip() {
    for sample in include_str!("samples.jsonl").lines() {
        let copy = json::read(sample).and_then(CachedOutput::from_value);
        let written = copy.map(|copy| copy.to_value().to_string());
        assert_eq!(written.as_deref(), Some(sample));
    }
}

#[test]
fn a_key_names_its_output() {
    let task = TaskKey("a/b".into());
    assert_eq!(parse_name(&task.output(12)), Some((task, 12)));
    for odd in ["", "task", "task/", "task/x"] {
        assert_eq!(parse_name(odd), None);
    }
}

#[test]
fn formats_sizes() {
    for (bytes, words) in [
        (0, "0 kB"),
        (1, "0.1 kB"),
        (12_300, "12.3 kB"),
        (999_999, "1000 kB"),
        (12_345_678, "12.4 MB"),
        (100_000_000, "100 MB"),
        (2_000_000_000, "2 GB"),
        (u64::MAX, "18446744073.8 GB"),
    ] {
        assert_eq!(size(bytes), words);
    }
}

proptest! {
    #[test]
    fn never_above_the_limit_and_never_more_than_needed(
        facts in prop::collection::vec((0u64..1_000, 0u64..50), 0..40),
        incoming in 0u64..3_000,
        limit in 0u64..20_000,
    ) {
        let all = copies(&facts);
        let Some(going) = copies_to_evict(&all, incoming, limit, Millis::MAX) else {
            prop_assert!(incoming > limit);
            return Ok(());
        };
        let (gone, staying): (Vec<CachedOutput>, Vec<CachedOutput>) =
            all.into_iter().partition(|copy| going.contains(&copy.key));
        prop_assert_eq!(gone.len(), going.len(), "each copy is evicted once");
        prop_assert!(total(&staying) + incoming <= limit);
        // No remaining copy was shown before an evicted one.
        let latest_gone = gone.iter().map(|copy| copy.shown).max();
        let earliest_staying = staying.iter().map(|copy| copy.shown).min();
        if let (Some(gone), Some(staying)) = (latest_gone, earliest_staying) {
            prop_assert!(gone <= staying);
        }
        // Without evicting the last copy, there would not be enough space.
        if let Some(last) = gone.iter().find(|copy| Some(&copy.key) == going.last()) {
            prop_assert!(total(&staying) + incoming + last.bytes > limit);
        }
    }

    #[test]
    fn the_newest_copy_is_never_evicted(
        incoming in prop::collection::vec(0u64..150, 1..60),
        limit in 0u64..200,
    ) {
        let mut all: Vec<CachedOutput> = Vec::new();
        for (n, bytes) in incoming.into_iter().enumerate() {
            let Some(going) = copies_to_evict(&all, bytes, limit, Millis::MAX) else { continue };
            let new = copy(n, bytes, n as Millis);
            prop_assert!(!going.contains(&new.key));
            all.retain(|copy| !going.contains(&copy.key));
            all.push(new);
            prop_assert!(total(&all) <= limit);
        }
    }

    #[test]
    fn any_stored_size_is_handled(sizes in prop::collection::vec(any::<u64>(), 0..9), incoming: u64, limit: u64) {
        let all: Vec<CachedOutput> =
            sizes.into_iter().enumerate().map(|(n, bytes)| copy(n, bytes, 0)).collect();
        if let Some(going) = copies_to_evict(&all, incoming, limit, Millis::MAX) {
            prop_assert!(going.len() <= all.len());
        }
    }
}
