//! Tests that added rows are announced and can be removed again.

use super::*;

fn table(texts: &[&str]) -> Table {
    let mut table = Table::default();
    let rows = texts.iter().map(|text| prompt(text)).collect();
    table.append(rows, &schema()).unwrap();
    table
}

/// Guards against sending earlier rows together with added ones without a warning.
#[test]
fn an_addition_to_other_rows_is_announced_and_can_be_undone() {
    let schema = schema();
    let mut table = table(&["a", "b", "c"]);
    let before = table.rows().to_vec();
    table.add(vec![prompt("d"), prompt("e")], &schema).unwrap();
    let message = table.addition_message();
    assert_eq!(
        message.as_deref(),
        Some("Added 2 rows to the 3 existing rows.")
    );
    table.undo_addition();
    assert_eq!(
        (table.rows(), table.addition_message()),
        (&before[..], None)
    );

    // Sent rows are not counted.
    let [first, second, _] = [0, 1, 2].map(|at| table.rows()[at].id);
    table.remove(first);
    table.remove(second);
    send(&mut table, "one");
    table.add(vec![prompt("f")], &schema).unwrap();
    assert_eq!(
        table.addition_message(),
        None,
        "no rows were waiting before"
    );
    table.add(vec![prompt("g")], &schema).unwrap();
    let message = table.addition_message();
    assert_eq!(message.as_deref(), Some("Added 1 row to the existing row."));
}

#[test]
fn undoing_keeps_rows_that_were_changed_or_sent_since() {
    let schema = schema();
    let added = || {
        let mut table = table(&["a"]);
        table.add(vec![prompt("b"), prompt("c")], &schema).unwrap();
        assert!(table.addition_message().is_some());
        table
    };
    let last = added().rows()[2].id;
    for change in [
        &|table: &mut Table| {
            send(table, "one");
        },
        &|table: &mut Table| table.remove(last),
        &|table: &mut Table| table.clear(),
        &|table: &mut Table| table.append(vec![prompt("d")], &schema).unwrap(),
    ] as [&dyn Fn(&mut Table); 4]
    {
        let mut table = added();
        change(&mut table);
        assert_eq!(table.addition_message(), None);
    }
    let mut table = added();
    let id = table.rows()[1].id;
    table.set(id, "steps", Some(Entry::Text("3".into())), &schema);
    assert!(table.addition_message().is_some());
    // Text that was typed into an added row must not be lost.
    table.undo_addition();
    assert_eq!(waiting(&table), ["a", "b"]);
}

/// The addition is not announced, because no other rows are waiting, but it can be undone.
#[test]
fn an_addition_to_an_empty_table_can_be_undone() {
    let mut table = table(&["a"]);
    send(&mut table, "one");
    table.add(vec![prompt("b")], &schema()).unwrap();
    assert_eq!(table.addition_message(), None);
    table.undo_addition();
    assert_eq!((table.sent(), table.unsent()), (1, 0));
}

/// Guards against charging earlier rows that the user did not intend to send.
#[test]
fn an_addition_can_be_sent_alone() {
    let schema = schema();
    let mut table = table(&["a", "b", "c"]);
    assert_eq!(table.added_plan(&schema), None, "nothing was added");
    let twice = vec![prompt("d"), prompt("d")];
    table.add(twice, &schema).unwrap();
    let added = table.added_plan(&schema).expect("other rows are waiting");
    let drafts: Vec<&Draft> = table.added_to_send().collect();
    assert_eq!(drafts, [&prompt("d"); 2]);
    let (items, _) = table.with_only_added_rows(|table| send(table, "one"));
    assert_eq!(items.len(), added.items);
    assert_eq!(
        waiting(&table),
        ["a", "b", "c"],
        "the other rows are waiting, too"
    );
    assert_eq!((table.sent(), table.unsent()), (2, 3));
    assert_eq!(table.added_plan(&schema), None, "the addition was sent");
}

/// Sending only the added rows is not offered if there are no other rows.
#[test]
fn an_addition_to_an_empty_table_is_sent_as_a_whole() {
    let schema = schema();
    let mut table = Table::default();
    table.add(vec![prompt("a")], &schema).unwrap();
    assert_eq!(table.added_plan(&schema), None);
    table.append(vec![prompt("b")], &schema).unwrap();
    assert_eq!(table.added_plan(&schema), None);
}
