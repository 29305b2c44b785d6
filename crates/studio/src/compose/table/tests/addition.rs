//! Rows that come from elsewhere are told of, and can be taken out again.

use super::*;

fn table(texts: &[&str]) -> Table {
    let mut table = Table::default();
    let rows = texts.iter().map(|text| prompt(text)).collect();
    table.append(rows, &schema()).unwrap();
    table
}

/// Guards against a button that sends more than was added, without a word.
#[test]
fn what_is_added_to_other_rows_is_said_and_undone() {
    let schema = schema();
    let mut table = table(&["a", "b", "c"]);
    let before = table.rows().to_vec();
    table.add(vec![prompt("d"), prompt("e")], &schema).unwrap();
    let said = table.addition_message();
    assert_eq!(
        said.as_deref(),
        Some("Added 2 rows to the 3 that were here.")
    );
    table.undo_addition();
    assert_eq!(
        (table.rows(), table.addition_message()),
        (&before[..], None)
    );

    // What was sent is not in the way, and not counted.
    let [first, second, _] = [0, 1, 2].map(|at| table.rows()[at].id);
    table.remove(first);
    table.remove(second);
    send(&mut table, "one");
    table.add(vec![prompt("f")], &schema).unwrap();
    assert_eq!(table.addition_message(), None, "to none");
    table.add(vec![prompt("g")], &schema).unwrap();
    let said = table.addition_message();
    assert_eq!(
        said.as_deref(),
        Some("Added 1 row to the one that was here.")
    );
}

#[test]
fn what_came_of_the_rows_since_is_not_undone() {
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
    // Guards against words that are gone with what they were put into.
    table.undo_addition();
    assert_eq!(waiting(&table), ["a", "b"]);
}

/// Guards against rows that stay though what they came with is undone: with nothing to be sent in addition to them they
/// are not talked of.
#[test]
fn what_is_added_to_none_is_undone_as_well() {
    let mut table = table(&["a"]);
    send(&mut table, "one");
    table.add(vec![prompt("b")], &schema()).unwrap();
    assert_eq!(table.addition_message(), None);
    table.undo_addition();
    assert_eq!((table.sent(), table.unsent()), (1, 0));
}

/// Guards against rows that are paid for though the person who adds others to them does not mean them.
#[test]
fn what_was_added_is_sent_without_the_rows_that_were_here() {
    let schema = schema();
    let mut table = table(&["a", "b", "c"]);
    assert_eq!(table.added_plan(&schema), None, "nothing was added");
    let twice = vec![prompt("d"), prompt("d")];
    table.add(twice, &schema).unwrap();
    let added = table.added_plan(&schema).expect("others wait");
    let (items, _) = table.with_added_alone(|table| send(table, "one"));
    assert_eq!(items.len(), added.items);
    assert_eq!(waiting(&table), ["a", "b", "c"], "they wait on");
    assert_eq!((table.sent(), table.unsent()), (2, 3));
    assert_eq!(table.added_plan(&schema), None, "it was sent");
}

/// Guards against a way out where there is nothing to be left out.
#[test]
fn what_was_added_to_none_is_all_that_is_sent() {
    let schema = schema();
    let mut table = Table::default();
    table.add(vec![prompt("a")], &schema).unwrap();
    assert_eq!(table.added_plan(&schema), None);
    table.append(vec![prompt("b")], &schema).unwrap();
    assert_eq!(table.added_plan(&schema), None);
}
