//! Numbers the rows. An imported row keeps its number from the file if possible. Errors, the table, the items of the
//! batch and the names of their files use the same number.

use super::{Row, Source, Table};
use crate::compose::MAX_ROWS;
use crate::text::plural::listed_numbers;

/// Invalid rows with the same mistakes. Blank rows don't count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The position of the first of these rows among the waiting rows, from 0.
    pub place: usize,
    /// The label of the first invalid cell of that row; see [`cell_label`].
    pub cell: String,
    /// The row numbers and the problem: `Row 7: layers must be at most 12.`, or `Rows 3 to 6 and 9: …`
    pub message: String,
    /// The number of rows.
    pub count: usize,
}

/// A row with its position among the waiting rows (first) and its number (last).
type Numbered<'a> = (usize, &'a Row, usize);

/// Returns the messages of a row's problems.
fn messages(row: &Row) -> impl Iterator<Item = &str> {
    row.problems.iter().map(|problem| problem.message.as_str())
}

/// Returns a label such as `layers, row 7`.
pub fn cell_label(parameter: &str, number: usize) -> String {
    format!("{parameter}, row {number}")
}

impl Table {
    /// Returns the numbers of the waiting rows, in ascending order.
    pub fn numbers(&self) -> Vec<usize> {
        let mut last = 0;
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        let numbers = waiting.map(|row| {
            last = match row.source {
                Source::File(number) if (last + 1..=MAX_ROWS).contains(&number) => number,
                _ => last + 1,
            };
            last
        });
        numbers.collect()
    }

    /// Returns the invalid rows, grouped by their mistakes: at most `most` groups.
    pub fn bad_rows(&self, most: usize) -> Vec<BadRow> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        let numbered = waiting.zip(self.numbers()).enumerate();
        let bad = numbered.filter(|(_, (row, _))| !row.problems.is_empty() && !row.is_blank());
        let bad = bad.map(|(place, (row, number))| (place, row, number));
        let mut found: Vec<Vec<Numbered>> = Vec::new();
        for one in bad {
            // Don't stop at `most` groups, because each message names all rows with these mistakes.
            let is_same = |rows: &Vec<Numbered>| messages(rows[0].1).eq(messages(one.1));
            match found.iter().position(is_same) {
                Some(at) => found[at].push(one),
                None if found.len() < most => found.push(vec![one]),
                None => {}
            }
        }
        let groups = found.into_iter().map(|rows| {
            let (place, row, number) = rows[0];
            let label = match rows.as_slice() {
                [_] => Self::row_label(number, row.source),
                all => {
                    let numbers: Vec<usize> = all.iter().map(|(.., number)| *number).collect();
                    format!("Rows {}", listed_numbers(&numbers))
                }
            };
            BadRow {
                place,
                cell: cell_label(&row.problems[0].parameter, number),
                message: format!("{label}: {}", messages(row).collect::<Vec<_>>().join("; ")),
                count: rows.len(),
            }
        });
        groups.collect()
    }

    /// Returns a message that names the waiting rows without a line: `Rows 3 and 7 came from elsewhere and stay as they
    /// are.`, or `Rows 2 to 5, 9, 12 and 4 more …`; empty if there are none.
    pub fn unlined_message(&self) -> String {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        let numbered = waiting.zip(self.numbers());
        let unlined = numbered.filter(|(row, _)| row.source != Source::Line);
        let numbers: Vec<usize> = unlined.map(|(_, number)| number).collect();
        match numbers.as_slice() {
            [] => String::new(),
            [one] => format!("Row {one} was not added here and stays unchanged."),
            all => {
                let named = listed_numbers(all);
                format!("Rows {named} were not added here and stay unchanged.")
            }
        }
    }

    /// Returns the label of a row: `Row 7`, or `Row 9 (row 7 of the file)` if its number in the file differs.
    fn row_label(number: usize, source: Source) -> String {
        match source {
            Source::File(own) if own != number => format!("Row {number} (row {own} of the file)"),
            _ => format!("Row {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::Draft;

    use super::super::tests::{prompt, schema, send};
    use super::*;

    fn imported(rows: impl IntoIterator<Item = usize>) -> Vec<(usize, Draft)> {
        let rows = rows.into_iter();
        rows.map(|row| (row, prompt(&format!("row {row}"))))
            .collect()
    }

    /// Guards against row 7 of a file that becomes row 19 because a sweep of 12 rows was added before.
    #[test]
    fn rows_keep_the_numbers_of_their_file() {
        let schema = schema();
        let mut table = Table::default();
        table.append(vec![prompt("a"); 12], &schema).unwrap();
        send(&mut table, "sweep");
        table
            .append_imported(imported([1, 2, 4, 7]), &schema)
            .unwrap();
        assert_eq!(table.numbers(), [1, 2, 4, 7]);
        let far = vec![(
            usize::MAX,
            prompt("of a file that numbers its rows as it likes"),
        )];
        table.append_imported(far, &schema).unwrap();
        assert_eq!(table.numbers(), [1, 2, 4, 7, 8]);
        table.remove(table.rows()[16].id);
        let second = table.rows()[13].id;
        table.remove(second);
        assert_eq!(table.numbers(), [1, 4, 7]);
        table.add_row(prompt("b"), &schema).unwrap();
        assert_eq!(table.numbers(), [1, 4, 7, 8]);
    }

    /// Guards against two rows with the same number.
    #[test]
    fn rows_of_a_file_below_others_continue_their_numbers() {
        let schema = schema();
        let mut table = Table::default();
        table.append(vec![prompt("a"); 2], &schema).unwrap();
        table.append_imported(imported(1..=3), &schema).unwrap();
        assert_eq!(table.numbers(), [1, 2, 3, 4, 5]);
        assert_eq!(
            Table::row_label(5, Source::File(3)),
            "Row 5 (row 3 of the file)"
        );
        assert_eq!(Table::row_label(3, Source::File(3)), "Row 3");
        assert_eq!(Table::row_label(3, Source::Line), "Row 3");
    }

    /// Rows without a line are sent in addition to the lines, so the user must see that they exist.
    #[test]
    fn rows_without_a_line_are_named() {
        let schema = schema();
        let mut table = Table::default();
        assert_eq!(table.unlined_message(), "");
        table.append_imported(imported([3]), &schema).unwrap();
        let one = "Row 3 was not added here and stays unchanged.";
        assert_eq!(table.unlined_message(), one);
        table.append_imported(imported([7]), &schema).unwrap();
        table.add_row(prompt("a line"), &schema).unwrap();
        let two = "Rows 3 and 7 were not added here and stay unchanged.";
        assert_eq!(table.unlined_message(), two);
        table.append(vec![prompt("a"); 3], &schema).unwrap();
        assert!(
            table
                .unlined_message()
                .starts_with("Rows 3, 7 and 9 to 11 were ")
        );
    }

    #[test]
    fn mistakes_are_shown_with_the_numbers_of_the_file() {
        let schema = schema();
        let mut table = Table::default();
        let mut rows = imported([3, 7]);
        let empty = atelier_contract::Entry::Text("many".into());
        rows[1].1.set("steps", empty);
        table.append_imported(rows, &schema).unwrap();
        let bad = table.bad_rows(5);
        let [row] = bad.as_slice() else {
            panic!("{bad:?}");
        };
        assert_eq!((row.place, row.cell.as_str()), (1, "steps, row 7"));
        assert!(row.message.starts_with("Row 7: "), "{}", row.message);
    }

    /// Equal messages must not hide the rows with other mistakes.
    #[test]
    fn rows_with_the_same_mistakes_are_named_together() {
        let schema = schema();
        let mut table = Table::default();
        let mut rows = imported(1..=9);
        for at in [1, 2, 3, 4, 8] {
            let many = atelier_contract::Entry::Text("many".into());
            rows[at].1.set("steps", many);
        }
        rows[6]
            .1
            .set("prompt", atelier_contract::Entry::Text(String::new()));
        rows[6]
            .1
            .set("steps", atelier_contract::Entry::Text("few".into()));
        table.append_imported(rows, &schema).unwrap();
        let bad = table.bad_rows(5);
        let counts: Vec<_> = bad.iter().map(|row| (row.place, row.count)).collect();
        assert_eq!(counts, [(1, 5), (6, 1)]);
        assert_eq!(bad[0].cell, "steps, row 2");
        let (named, other) = (&bad[0].message, &bad[1].message);
        assert!(named.starts_with("Rows 2 to 5 and 9: steps "), "{named}");
        assert!(other.starts_with("Row 7: "), "{other}");
        let first = table.bad_rows(1);
        assert_eq!((first.len(), first[0].count), (1, 5));
    }

    /// Guards against row 4 of a file that becomes item 3 because row 3 is invalid.
    #[test]
    fn items_have_the_numbers_of_their_rows() {
        let schema = schema();
        let mut table = Table::default();
        let mut rows = imported(1..=4);
        rows[2].1 = Draft::default();
        table.append_imported(rows, &schema).unwrap();
        let indexes = |table: &mut Table, batch: &str| {
            let (items, _) = send(table, batch);
            items.iter().map(|item| item.index).collect::<Vec<_>>()
        };
        assert_eq!(indexes(&mut table, "first"), [0, 1, 3]);
        assert_eq!(table.numbers(), [3]);
        let left = table.rows()[2].id;
        let entry = atelier_contract::Entry::Text("now it has one".into());
        table.set(left, "prompt", Some(entry), &schema);
        assert_eq!(indexes(&mut table, "second"), [2]);
    }
}
