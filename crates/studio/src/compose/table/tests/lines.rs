//! Tests editing rows as the lines of a text.

use super::super::lines::is_changed_line;
use super::*;

#[test]
fn an_edited_line_keeps_the_other_parameters_of_its_row() {
    let schema = schema();
    let mut table = Table::default();
    table
        .set_lines(
            "prompt",
            "a\nb\n",
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    let id = table.rows()[1].id;
    table.set(id, "steps", Some(Entry::Text("3".into())), &schema);
    let mut base = Draft::default();
    base.set("size", Entry::Text("s".into()));
    table
        .set_lines(
            "prompt",
            "new\na\n\n b",
            &base,
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(table.lines("prompt"), ["new", "a", "b"]);
    assert!(table.rows()[0].draft.get("size").is_some());
    table
        .set_lines(
            "prompt",
            "new\na\nb2",
            &base,
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(table.lines("prompt"), ["new", "a", "b2"]);
    assert_eq!(table.rows()[2].draft.get("steps").unwrap().to_text(), "3");
    assert_eq!(table.rows()[2].id, id);
}

#[test]
fn rows_without_a_line_are_unchanged() {
    let schema = schema();
    let mut table = Table::default();
    let mut other = Draft::default();
    other.set("steps", Entry::Text("3".into()));
    append_lines(&mut table, vec![other, prompt("two\nlines")], &schema);
    assert_eq!(table.lines("prompt"), ["two lines"]);
    table
        .set_lines(
            "prompt",
            "two lines\nx",
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(table.rows().len(), 3);
    assert_eq!(
        table.rows()[1].draft.get("prompt").unwrap().to_text(),
        "two\nlines"
    );
    table
        .set_lines(
            "prompt",
            "",
            &Draft::default(),
            &schema,
            &LinesSnapshot::default(),
        )
        .unwrap();
    assert_eq!(table.rows().len(), 1);
}

/// The other parameters of a line must be unchanged after the user types above it, or clears the text and undoes that.
#[test]
fn a_line_that_reappears_gets_its_row_back() {
    let schema = schema();
    let mut table = Table::default();
    let mut lake = prompt("a lake");
    lake.set("steps", Entry::Text("4".into()));
    append_lines(&mut table, vec![lake, prompt("a mill")], &schema);
    let mut nonce = 0;
    let mut random = || {
        nonce += 1;
        nonce
    };
    table.draw_nonces(&mut random);
    let rows = table.rows().to_vec();
    let before = table.lines_snapshot("prompt");
    let mut write = |text: &str| {
        let base = Draft::default();
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
        table.draw_nonces(&mut random);
        table.rows().to_vec()
    };
    // The text after each key press.
    for typed in ["na lake\na mill", "newa lake\na mill"] {
        write(typed);
    }
    let now = write("new\na lake\na mill");
    assert_eq!(now[1..], rows);
    assert_eq!(now[0].draft, prompt("new"));
    write("");
    let restored = write("a lake\na mill");
    assert_eq!(
        restored, rows,
        "the rows have all of their parameters and keys"
    );
}

proptest! {
    #[test]
    fn the_lines_equal_those_of_the_text(first in "[ab\n]{0,12}", second in "[ab\n]{0,12}", bare in 0..3usize) {
        let schema = schema();
        let mut table = Table::default();
        table.append(vec![Draft::default(); bare], &schema).unwrap();
        for text in [first, second] {
            table.set_lines("prompt", &text, &Draft::default(), &schema, &LinesSnapshot::default()).unwrap();
            prop_assert_eq!(table.lines("prompt"), prompts(&text).collect::<Vec<_>>());
            prop_assert_eq!(table.rows().len(), bare + prompts(&text).count());
            let ids: std::collections::HashSet<u64> = table.rows().iter().map(|row| row.id).collect();
            prop_assert_eq!(ids.len(), table.rows().len());
        }
    }
}

/// Guards against sending a new prompt with the settings of an imported row, or of a line that it replaces.
#[test]
fn a_new_line_has_the_settings_of_the_form() {
    let schema = schema();
    let mut table = Table::default();
    let with_steps = |text: &str| {
        let mut draft = prompt(text);
        draft.set("steps", Entry::Text("3".into()));
        draft
    };
    let left = vec![(3, with_steps("from a file"))];
    table.append_imported(left.clone(), &schema).unwrap();
    append_lines(
        &mut table,
        vec![with_steps("a mill at dawn"), with_steps("pines")],
        &schema,
    );
    assert_eq!(table.lines("prompt"), ["a mill at dawn", "pines"]);
    let before = table.lines_snapshot("prompt");
    let mut write = |text: &str| {
        let base = Draft::default();
        let written = table.set_lines("prompt", text, &base, &schema, &before);
        written.unwrap();
        let rows = table.rows().iter();
        rows.map(|row| row.draft.clone()).collect::<Vec<_>>()
    };
    let left = left[0].1.clone();
    // A paste replaces everything.
    let rows = write("dunes\na harbor in rain");
    assert_eq!(
        rows,
        [left.clone(), prompt("dunes"), prompt("a harbor in rain")]
    );
    // Typing in a line continues its row.
    let rows = write("a mill at dusk\npines, fog");
    assert_eq!(rows, [left, prompt("a mill at dusk"), prompt("pines, fog")]);
}

#[test]
fn a_line_is_edited_if_its_beginning_or_end_is_unchanged() {
    for (old, new, is_changed) in [
        ("pines", "pines, fog", true),
        ("pines", "tall pines", true),
        ("pines in fog", "pines in snow", true),
        ("a", "ab", true),
        ("a lighthouse in a storm", "b", false),
        ("a mill at dawn", "a harbor in rain", false),
        ("森の湖", "森の湖と舟", true),
    ] {
        assert_eq!(is_changed_line(old, new), is_changed, "{old:?}, {new:?}");
    }
}
