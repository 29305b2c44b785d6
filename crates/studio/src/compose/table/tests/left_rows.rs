//! Tests that rows that are not sent, put aside, brought back or sent again are not lost, and keep their settings and
//! numbers.

use super::*;

fn imported(count: usize) -> Vec<(usize, Draft)> {
    let rows = 1..=count;
    rows.map(|row| (row, prompt(&format!("row {row}"))))
        .collect()
}

/// A table with too many rows could not be read at the next visit.
#[test]
fn bringing_back_respects_the_maximum_number_of_rows() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append_imported(imported(MAX_ROWS / 2 + 1), &schema)
        .unwrap();
    table.put_aside(|_| true);
    table
        .append_imported(imported(MAX_ROWS / 2), &schema)
        .unwrap();
    assert!(table.bring_back().is_err());
    assert_eq!(
        (table.unsent(), table.aside()),
        (MAX_ROWS / 2, MAX_ROWS / 2 + 1)
    );
    let read = Table::from_value(table.to_value(), &schema).unwrap();
    assert!(read.looks_like(&table));
}

/// Guards against charging rows again without a warning.
#[test]
fn rows_put_aside_stay_marked_as_sent() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(2), &schema).unwrap();
    table.draw_nonces(&mut || 5);
    send(&mut table, "one");
    table.put_all_back();
    table.put_aside(|_| true);
    let mut read = Table::from_value(table.to_value(), &schema).unwrap();
    read.bring_back().unwrap();
    assert!(read.rows().iter().all(|row| row.earlier().is_some()));
    assert_eq!(read.with_offered(&[], false).sent_before.len(), 2);
}

/// A manifest may number its items from 0, but the stored code 0 means a line.
#[test]
fn an_imported_row_is_not_a_line_whatever_its_number() {
    let schema = schema();
    let text =
        r#"{"format":"atelier-manifest","items":[{"index":0,"input":{"prompt":"x","steps":7}}]}"#;
    let imported = crate::compose::import::read(text, &schema, &[]).unwrap();
    let mut table = Table::default();
    table.append_imported(imported.numbered(), &schema).unwrap();
    table
        .append_imported(vec![(0, prompt("y"))], &schema)
        .unwrap();
    let read = Table::from_value(table.to_value(), &schema).unwrap();
    assert_eq!((read.lines("prompt"), read.numbers()), (vec![], vec![1, 2]));
}

/// Guards against showing images of a sweep with wrong labels.
#[test]
fn a_sweep_is_not_a_grid_once_other_rows_are_waiting() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(2), &schema).unwrap();
    send(&mut table, "one");
    let axes = [axis("steps", &["1", "2"]), axis("size", &["s", "l"])];
    let base = prompt("a");
    table
        .append_sweep(&base, &axes, Combine::Product, &schema)
        .unwrap();
    table.settle(&BatchKey("one".into()), &[].into(), &|_| None);
    let (items, grid) = send(&mut table, "two");
    assert_eq!((items.len(), grid), (6, None));
}

#[test]
fn a_new_sweep_is_a_grid_if_the_other_rows_are_put_aside() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(1), &schema).unwrap();
    table.put_aside(|_| true);
    let axes = [axis("steps", &["1", "2"]), axis("size", &["s", "l"])];
    let base = prompt("a");
    table
        .append_sweep(&base, &axes, Combine::Product, &schema)
        .unwrap();
    table.clear();
    table.undo_removal();
    assert!(table.grid.is_some());
}

/// Guards against a new prompt that gets the settings of the prompt that it replaces, because both begin with the same
/// letter.
#[test]
fn a_line_retyped_letter_by_letter_has_the_settings_of_the_form() {
    let schema = schema();
    let mut table = Table::default();
    let mut lake = prompt("a lake at dawn");
    lake.set("steps", Entry::Text("9".into()));
    append_lines(&mut table, vec![lake], &schema);
    let mut nonce = 0;
    let mut random = || {
        nonce += 1;
        nonce
    };
    table.draw_nonces(&mut random);
    let before = table.lines_snapshot("prompt");
    let mut write = |text: &str| {
        let base = Draft::default();
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
        table.draw_nonces(&mut random);
        table.rows()[0].draft.clone()
    };
    for text in ["a", "a ", "a f", "a fo"] {
        write(text);
    }
    assert_eq!(write("a forest"), prompt("a forest"));
    assert!(
        write("a lake at dawn").get("steps").is_some(),
        "the old line restores the old settings"
    );
}

/// Guards against changing imported rows that should stay unchanged.
#[test]
fn a_seed_for_all_lines_is_not_set_in_other_rows() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(2), &schema).unwrap();
    append_lines(&mut table, vec![prompt("a line")], &schema);
    let nine = Entry::Text("9".into());
    table.replace_in_lines("steps", None, Some(&nine), &schema);
    let steps = table
        .rows()
        .iter()
        .map(|row| row.draft.get("steps").is_some());
    assert!(steps.eq([false, false, true]));
    assert!(table.all_lines_have("steps", "9"));
}

/// Items that are edited again, stopped, or sent without the others keep the numbers of their rows.
#[test]
fn rows_that_return_keep_their_numbers() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(4), &schema).unwrap();
    send(&mut table, "one");
    table.clear_sent();
    let place = |index: usize| BatchPlace {
        batch: BatchKey("one".into()),
        index,
    };
    let item = ReturnedItem {
        task: TaskKey("k".into()),
        created: 1,
        place: place(3),
        draft: prompt("row 4"),
    };
    table.return_items(vec![item], &schema).unwrap();
    assert_eq!(table.numbers(), [4]);
    table.clear();
    let again = [0, 1, 3].map(|index| (place(index), prompt("again")));
    table.add_again(again.to_vec(), None, &schema).unwrap();
    assert_eq!(table.numbers(), [1, 2, 4]);
    table.clear();
    table.append_imported(imported(3), &schema).unwrap();
    let added = vec![prompt("x"), prompt("y")];
    table.add(added, &schema).unwrap();
    let (items, _) = table.with_only_added_rows(|table| send(table, "two"));
    let numbers: Vec<usize> = items.iter().map(|item| item.index + 1).collect();
    assert_eq!(numbers, [4, 5]);
    assert_eq!(table.numbers(), [1, 2, 3]);
}

/// Added rows that a single key press removes must not be lost.
#[test]
fn added_rows_that_were_removed_can_be_restored() {
    let schema = schema();
    let mut table = Table::default();
    table.append_imported(imported(3), &schema).unwrap();
    table.add(vec![prompt("x"), prompt("y")], &schema).unwrap();
    table.undo_addition();
    assert_eq!(table.unsent(), 3);
    table.undo_removal();
    assert_eq!(table.unsent(), 5);
}

fn check(table: &Table, schema: &Schema, log: &[String]) {
    let numbers = table.numbers();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{log:?}");
    assert_eq!(numbers.len(), table.unsent());
    assert_eq!(
        Writer::new(table.clone()).finish(),
        table.to_value().to_string(),
        "{log:?}"
    );
    let read = Table::from_value(table.to_value(), schema).expect("unreadable");
    assert!(read.looks_like(table), "{log:?}");
    let of = |table: &Table| {
        table
            .rows()
            .iter()
            .map(|row| (row.source, row.nonce, row.is_aside))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&read), of(table), "{log:?}");
    assert_eq!(read.numbers(), numbers);
    let ids: std::collections::HashSet<u64> = table.rows().iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), table.rows().len(), "{log:?}");
    let nonces: std::collections::HashSet<u64> = table.rows().iter().map(|row| row.nonce).collect();
    assert_eq!(nonces.len(), table.rows().len(), "nonces {log:?}");
    if let Some(grid) = &table.grid {
        let waiting = table.waiting();
        let columns = grid.columns.values.len();
        for (at, draft) in waiting.iter().enumerate() {
            let cell = |labels: &crate::compose::sweep::Labels, place: usize| {
                assert_eq!(
                    draft.get(&labels.parameter).map(Entry::to_text).as_ref(),
                    labels.values.get(place),
                    "{log:?}"
                );
            };
            cell(&grid.rows, at / columns);
            cell(&grid.columns, at % columns);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn invariants_hold_after_any_actions(acts in prop::collection::vec((0..20u8, 0..6usize), 1..24), with_settle: bool) {
        let schema = schema();
        let mut table = Table::default();
        let mut last = 0u64;
        let mut random = move || { last += 1; last * 1_000 };
        let mut log = Vec::new();
        let mut batches: Vec<BatchKey> = Vec::new();
        let mut before = LinesSnapshot::default();
        let mut put_back = Vec::new();
        for (step, (act, n)) in acts.into_iter().enumerate() {
            log.push(format!("{act} {n}")); if act != 2 { before = LinesSnapshot::default(); }
            let id = table.rows().get(n).map(|row| row.id);
            match act {
                0 => { let rows = (0..n).map(|at| (at * 3 % 7 + 1, prompt(&format!("f{at}")))).collect(); table.append_imported(rows, &schema).unwrap() }
                1 => table.append_sweep(&prompt("s"), &[axis("steps", &["1", "2"]), axis("size", &["s", "l"])], Combine::Product, &schema).unwrap(),
                2 => { let text = ["", "a", "a\nb", "b\na", "a\nc\nb", "x\ny"][n]; table.set_lines("prompt", text, &Draft::default(), &schema, &before).unwrap() }
                3 => { table.put_aside(|row| row.source != Source::Line); }
                4 => { table.put_aside(|_| true); }
                5 => table.bring_back().unwrap(),
                6 => table.remove_aside(),
                7 => table.clear(),
                8 => table.undo_removal(),
                9 => { let (items, _) = {
                        let numbers: Vec<usize> = table.rows().iter().filter(|r| r.is_waiting()).zip(table.numbers()).filter(|(r, _)| r.problems.is_empty()).map(|(_, n)| n - 1).collect();
                        let (items, grid) = send(&mut table, &format!("b{step}"));
                        assert_eq!(items.iter().map(|i| i.index).collect::<Vec<_>>(), numbers);
                        (items, grid) };
                    if !items.is_empty() { batches.push(BatchKey(format!("b{step}"))); } }
                10 => if with_settle && table.grid.is_none() && let Some(batch) = batches.pop() { table.settle(&batch, &[n].into(), &|_| None); },
                11 => { put_back = table.put_all_back(); }
                12 => if let Some(id) = id { table.remove(id) },
                13 => if let Some(id) = id && table.row(id).unwrap().1.is_waiting() { table.duplicate(id, &schema) },
                14 => table = Table::from_value(table.to_value(), &schema).unwrap(),
                15 => table.clear_sent(),
                16 => before = table.lines_snapshot("prompt"),
                17 => table.undo_put_back(std::mem::take(&mut put_back)),
                18 => { let rows = (0..n).map(|at| (at + 1, prompt(&format!("r{at}")))).collect(); table.replace_by_imported(rows, &schema).unwrap() }
                _ => { table.add((0..n).map(|at| prompt(&format!("g{at}"))).collect(), &schema).unwrap(); if n == 3 { table.undo_addition() } }
            }
            table.draw_nonces(&mut random);
            check(&table, &schema, &log);
        }
    }
}
