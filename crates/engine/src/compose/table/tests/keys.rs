//! Two tabs show the same table, and do not hear of each other.

use super::*;

/// As a tab shows what is stored.
fn shown(stored: &Value) -> Table {
    let mut table = Table::from_value(stored.clone(), &schema()).unwrap();
    table.derive_nonces("image/a", 5);
    table
}

fn keys(table: &mut Table, batch: &str) -> Vec<TaskKey> {
    let (items, _) = send(table, batch);
    items.into_iter().map(|item| item.key).collect()
}

/// Counts up, from 1.
fn counting() -> impl FnMut() -> u64 {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

/// Guards against rows that are paid twice: a tab that had not heard of an edit sent its older rows beside the newer
/// ones, each with a key of its own.
#[test]
fn rows_that_stayed_have_the_same_keys_in_both() {
    let schema = schema();
    let mut table = Table::default();
    let rows = ["a", "b", "c"].map(prompt).to_vec();
    table.append(rows.clone(), &schema).unwrap();
    // The version that stored it may know of no nonces.
    let of_before = table.to_value();
    table.draw_nonces(&mut counting());
    for stored in [table.to_value(), of_before] {
        let (mut deaf, mut other) = (shown(&stored), shown(&stored));
        let id = other.rows()[1].id;
        other.set(id, "steps", Some(Entry::Text("3".into())), &schema);
        other.append(vec![prompt("d")], &schema).unwrap();
        let (old, new) = (keys(&mut deaf, "one"), keys(&mut other, "two"));
        assert_eq!((old.len(), new.len()), (3, 4));
        assert_eq!((&old[0], &old[2]), (&new[0], &new[2]));
        assert_ne!(old[1], new[1], "it is another one now");
    }
}

/// Guards against a row that a person wants once more, or types again, and that is taken for the one of before.
#[test]
fn what_is_wanted_once_more_has_another_key() {
    let schema = schema();
    let mut random = counting();
    let mut table = Table::default();
    let mut known = Vec::new();
    let mut sends = |table: &mut Table, count: usize| {
        table.draw_nonces(&mut random);
        let new = keys(table, "any");
        assert_eq!(new.len(), count);
        assert!(new.iter().all(|key| !known.contains(key)));
        known.extend(new);
    };
    table
        .append(vec![prompt("a"), prompt("a")], &schema)
        .unwrap();
    sends(&mut table, 2);
    // Also in a tab that is loaded anew.
    table = Table::from_value(table.to_value(), &schema).unwrap();
    table.send_all_again();
    sends(&mut table, 2);
    let id = table.rows()[0].id;
    table.send_again(id);
    sends(&mut table, 1);
    for text in ["b", "a"] {
        table.set(id, "prompt", Some(Entry::Text(text.into())), &schema);
    }
    table.duplicate(id, &schema);
    sends(&mut table, 2);
    table.clear();
    table.append(vec![prompt("a")], &schema).unwrap();
    sends(&mut table, 1);
}

/// Guards against a row that is sent twice: its page was left before its task was known to be stored, and it was.
#[test]
fn what_was_perhaps_not_stored_keeps_its_key() {
    let mut table = Table::default();
    table.append(vec![prompt("a")], &schema()).unwrap();
    let before = keys(&mut table, "one");
    table.settle(&BatchKey("one".into()), &[].into());
    assert_eq!(keys(&mut table, "two"), before);
}
