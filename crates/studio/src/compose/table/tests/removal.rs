//! Tests that removed rows can be restored, and that no row is sent twice as a result.

use super::*;

fn numbered(drafts: Vec<Draft>) -> Vec<(usize, Draft)> {
    (1..).zip(drafts).collect()
}
use std::collections::HashSet;

fn table(texts: &[&str]) -> Table {
    let mut table = Table::default();
    let rows = texts.iter().map(|text| prompt(text)).collect();
    table.append(rows, &schema()).unwrap();
    table
}

fn message(table: &Table) -> Option<String> {
    table.removal_message().map(|(_, message)| message)
}

/// One key press must not lose everything that was typed.
#[test]
fn replaced_and_removed_rows_are_restored_unchanged() {
    let schema = schema();
    let mut table = table(&["a", "b", "c"]);
    table.draw_nonces(&mut || 7);
    assert_eq!(message(&table), None);
    let before = table.rows().to_vec();
    table.add_column("size");
    table
        .replace_by_imported(numbered(vec![prompt("d")]), &schema)
        .unwrap();
    assert_eq!(waiting(&table), ["d"]);
    assert_eq!(message(&table).as_deref(), Some("Replaced 3 rows by 1."));
    table.undo_removal();
    assert_eq!((table.rows(), message(&table)), (&before[..], None));
    assert_eq!(table.columns(&schema), ["prompt", "size"]);

    let (first, _) = (table.removal_message(), table.remove(before[1].id));
    assert_eq!(waiting(&table), ["a", "c"]);
    assert_eq!(message(&table).as_deref(), Some("Removed 1 row."));
    assert_ne!(table.removal_message(), first);
    // Later changes stay.
    table.set(
        before[2].id,
        "prompt",
        Some(Entry::Text("e".into())),
        &schema,
    );
    table.undo_removal();
    assert_eq!(waiting(&table), ["a", "b", "e"]);

    table.clear();
    assert_eq!(message(&table).as_deref(), Some("Removed 3 rows."));
    table.undo_removal();
    assert_eq!(waiting(&table), ["a", "b", "e"]);
}

/// A new batch must not start with columns of the last one.
#[test]
fn a_new_batch_starts_without_the_columns_of_the_last_one() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.add_column("size");
    table.reset_columns();
    assert_eq!((table.unsent(), table.sent()), (0, 2));
    assert_eq!(table.columns(&schema), ["prompt"]);
    assert_eq!(message(&table), None);
}

#[test]
fn a_failed_replacement_leaves_the_rows_unchanged() {
    let mut table = table(&["a"]);
    let before = table.clone();
    let many = vec![prompt("b"); MAX_ROWS + 1];
    assert!(
        table
            .replace_by_imported(numbered(many), &schema())
            .is_err()
    );
    assert_eq!(table, before);
    // A removal can't be undone if there would be too many rows.
    table.remove(table.rows()[0].id);
    table
        .append(vec![prompt("b"); MAX_ROWS], &schema())
        .unwrap();
    assert_eq!(message(&table), None);
    // The uploads of its rows are ended.
    assert!(table.last_removal().is_some());
}

#[test]
fn a_restored_sweep_is_a_grid_again() {
    let schema = schema();
    let axes = [axis("prompt", &["a", "b"]), axis("steps", &["1", "2"])];
    let mut table = Table::default();
    table
        .append_sweep(&Draft::default(), &axes, Combine::Product, &schema)
        .unwrap();
    let swept = table.to_value();
    table
        .insert_sweep(
            Placement::ReplaceAll,
            &prompt("c"),
            &axes[1..],
            Combine::Product,
            &schema,
        )
        .unwrap();
    table.undo_removal();
    assert_eq!(table.to_value(), swept);
    // A grid that has lost a row is no longer a grid, even after the row is restored.
    table.remove(table.rows()[0].id);
    table.undo_removal();
    assert_ne!(table.to_value(), swept);
}

/// Guards against forgetting which rows were sent when a sweep is changed.
#[test]
fn sent_rows_stay_if_only_waiting_rows_are_replaced() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.append(vec![prompt("c")], &schema).unwrap();
    let axes = [axis("steps", &["1", "2"])];
    let base = prompt("d");
    table
        .insert_sweep(
            Placement::ReplaceWaiting,
            &base,
            &axes,
            Combine::Product,
            &schema,
        )
        .unwrap();
    assert_eq!((table.sent(), table.unsent()), (2, 2));
    assert_eq!(message(&table).as_deref(), Some("Replaced 1 row by 2."));
    table.undo_removal();
    assert_eq!((table.sent(), table.unsent()), (2, 1));
}

#[test]
fn sent_rows_are_restored_as_sent() {
    let mut table = table(&["a", "b"]);
    send(&mut table, "one");
    table.clear_sent();
    assert_eq!((table.sent(), message(&table).is_some()), (0, true));
    table.undo_removal();
    assert_eq!((table.sent(), table.unsent()), (2, 0));
    // The page was closed before all tasks were known to be stored.
    table.clear();
    table.settle(&BatchKey("one".into()), &[0].into(), &|_| None);
    table.undo_removal();
    assert_eq!((table.sent(), waiting(&table)), (1, vec!["b".into()]));
    // Once other rows are sent, the removal can't be undone.
    table.clear();
    table.append(vec![prompt("c")], &schema()).unwrap();
    send(&mut table, "two");
    assert_eq!(message(&table), None);
}

proptest! {
    /// After any removals and restorations, each key is sent once, unless the user sends a row again.
    #[test]
    fn no_key_is_sent_twice(acts in prop::collection::vec(0..7u8, 1..40)) {
        let schema = schema();
        let mut table = Table::default();
        let mut known = HashSet::new();
        let mut last = 0;
        for (at, act) in acts.into_iter().enumerate() {
            let new = vec![prompt(&at.to_string()), prompt("same")];
            match act {
                0 => table.append(new, &schema).unwrap(),
                1 => table.replace_by_imported(numbered(new), &schema).unwrap(),
                2 => table.clear(),
                3 => table.clear_sent(),
                4 => {
                    if let Some(row) = table.rows().get(at % 3) {
                        let id = row.id;
                        table.remove(id);
                    }
                }
                5 => table.undo_removal(),
                _ => {
                    let (items, _) = send(&mut table, &at.to_string());
                    for item in items {
                        prop_assert!(known.insert(item.key.0.clone()), "{} twice", item.key.0);
                    }
                }
            }
            table.draw_nonces(&mut || {
                last += 1;
                last
            });
            let ids: HashSet<u64> = table.rows().iter().map(|row| row.id).collect();
            prop_assert_eq!(ids.len(), table.rows().len());
        }
    }
}
