//! Tests that sent rows stay in the table and are not sent again.

use super::*;

#[test]
fn only_valid_rows_are_sent_and_all_stay() {
    let schema = schema();
    let mut table = Table::default();
    let rows = vec![prompt("a"), Draft::default(), prompt("c")];
    append_lines(&mut table, rows, &schema);
    let (inputs, grid) = send(&mut table, "b");
    assert_eq!(
        inputs
            .iter()
            .map(|sent| sent.input.title())
            .collect::<Vec<_>>(),
        ["a", "c"]
    );
    assert_eq!((grid, table.rows().len(), table.sent()), (None, 3, 2));
    assert_eq!((table.good(), table.bad().count()), (0, 0));
    // Sent rows are not sent again automatically; a row that the user changes is a new item.
    assert!(send(&mut table, "again").0.is_empty());
    let [first, _, last] = [0, 1, 2].map(|at| table.rows()[at].id);
    table.set(first, "steps", Some(Entry::Text("2".into())), &schema);
    table
        .set_lines(
            "prompt",
            "a\nd",
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(table.good(), 2);
    let (inputs, _) = send(&mut table, "changed");
    assert_eq!(
        inputs
            .iter()
            .map(|sent| sent.input.title())
            .collect::<Vec<_>>(),
        ["a", "d"]
    );
    send_again(&mut table, last);
    assert_eq!(table.good(), 1);
    table.clear_sent();
    assert_eq!(table.rows().len(), 2);
}

#[test]
fn unsent_items_return_as_they_were_typed() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let id = table.rows()[0].id;
    table.remove(id);
    let back = |index: usize, text: &str| {
        let batch = BatchKey("one".into());
        ReturnedItem {
            task: TaskKey(format!("task {index}")),
            created: 1,
            place: BatchPlace { batch, index },
            draft: prompt(text),
        }
    };
    let items = vec![back(0, "as it was sent"), back(1, "as it was sent")];
    table.return_items(items.clone(), &schema).unwrap();
    assert_eq!(waiting(&table), ["b", "as it was sent"]);
    assert_eq!(table.good(), 2);
    // Another tab that was not notified reads the stored table and returns the same items.
    let mut read = Table::from_value(table.to_value(), &schema).unwrap();
    read.return_items(items, &schema).unwrap();
    assert_eq!(waiting(&read), ["b", "as it was sent"]);
    // A retry with the same key is another task.
    let again = ReturnedItem {
        created: 2,
        ..back(0, "again")
    };
    read.return_items(vec![again], &schema).unwrap();
    assert_eq!(read.good(), 3);
}

/// Guards against rows that are lost because the page was closed while their tasks were being stored.
#[test]
fn rows_without_a_stored_task_are_waiting_again() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append(["a", "b", "c"].map(prompt).to_vec(), &schema)
        .unwrap();
    send(&mut table, "one");
    let mut writer = Writer::new(table.clone());
    writer.write(1);
    assert_eq!(writer.finish(), table.to_value().to_string());
    let mut left = Table::from_value(table.to_value(), &schema).unwrap();
    let batch = BatchKey("one".into());
    assert_eq!(left.sending(), std::slice::from_ref(&batch));
    assert_eq!(
        left.good(),
        0,
        "no row is sent before it is known which tasks are stored"
    );
    assert_eq!(left.settle(&batch, &[1].into(), &|_| None), [0, 2]);
    assert_eq!(waiting(&left), ["a", "c"]);
    assert!(left.sending().is_empty());
    // Stored items stay sent, even after their tasks were removed.
    assert!(!table.is_stored(&batch));
    table.mark_stored(&batch);
    assert!(table.is_stored(&batch));
    assert!(!table.is_stored(&BatchKey("of another table".into())));
    let table = Table::from_value(table.to_value(), &schema).unwrap();
    assert_eq!((table.sending().len(), table.sent()), (0, 3));
}

/// Sent rows must neither require columns nor count for the maximum number of rows.
#[test]
fn sent_rows_are_hidden_and_can_be_sent_again() {
    let schema = schema();
    let mut table = Table::default();
    let mut small = prompt("a");
    small.set("size", Entry::Value(json!("s")));
    table.append(vec![small, prompt("b")], &schema).unwrap();
    send(&mut table, "first");
    table.append(vec![prompt("c")], &schema).unwrap();
    assert_eq!(table.shown(), [2]);
    assert_eq!(table.columns(&schema), ["prompt"]);
    assert_eq!(table.good(), 1);
    table.put_all_back();
    assert_eq!((table.good(), table.sent()), (3, 0));
}

#[test]
fn sent_rows_are_evicted_and_not_part_of_the_next_grid() {
    let schema = schema();
    let mut table = Table::default();
    table.append(vec![prompt("a"); MAX_ROWS], &schema).unwrap();
    send(&mut table, "one");
    table.append(vec![prompt("b")], &schema).unwrap();
    assert_eq!(table.rows().len(), 1);
    send(&mut table, "two");
    let axes = [axis("steps", &["1", "2"]), axis("size", &["s", "l"])];
    table
        .append_sweep(&prompt("x"), &axes, Combine::Product, &schema)
        .unwrap();
    let (inputs, grid) = send(&mut table, "three");
    assert_eq!((inputs.len(), grid.unwrap().cells), (4, vec![0, 1, 2, 3]));
}

/// Guards against charging rows twice: typing lines changes waiting rows only.
#[test]
fn sent_rows_have_no_line_and_are_unchanged_by_typing() {
    let schema = schema();
    let axes = [axis("steps", &["1", "2", "3"]), axis("size", &["s", "l"])];
    let mut table = Table::default();
    table
        .append_sweep(&prompt("lake"), &axes, Combine::Product, &schema)
        .unwrap();
    send(&mut table, "sweep");
    assert!(waiting(&table).is_empty());
    let sent = table.rows().to_vec();

    let write = |table: &mut Table, text: &str| {
        table
            .set_lines(
                "prompt",
                text,
                &Draft::default(),
                &schema,
                &LinesSnapshot::default(),
            )
            .unwrap();
    };
    write(&mut table, "lake\npines");
    assert_eq!((table.good(), table.sent()), (2, 6));
    let row = &table.rows()[6];
    assert_eq!(
        row.draft,
        prompt("lake"),
        "the row has no values of the sweep"
    );
    write(&mut table, "lak\npines");
    write(&mut table, "");
    assert_eq!(table.rows(), sent);

    // Only the user can make sent rows waiting again. New lines are added to them.
    send_again(&mut table, sent[1].id);
    write(&mut table, "sea");
    assert_eq!(waiting(&table), ["lake", "sea"]);
    assert_eq!((table.good(), table.sent()), (2, 5));
}

#[test]
fn lines_can_be_typed_in_a_table_full_of_sent_rows() {
    let schema = schema();
    let mut table = Table::default();
    table.append(vec![prompt("a"); MAX_ROWS], &schema).unwrap();
    send(&mut table, "one");
    table
        .set_lines(
            "prompt",
            "b\nc",
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(waiting(&table), ["b", "c"]);
    assert_eq!(table.rows().len(), 2, "sent rows are evicted");
}

#[test]
fn a_column_is_dropped_and_a_value_replaced_in_waiting_lines() {
    let schema = schema();
    let steps = |text: &str| Entry::Text(text.into());
    let mut table = Table::default();
    let mut first = prompt("a");
    first.set("steps", steps("3"));
    table.append(vec![first.clone()], &schema).unwrap();
    send(&mut table, "one");
    assert!(!table.can_drop("steps"));
    append_lines(&mut table, vec![first.clone(), prompt("b")], &schema);
    assert!(table.can_drop("steps"));

    table.replace_in_lines("steps", Some(&steps("3")), Some(&steps("4")), &schema);
    let shown: Vec<_> = table
        .rows()
        .iter()
        .map(|row| row.draft.get("steps"))
        .collect();
    assert_eq!(shown, [Some(&steps("3")), Some(&steps("4")), None]);
    table.replace_in_lines("steps", None, Some(&steps("5")), &schema);
    assert_eq!(table.rows()[2].draft.get("steps"), Some(&steps("5")));

    table.drop_column("steps", &schema);
    assert_eq!((table.good(), table.sent()), (2, 1));
    assert_eq!(table.rows()[0].draft, first);
    assert_eq!(table.columns(&schema), ["prompt"]);
}

proptest! {
    /// After any typing and sending, the text equals the waiting rows, and the sent rows are unchanged.
    #[test]
    fn typing_never_changes_sent_rows(texts in prop::collection::vec(("[ab\n]{0,10}", any::<bool>()), 1..6), swept: bool) {
        let schema = schema();
        let mut table = Table::default();
        if swept {
            let axes = [axis("steps", &["1", "2"]), axis("size", &["s", "l"])];
            table.append_sweep(&prompt("a"), &axes, Combine::Product, &schema).unwrap();
            send(&mut table, "sweep");
        }
        let sent = |table: &Table| table.rows().iter().filter(|row| row.sent.is_some()).cloned().collect::<Vec<Row>>();
        for (at, (text, is_sent)) in texts.into_iter().enumerate() {
            let before = sent(&table);
            table.set_lines("prompt", &text, &Draft::default(), &schema, &LinesSnapshot::default()).unwrap();
            prop_assert_eq!(sent(&table), before.clone());
            prop_assert_eq!(waiting(&table), prompts(&text).collect::<Vec<_>>());
            prop_assert_eq!(table.good(), prompts(&text).count());
            if is_sent {
                let (inputs, _) = send(&mut table, &at.to_string());
                prop_assert_eq!(inputs.len(), prompts(&text).count());
                prop_assert!(waiting(&table).is_empty());
                prop_assert_eq!(sent(&table).len(), before.len() + inputs.len());
            }
        }
    }
}

/// A sent sweep must not be offered again, even after other rows were sent.
#[test]
fn drafts_that_were_sent_are_recognized() {
    let schema = schema();
    let mut table = two_sent(&schema);
    let drafts = |texts: &[&str]| texts.iter().map(|text| prompt(text)).collect::<Vec<_>>();
    assert!(table.has_sent(&drafts(&["a", "b"])) && table.has_sent(&drafts(&["b"])));
    assert!(!table.has_sent(&drafts(&["a", "c"])) && !table.has_sent(&[]));
    let last = table.rows()[1].id;
    send_again(&mut table, last);
    assert!(!table.has_sent(&drafts(&["a", "b"])));
    table.append(drafts(&["a"]), &schema).unwrap();
    assert!(!table.has_sent(&drafts(&["a"])), "it is waiting, too");
}
