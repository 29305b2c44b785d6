//! Tests the task keys of rows in two tabs that show the same table and are not notified of each other's changes.

use super::*;

/// Reads the stored table in the same way as a tab.
fn shown(stored: &Value) -> Table {
    let mut table = Table::from_value(stored.clone(), &schema()).unwrap();
    table.derive_nonces("image/a", 5);
    table
}

fn keys(table: &mut Table, batch: &str) -> Vec<TaskKey> {
    let (items, _) = send(table, batch);
    items.into_iter().map(|item| item.key).collect()
}

/// Returns 1, 2, 3, and so on.
fn counting() -> impl FnMut() -> u64 {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

/// Guards against charging rows twice: a tab that was not notified of an edit sent its older rows with different keys,
/// in addition to the newer rows.
#[test]
fn unchanged_rows_have_the_same_keys_in_both_tabs() {
    let schema = schema();
    let mut table = Table::default();
    let rows = ["a", "b", "c"].map(prompt).to_vec();
    table.append(rows.clone(), &schema).unwrap();
    // The table may have been stored by a version without nonces.
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
        assert_ne!(old[1], new[1], "a changed row has another key");
    }
}

/// A row that is sent again or typed again must not be confused with the earlier row.
#[test]
fn a_row_that_is_sent_again_has_another_key() {
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
    // The same applies after a reload.
    table = Table::from_value(table.to_value(), &schema).unwrap();
    table.put_all_back();
    sends(&mut table, 2);
    let id = table.rows()[0].id;
    send_again(&mut table, id);
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

/// Guards against sending a row twice after its page was closed before its task was known to be stored. A service
/// rejects the same key with a new seed.
#[test]
fn a_row_that_may_be_stored_becomes_the_same_task() {
    let schema = seeded_schema();
    let mut table = Table::default();
    table.append(vec![prompt("a")], &schema).unwrap();
    let before = send_to(&mut table, "one", &schema).items;
    table.settle(&BatchKey("one".into()), &[].into(), &|_| None);
    let after = send_to(&mut table, "two", &schema).items;
    assert_eq!(after[0].key, before[0].key);
    assert_eq!(after[0].input, before[0].input);
    table.put_all_back();
    let wanted = send_to(&mut table, "three", &schema).items;
    assert_ne!(wanted[0].key, before[0].key);
    assert_ne!(wanted[0].input, before[0].input, "another seed");
}

/// Rows that another tab has sent must refer to the batch of the other tab.
#[test]
fn rows_that_another_tab_has_sent_belong_to_that_tab() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append(["a", "b", "c"].map(prompt).to_vec(), &schema)
        .unwrap();
    table.draw_nonces(&mut counting());
    let mut deaf = table.clone();
    let known = keys(&mut table, "one");
    let place = |index: usize| BatchPlace {
        batch: BatchKey("one".into()),
        index,
    };
    let found = |key: &TaskKey| known.iter().position(|other| other == key).map(place);
    deaf.append(vec![prompt("d")], &schema).unwrap();
    deaf.draw_nonces(&mut || 9);
    let mut left = deaf.clone();
    let two = BatchKey("two".into());
    let sent = deaf.send_good(&two, &schema, false, &mut || 0, &found);
    assert_eq!((sent.items.len(), sent.elsewhere), (1, 3));
    let expected = "3 rows have been sent already, by another tab.";
    assert_eq!(sent.sent_elsewhere_message(), expected);
    assert_eq!(deaf.rows()[2].sent, Some(place(2)));
    // The page was closed before any task was stored.
    left.send_good(&two, &schema, false, &mut || 0, &|_| None);
    assert_eq!(left.settle(&two, &[].into(), &found), [3]);
    assert_eq!(waiting(&left), ["d"]);
}

/// Guards against charging rows twice after lines were moved or inserted: keys must not depend on the index.
#[test]
fn a_row_moves_with_its_line() {
    let schema = schema();
    let write = |table: &mut Table, text: &str| {
        let written = table.set_lines(
            "prompt",
            text,
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        );
        written.unwrap();
    };
    let mut random = counting();
    let mut table = Table::default();
    write(&mut table, "one\ntwo\nthree");
    let steps = table.rows()[1].id;
    table.set(steps, "steps", Some(Entry::Text("3".into())), &schema);
    table.draw_nonces(&mut random);
    let of = |table: &Table, texts: &[&str]| -> Vec<TaskKey> {
        let row = |text: &&str| {
            let is_it = |row: &&Row| row.draft.get("prompt") == Some(&Entry::Text((*text).into()));
            table.rows().iter().find(is_it).unwrap().task_key()
        };
        texts.iter().map(row).collect()
    };
    let all = ["one", "two", "three"];
    let before = of(&table, &all);
    for text in [
        "two\nthree\none",
        "zero\none\ntwo\nthree\nfour",
        "three\ntwo\none",
        "one\nelse\ntwo\nthree",
    ] {
        let mut table = table.clone();
        write(&mut table, text);
        table.draw_nonces(&mut random);
        assert_eq!(waiting(&table).join("\n"), text);
        assert_eq!(of(&table, &all), before, "{text}");
    }
    // A line with more text at its end stays the same row.
    write(&mut table, "one\ntwo and a half\nthree");
    assert_eq!(table.rows()[1].id, steps);
    assert!(table.rows()[1].draft.get("steps").is_some());
}
