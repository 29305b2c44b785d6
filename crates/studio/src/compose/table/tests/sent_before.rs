//! What was sent before says so, and what is made already is not sent once more by itself.

use super::*;

/// Guards against rows that are paid twice without a word: put back, they go on saying that they were sent.
#[test]
fn what_is_put_back_says_that_it_was_sent() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let place = |table: &Table, at: usize| table.rows()[at].earlier().map(|it| it.index);
    assert_eq!(sent_before(&table, &[prompt("a"), prompt("c")]), 1);
    table.put_all_back();
    assert_eq!((place(&table, 0), place(&table, 1)), (Some(0), Some(1)));
    assert_eq!(sent_before(&table, &[]), 2);
    let mut read = Table::from_value(table.to_value(), &schema).unwrap();
    assert_eq!(place(&read, 1), Some(1));
    // What takes its place and asks for the same says it as well.
    read.put_sweep(
        Place::OfWaiting,
        &Draft::default(),
        &[axis("prompt", &["a", "c"])],
        Combine::Product,
        &schema,
    )
    .unwrap();
    assert_eq!((place(&read, 0), place(&read, 1)), (Some(0), None));
    // What is changed is another one.
    let id = table.rows()[0].id;
    table.set(id, "steps", Some(Entry::Text("2".into())), &schema);
    let before = LinesBefore::default();
    table
        .set_lines("prompt", "a\nc", &Draft::default(), &schema, &before)
        .unwrap();
    assert_eq!(sent_before(&table, &[]), 0);
}

/// Guards against a key that is taken back, and with it what is known of the row: it is paid again without a word.
#[test]
fn what_is_typed_and_taken_back_was_sent_before_all_the_same() {
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
        let (base, before) = (Draft::default(), LinesBefore::default());
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
        sent_before(&table, &[])
    };
    assert_eq!((write("ax\nb"), write("a\nb")), (1, 2));
    // A row that counts as sent is typed in.
    let mut table = two_sent(&schema);
    let id = table.rows()[0].id;
    for text in ["ax", "a"] {
        table.set(id, "prompt", Some(Entry::Text(text.into())), &schema);
    }
    table.clear_sent();
    assert_eq!((table.unsent(), sent_before(&table, &[])), (1, 1));
}

/// Guards against rows that come in by another way, and are paid again without a word.
#[test]
fn what_is_doubled_or_written_again_was_sent_before() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let id = table.rows()[0].id;
    table.duplicate(id, &schema);
    assert_eq!(table.rows()[1].earlier(), table.rows()[0].sent.as_ref());
    let (base, before) = (Draft::default(), LinesBefore::default());
    // Key by key.
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
fn what_makes_room_is_known_as_sent() {
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

/// Guards against an offer in the place of all rows that is counted in addition to them.
#[test]
fn what_takes_the_place_of_the_rows_is_sent_alone() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table
        .append(vec![prompt("b"), Draft::default()], &schema)
        .unwrap();
    let offered = [prompt("c"), prompt("a")];
    let instead = table.with_offered(&offered, true);
    assert_eq!(instead.drafts, offered);
    assert_eq!(instead.sent_before, [1].into());
    let beside = table.with_offered(&offered, false);
    assert_eq!(beside.drafts, [prompt("b"), prompt("c"), prompt("a")]);
    assert_eq!(beside.sent_before, [0, 2].into());
}

#[test]
fn only_what_came_since_is_asked_about() {
    let schema = schema();
    let mut table = Table::default();
    let mut bad = prompt("a");
    bad.set("steps", Entry::Text("12".into()));
    table
        .append(vec![prompt("b"), bad.clone()], &schema)
        .unwrap();
    let newest = table.newest();
    table.append(vec![prompt("c")], &schema).unwrap();
    assert!(!table.has_bad_since(newest));
    table.append(vec![bad], &schema).unwrap();
    assert!(table.has_bad_since(newest));
}

/// Guards against the same rows twice: edited again they wait in the table already.
#[test]
fn what_waits_again_already_is_not_put_back_beside_that() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.append(vec![prompt("b")], &schema).unwrap();
    assert_eq!(sent_before(&table, &[]), 1);
    assert_eq!(table.can_put_back(), 1);
    let before = table.put_all_back();
    assert_eq!(waiting(&table), ["a", "b"]);
    assert_eq!(table.can_put_back(), 0);
    table.undo_put_back(before);
    assert_eq!((table.sent(), waiting(&table)), (2, vec!["b".to_owned()]));
}

/// Guards against a batch whose items are edited again in addition to the rows that were put back.
#[test]
fn what_is_edited_again_waits_once() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let item = |index, text: &str| {
        let mut draft = Draft::default();
        // As an input has it.
        draft.set("prompt", Entry::Value(json!(text)));
        draft.set("steps", Entry::Value(json!(3)));
        let batch = BatchKey("one".into());
        (BatchPlace { batch, index }, draft)
    };
    let items = vec![item(0, "a"), item(1, "b")];
    assert_eq!(table.add_again(items.clone(), None, &schema), Ok(2));
    assert_eq!((table.can_put_back(), sent_before(&table, &[])), (0, 2));
    assert!(table.put_all_back().is_empty());
    assert_eq!(table.add_again(items.clone(), None, &schema), Ok(0));
    assert_eq!(waiting(&table), ["a", "b"]);
    let id = table.rows()[2].id;
    table.remove(id);
    assert_eq!(table.put_all_back().len(), 1);
    assert_eq!(table.add_again(items, None, &schema), Ok(0));
}

#[test]
fn what_is_made_is_left_out_or_has_another_seed() {
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
    // What goes on as no row comes back, if a person wants that.
    assert_eq!((table.sent(), table.unsent()), (2, 0));
    let (_, said) = table.removal_message().unwrap();
    assert_eq!(said, "Removed 1 row.");
    table.undo_removal();
    assert_eq!(waiting(&table), ["b"]);
    table = before;
    table.renew_seeds(&[("7".to_owned(), "9".to_owned())].into(), &schema);
    assert!(table.all_have("seed", "9"));

    // Guards against two rows that are the same item.
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
    assert_eq!(table.can_put_back(), 2);
}

fn send_new(table: &mut Table, made: &[MadeRow], schema: &Schema) {
    let batch = BatchKey("new".into());
    table.send_new(made, &batch, schema, false, &mut || 1, &|_| None);
}

/// Guards against an item that is put back twice where two rows are it.
#[test]
fn one_item_is_put_back_once() {
    let mut table = two_sent(&schema());
    table.rows[1].sent = table.rows[0].sent.clone();
    assert_eq!(table.can_put_back(), 1);
}
