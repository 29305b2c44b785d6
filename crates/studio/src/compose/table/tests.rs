mod addition;
mod keys;
mod left_rows;
mod lines;
mod paste;
mod removal;
mod sent;
mod sent_before;

use super::*;
use crate::compose::fill_method::FillMethod;
use crate::compose::plan::Plan;
use crate::compose::prompts::prompts;
use atelier_contract::json;
use atelier_engine::BatchKey;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(super) fn schema() -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "prompt", "type": "string"}],
            "optional": [
                {"name": "steps", "type": "integer", "minimum": 1, "maximum": 9},
                {"name": "size", "type": "enum", "allowedValues": ["s", "l"]}
            ]
        }
    }))
    .unwrap()
}

pub(super) fn prompt(text: &str) -> Draft {
    let mut draft = Draft::default();
    draft.set("prompt", Entry::Text(text.into()));
    draft
}

fn axis(parameter: &str, values: &[&str]) -> Axis {
    Axis {
        parameter: parameter.into(),
        values: values
            .iter()
            .map(|value| Some(Entry::Text((*value).into())))
            .collect(),
    }
}

#[test]
fn a_row_is_validated_when_it_changes() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append(vec![prompt("a"), Draft::default()], &schema)
        .unwrap();
    assert_eq!((table.good(), table.bad().count()), (1, 0));
    let id = table.rows()[1].id;
    table.set(id, "prompt", Some(Entry::Text("b".into())), &schema);
    assert_eq!(table.good(), 2);
    table.set(id, "steps", Some(Entry::Text("12".into())), &schema);
    assert_eq!(table.bad().map(|(at, _)| at).collect::<Vec<_>>(), [1]);
    assert_eq!(table.columns(&schema), ["prompt", "steps"]);
    table.drop_column("steps", &schema);
    assert_eq!(
        (table.good(), table.columns(&schema)),
        (2, vec!["prompt".to_owned()])
    );
    table.add_column("size");
    assert_eq!(table.columns(&schema), ["prompt", "size"]);
    // A column must not disappear while the user empties one of its cells to type something else.
    table.set(id, "steps", Some(Entry::Text("3".into())), &schema);
    table.set(id, "steps", None, &schema);
    assert_eq!(table.columns(&schema), ["prompt", "size", "steps"]);
}

#[test]
fn rows_are_numbered_as_they_are_shown() {
    let schema = schema();
    let mut table = two_sent(&schema);
    table.append(vec![prompt("c")], &schema).unwrap();
    assert_eq!(table.numbers(), [1]);
}

#[test]
fn inputs_that_all_lines_share_are_known() {
    let schema = schema();
    let mut table = Table::default();
    assert!(
        table.all_lines_have("prompt", "a"),
        "rows without a value have no line"
    );
    table.append(vec![prompt("b")], &schema).unwrap();
    send(&mut table, "one");
    append_lines(&mut table, vec![prompt("a")], &schema);
    assert!(table.all_lines_have("prompt", "a"));
    append_lines(&mut table, vec![Draft::default()], &schema);
    assert!(!table.all_lines_have("prompt", "a"));
}

/// Guards against showing an error in a new row that is still empty.
#[test]
fn an_empty_row_is_neither_sent_nor_reported_as_invalid() {
    let schema = schema();
    let mut table = Table::default();
    assert_eq!(
        table.status_message(&schema, None, FillMethod::Lines),
        "Type one prompt per line."
    );
    let plan = Plan {
        items: 2,
        outputs: 2,
    };
    assert_eq!(
        table.status_message(&schema, Some(plan), FillMethod::Sweep),
        "2 items of this sweep."
    );
    table.append(vec![Draft::default()], &schema).unwrap();
    let messages = |table: &Table| {
        (
            table.status_message(&schema, None, FillMethod::Lines),
            table.unsent_rest_message(),
        )
    };
    let expected = |status: &str, rest: &str| (status.to_owned(), rest.to_owned());
    assert_eq!((table.good(), table.bad().count()), (0, 0));
    assert_eq!(
        messages(&table),
        expected("Fill in a row to send it.", "1 empty row is not sent.")
    );

    // A row whose only value is removed counts as empty again.
    let id = table.rows()[0].id;
    let mut steps = |text: &str| {
        table.set(id, "steps", Some(Entry::Text(text.into())), &schema);
        (table.bad().count(), messages(&table))
    };
    assert_eq!(steps("2"), (1, expected("Correct a row to send it.", "")));
    assert_eq!(
        steps(" "),
        (
            0,
            expected("Fill in a row to send it.", "1 empty row is not sent.")
        )
    );

    let mut steps = Draft::default();
    steps.set("steps", Entry::Text("2".into()));
    table
        .append(vec![prompt("a"), steps, Draft::default()], &schema)
        .unwrap();
    let rest = "1 row is not sent. 2 empty rows are not sent.";
    assert_eq!(messages(&table), expected("1 item in 1 call", rest));
}

/// Returns a table whose rows `a` and `b` were sent as the batch `one`.
fn two_sent(schema: &Schema) -> Table {
    let mut table = Table::default();
    let rows = vec![prompt("a"), prompt("b")];
    append_lines(&mut table, rows, schema);
    send(&mut table, "one");
    table
}

pub(super) fn send(table: &mut Table, batch: &str) -> (Vec<Item>, Option<GridLabels>) {
    let sent = send_to(table, batch, &schema());
    (sent.items, sent.grid)
}

/// Returns the prompts of the waiting rows.
fn waiting(table: &Table) -> Vec<String> {
    let waiting = table.rows().iter().filter(|row| row.is_waiting());
    let prompts = waiting.filter_map(|row| row.draft.get("prompt"));
    prompts
        .map(|entry| entry.to_text().replace('\n', " "))
        .collect()
}

/// Appends rows as if they came from lines.
fn append_lines(table: &mut Table, rows: Vec<Draft>, schema: &Schema) {
    for row in rows {
        table.add_row(row, schema).unwrap();
    }
}

/// Makes a sent row waiting again.
fn send_again(table: &mut Table, id: u64) {
    let at = table.place(id).unwrap();
    table.rows[at].put_back();
    table.grid = None;
}

fn send_to(table: &mut Table, batch: &str, schema: &Schema) -> SentRows {
    let batch = BatchKey(batch.into());
    table.send_good(&batch, schema, false, &mut || u64::MAX, &|_| None)
}

fn seeded_schema() -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "prompt", "type": "string"}],
            "optional": [{"name": "seed", "type": "integer"}]
        }
    }))
    .unwrap()
}

#[test]
fn an_untouched_seed_is_drawn_when_its_row_is_sent() {
    let schema = seeded_schema();
    let mut chosen = prompt("b");
    chosen.set("seed", Entry::Text("7".into()));
    let mut table = Table::default();
    table.append(vec![prompt("a"), chosen], &schema).unwrap();
    let inputs = send_to(&mut table, "b", &schema).items;
    let seeds = [0, 1].map(|at: usize| inputs[at].input.values()["seed"].as_u64());
    assert!(seeds[0].is_some_and(|drawn| drawn != 7));
    assert_eq!(seeds[1], Some(7));
    assert!(!inputs[0].seed_chosen && inputs[1].seed_chosen);
    assert_eq!(
        table.rows()[0].draft.get("seed"),
        None,
        "the next row gets another seed"
    );
}

#[test]
fn drafts_that_the_table_contains_are_recognized() {
    let schema = schema();
    let table = two_sent(&schema);
    let unknown = table.unknown(&[prompt("b"), prompt("c"), prompt("a")]);
    assert_eq!(unknown, [prompt("c")]);
}

#[test]
fn a_sweep_is_a_grid_until_it_is_changed() {
    let schema = schema();
    let axes = [axis("steps", &["1", "2", "30"]), axis("size", &["s", "l"])];
    let mut table = Table::default();
    table
        .append_sweep(&prompt("a"), &axes, Combine::Product, &schema)
        .unwrap();
    let id = table.rows()[0].id;
    // A parameter that is not an axis may change, because the labels stay correct.
    table.set(id, "prompt", Some(Entry::Text("b".into())), &schema);
    let mut sent = table.clone();
    let (inputs, grid) = send(&mut sent, "b");
    assert_eq!(inputs.len(), 4);
    assert_eq!(grid.unwrap().cells, [0, 1, 2, 3]);
    assert_eq!(sent.bad().count(), 2);
    for touch in [
        &|table: &mut Table| table.set(id, "steps", None, &schema) as (),
        &|table: &mut Table| table.remove(id),
        &|table: &mut Table| table.duplicate(id, &schema),
        &|table: &mut Table| table.append(vec![prompt("c")], &schema).unwrap(),
        &|table: &mut Table| table.drop_column("size", &schema),
    ] as [&dyn Fn(&mut Table); 5]
    {
        let mut touched = table.clone();
        touch(&mut touched);
        assert_eq!(send(&mut touched, "b").1, None);
    }
}

#[test]
fn too_many_rows_are_rejected_and_nothing_changes() {
    let schema = schema();
    let mut table = Table::default();
    table.append(vec![prompt("a")], &schema).unwrap();
    let before = table.clone();
    assert!(table.append(vec![prompt("b"); MAX_ROWS], &schema).is_err());
    assert_eq!(table, before);
}

proptest! {
    #[test]
    fn a_stored_table_survives_a_round_trip(texts in prop::collection::vec("[a-z0-9]{0,4}", 0..8), sweep: bool, has_sent: bool) {
        let schema = schema();
        let mut table = Table::default();
        if sweep {
            let axes = [axis("steps", &["1", "2"]), axis("size", &["s", "l"])];
            table.append_sweep(&prompt("x"), &axes, Combine::Product, &schema).unwrap();
        } else {
            table.append(texts.iter().map(|text| prompt(text)).collect(), &schema).unwrap();
        }
        if has_sent {
            send(&mut table, "b");
            table.append(vec![prompt("x")], &schema).unwrap();
        }
        table.add_column("size");
        let value = json::read(&table.to_value().to_string()).unwrap();
        let read = Table::from_value(value, &schema).unwrap();
        let rows = |table: &Table| table.rows.iter().map(|row| (row.draft.clone(), row.sent.clone())).collect::<Vec<_>>();
        prop_assert_eq!(rows(&read), rows(&table));
        prop_assert_eq!((&read.grid, &read.added, read.good()), (&table.grid, &table.added, table.good()));
    }
}

/// Browsers contain tables of earlier versions.
#[test]
fn stored_samples_survive_a_round_trip() {
    let schema = schema();
    for sample in include_str!("stored/samples.jsonl").lines() {
        let table = json::read(sample).and_then(|value| Table::from_value(value, &schema));
        let table = table.expect(sample);
        assert_eq!(table.to_value().to_string(), sample);
        assert_eq!(Writer::new(table).finish(), sample);
    }
}

#[test]
fn invalid_tables_are_rejected() {
    let schema = schema();
    for odd in [
        json!(1),
        json!({}),
        json!({"rows": [1], "added": []}),
        json!({"rows": [], "added": [1]}),
        json!({"rows": [], "added": [], "grid": 1}),
        json!({"rows": [], "added": [], "sent": [{"at": 0}]}),
    ] {
        assert_eq!(Table::from_value(odd, &schema), None);
    }
    // An earlier version ignores fields of a later one.
    let newer = json!({"rows": [], "added": [], "grid": null, "colour": "red"});
    assert_eq!(Table::from_value(newer, &schema), Some(Table::default()));
}

#[test]
fn a_table_written_in_pieces_gives_the_same_text() {
    let schema = schema();
    let mut swept = Table::default();
    let axes = [axis("steps", &["1", "2", "3"]), axis("size", &["s", "l"])];
    swept
        .append_sweep(
            &prompt("a \"quoted\" one"),
            &axes,
            Combine::Product,
            &schema,
        )
        .unwrap();
    let mut added = Table::default();
    added
        .append(vec![prompt("a\nb"), Draft::default()], &schema)
        .unwrap();
    added.add_column("size");
    let mut sent = added.clone();
    send(&mut sent, "b");
    for table in [Table::default(), swept, added, sent] {
        let whole = table.to_value().to_string();
        for rows in [1, 2, 100] {
            let mut writer = Writer::new(table.clone());
            let mut turns = 1;
            while writer.write(rows) {
                turns += 1;
            }
            assert_eq!(turns, table.rows().len().div_ceil(rows).max(1));
            assert_eq!(writer.finish(), whole);
        }
    }
}
