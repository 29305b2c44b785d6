//! Tests that copied cells become cells, and not one prompt that would be generated and charged.

use super::*;
use crate::compose::table::paste::copied_range;

fn range(rows: &[&[&str]]) -> Vec<Vec<String>> {
    let row = |cells: &&[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
    rows.iter().map(row).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_copied_range_is_told_from_a_text() {
    let cells = Some(range(&[&["a fox", "3"], &["an \"owl\"\nat night", ""]]));
    let copied = "a fox\t3\r\n\"an \"\"owl\"\"\nat night\"\t\r\n";
    assert_eq!(copied_range(copied, true), cells);
    assert_eq!(copied_range(copied, false), cells);
    let column = "1\n2\n";
    assert_eq!(copied_range(column, true), None);
    assert_eq!(copied_range(column, false), Some(range(&[&["1"], &["2"]])));
    for text in ["", "a fox", "a, b\nc, d", "if a:\n\tb\n\t\tc"] {
        assert_eq!(copied_range(text, true), None, "{text}");
    }
}

#[test]
fn pasted_cells_fill_rows_add_rows_and_can_be_undone() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append(vec![prompt("a"), prompt("b")], &schema)
        .unwrap();
    let before: Vec<Draft> = table.waiting();
    let id = table.rows()[1].id;
    let columns = names(&["prompt", "steps"]);
    let cells = range(&[&["c", "3"], &["d", ""], &["e", "99"]]);
    let pasted = table
        .paste(id, &columns, &cells, &Draft::default(), &schema)
        .unwrap();
    assert_eq!(waiting(&table), ["a", "c", "d", "e"]);
    assert_eq!((table.good(), table.bad().count()), (3, 1));
    assert_eq!(pasted.message(), "Pasted 3 rows of 2 cells.");
    let edited = table.rows()[3].id;
    table.set(edited, "steps", Some(Entry::Text("9".into())), &schema);
    table.undo_paste(&pasted, &schema);
    assert_eq!(waiting(&table), ["a", "b", "e"]);
    assert_eq!(table.waiting()[..2], before);
}

#[test]
fn a_range_that_does_not_fit_changes_nothing() {
    let schema = schema();
    let mut table = Table::default();
    table.append(vec![prompt("a")], &schema).unwrap();
    let (before, id) = (table.clone(), table.rows()[0].id);
    let wide = range(&[&["a", "b"]]);
    let message = table
        .paste(id, &names(&["prompt"]), &wide, &Draft::default(), &schema)
        .unwrap_err();
    assert!(message.contains("2 columns"), "{message}");
    let long = vec![vec!["x".to_owned()]; crate::compose::MAX_ROWS + 1];
    let columns = names(&["prompt"]);
    let result = table.paste(id, &columns, &long, &Draft::default(), &schema);
    assert!(result.is_err());
    assert_eq!(table, before);
}

/// Guards against a paste over existing cells that is refused because of the single form, which it does not need.
#[test]
fn a_paste_needs_the_single_form_only_for_new_rows() {
    let schema = schema();
    let mut table = Table::default();
    let rows = vec![prompt("a"), prompt("b"), prompt("c")];
    table.append(rows, &schema).unwrap();
    let id = table.rows()[1].id;
    let two = range(&[&["x"], &["y"]]);
    assert!(table.has_rows_for(id, &two));
    assert!(!table.has_rows_for(table.rows()[2].id, &two));
    table.remove(table.rows()[2].id);
    assert!(!table.has_rows_for(id, &two));
}
