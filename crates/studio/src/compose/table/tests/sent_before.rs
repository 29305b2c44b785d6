//! Tests that rows that were sent before are labelled, and that existing results are not requested again automatically.

use super::*;

/// Guards against charging rows twice without a warning.
#[test]
fn rows_put_back_are_labelled_as_sent_before() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let place = |table: &Table, at: usize| table.rows()[at].earlier().map(|it| it.index);
    assert_eq!(sent_before(&table, &[prompt("a"), prompt("c")]), 1);
    table.put_all_back();
    assert_eq!((place(&table, 0), place(&table, 1)), (Some(0), Some(1)));
    assert_eq!(sent_before(&table, &[]), 2);
    let mut read = Table::from_value(table.to_value(), &schema).unwrap();
    assert_eq!(place(&read, 1), Some(1));
    // A row with the same inputs that replaces it is labelled, too.
    read.insert_sweep(
        Placement::ReplaceWaiting,
        &Draft::default(),
        &[axis("prompt", &["a", "c"])],
        Combine::Product,
        &schema,
    )
    .unwrap();
    assert_eq!((place(&read, 0), place(&read, 1)), (Some(0), None));
    // A changed row is a new item.
    let id = table.rows()[0].id;
    table.set(id, "steps", Some(Entry::Text("2".into())), &schema);
    let before = LinesSnapshot::default();
    table
        .set_lines("prompt", "a\nc", &Draft::default(), &schema, &before)
        .unwrap();
    assert_eq!(sent_before(&table, &[]), 0);
}

/// Typing and deleting a letter must not remove the label.
#[test]
fn a_row_restored_by_typing_is_labelled_as_sent_before() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.put_all_back();
    let id = table.rows()[0].id;
    let mut type_in = |text: &str| {
        let entry = Some(Entry::Text(text.into()));
        table.set(id, "prompt", entry, &schema);
        sent_before(&table, &[])
    };
    assert_eq!((type_in("ax"), type_in("a")), (1, 2));
    table.set(id, "steps", Some(Entry::Text("3".into())), &schema);
    assert_eq!(sent_before(&table, &[]), 1);
    table.drop_column("steps", &schema);
    assert_eq!(sent_before(&table, &[]), 2);
    let mut write = |text: &str| {
        let (base, before) = (Draft::default(), LinesSnapshot::default());
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
        sent_before(&table, &[])
    };
    assert_eq!((write("ax\nb"), write("a\nb")), (1, 2));
    // The same applies to typing in a sent row.
    let mut table = two_sent(&schema);
    let id = table.rows()[0].id;
    for text in ["ax", "a"] {
        table.set(id, "prompt", Some(Entry::Text(text.into())), &schema);
    }
    table.clear_sent();
    assert_eq!((table.unsent(), sent_before(&table, &[])), (1, 1));
}

/// Rows that were added in another way are labelled, too.
#[test]
fn duplicated_and_retyped_rows_are_labelled_as_sent_before() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let id = table.rows()[0].id;
    table.duplicate(id, &schema);
    assert_eq!(table.rows()[1].earlier(), table.rows()[0].sent.as_ref());
    let (base, before) = (Draft::default(), LinesSnapshot::default());
    // The text after each key press.
    for text in ["a\nx", "a\nb"] {
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
    }
    table.clear_sent();
    assert_eq!((table.unsent(), sent_before(&table, &[])), (2, 2));
    let id = table.rows()[0].id;
    table.duplicate(id, &schema);
    assert_eq!(sent_before(&table, &[]), 3);
}

#[test]
fn evicted_rows_are_recognized_as_sent() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let mut many = vec![prompt("c"); MAX_ROWS - 1];
    many.push(prompt("a"));
    table.append(many, &schema).unwrap();
    assert_eq!((table.sent(), sent_before(&table, &[])), (0, 1));
}

fn sent_before(table: &Table, offered: &[Draft]) -> usize {
    table.with_offered(offered, false).sent_before.len()
}

/// Guards against counting the replaced rows, too.
#[test]
fn offered_items_that_replace_the_rows_are_sent_alone() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table
        .append(vec![prompt("b"), Draft::default()], &schema)
        .unwrap();
    let offered = [prompt("c"), prompt("a")];
    let instead = table.with_offered(&offered, true);
    assert_eq!(instead.drafts, offered);
    assert_eq!(instead.sent_before, [1].into());
    let added = table.with_offered(&offered, false);
    assert_eq!(added.drafts, [prompt("b"), prompt("c"), prompt("a")]);
    assert_eq!(added.sent_before, [0, 2].into());
}

#[test]
fn only_newer_rows_count_as_bad_since() {
    let schema = schema();
    let mut table = Table::default();
    let mut bad = prompt("a");
    bad.set("steps", Entry::Text("12".into()));
    table
        .append(vec![prompt("b"), bad.clone()], &schema)
        .unwrap();
    let last_id = table.last_id();
    table.append(vec![prompt("c")], &schema).unwrap();
    assert!(!table.has_bad_since(last_id));
    table.append(vec![bad], &schema).unwrap();
    assert!(table.has_bad_since(last_id));
}

/// Guards against adding the same rows twice: rows that are edited again are waiting already.
#[test]
fn rows_that_are_waiting_again_are_not_put_back_twice() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.append(vec![prompt("b")], &schema).unwrap();
    assert_eq!(sent_before(&table, &[]), 1);
    assert_eq!(table.put_back_count(), 1);
    let before = table.put_all_back();
    assert_eq!(waiting(&table), ["a", "b"]);
    assert_eq!(table.put_back_count(), 0);
    table.undo_put_back(before);
    assert_eq!((table.sent(), waiting(&table)), (2, vec!["b".to_owned()]));
}

/// Guards against adding the items of a batch again if their rows were put back.
#[test]
fn items_that_are_edited_again_are_waiting_once() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let item = |index, text: &str| {
        let mut draft = Draft::default();
        // The value of an input has a type, unlike a typed entry.
        draft.set("prompt", Entry::Value(json!(text)));
        draft.set("steps", Entry::Value(json!(3)));
        let batch = BatchKey("one".into());
        (BatchPlace { batch, index }, draft)
    };
    let items = vec![item(0, "a"), item(1, "b")];
    assert_eq!(table.add_again(items.clone(), None, &schema), Ok(2));
    assert_eq!((table.put_back_count(), sent_before(&table, &[])), (0, 2));
    assert!(table.put_all_back().is_empty());
    assert_eq!(table.add_again(items.clone(), None, &schema), Ok(0));
    assert_eq!(waiting(&table), ["a", "b"]);
    let id = table.rows()[2].id;
    table.remove(id);
    assert_eq!(table.put_all_back().len(), 1);
    assert_eq!(table.add_again(items, None, &schema), Ok(0));
}

#[test]
fn existing_results_are_left_out_or_get_another_seed() {
    let schema: Schema = serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "prompt", "type": "string"}],
            "optional": [{"name": "seed", "type": "integer"}]
        }
    }))
    .unwrap();
    let mut table = Table::default();
    let seeded = |text: &str| {
        let mut draft = prompt(text);
        draft.set("seed", Entry::Text("7".into()));
        draft
    };
    let rows = vec![seeded("a"), seeded("b"), seeded("c")];
    table.append(rows, &schema).unwrap();
    let [first, second] = [0, 1].map(|at| table.rows()[at].id);
    let place = BatchPlace {
        batch: BatchKey("one".into()),
        index: 0,
    };
    let before = table.clone();
    send_new(
        &mut table,
        &[(first, Some(place.clone())), (second, None)],
        &schema,
    );
    // A left-out row can be restored.
    assert_eq!((table.sent(), table.unsent()), (2, 0));
    let (_, message) = table.removal_message().unwrap();
    assert_eq!(message, "Removed 1 row.");
    table.undo_removal();
    assert_eq!(waiting(&table), ["b"]);
    table = before;
    table.renew_seeds(&[("7".to_owned(), "9".to_owned())].into(), &schema);
    assert!(table.all_lines_have("seed", "9"));

    // Two rows must not become the same item.
    let mut table = Table::default();
    table.append(vec![seeded("a")], &schema).unwrap();
    let batch = BatchKey("one".into());
    table.send_good(&batch, &schema, false, &mut || 1, &|_| None);
    table
        .append(vec![seeded("a"), seeded("d"), seeded("d")], &schema)
        .unwrap();
    let ids: Vec<u64> = table.rows().iter().map(|row| row.id).collect();
    let other = BatchPlace {
        index: 1,
        ..place.clone()
    };
    let made = [
        (ids[1], Some(place)),
        (ids[2], Some(other.clone())),
        (ids[3], Some(other)),
    ];
    send_new(&mut table, &made, &schema);
    assert_eq!((table.sent(), table.unsent()), (2, 0));
    assert_eq!(table.put_back_count(), 2);
}

fn send_new(table: &mut Table, made: &[DuplicateRow], schema: &Schema) {
    let batch = BatchKey("new".into());
    table.send_new(made, &batch, schema, false, &mut || 1, &|_| None);
}

/// Guards against putting an item back twice if two rows refer to it.
#[test]
fn one_item_is_put_back_once() {
    let mut table = two_sent(&schema());
    table.rows[1].sent = table.rows[0].sent.clone();
    assert_eq!(table.put_back_count(), 1);
}
