//! Reads and writes CSV (RFC 4180, and the dialects of spreadsheets).

/// Parses CSV into records. The separator is a comma, semicolon or tab. A first line such as `sep=;` (a hint for Excel,
/// not a record) sets it. Otherwise, it is the most frequent of the three in the first record, outside quotes. A byte
/// order mark and empty lines are skipped. A quoted field may contain separators, doubled quotes and line ends. A field
/// whose quote is not closed extends to the end of the text.
pub fn read(text: &str) -> Vec<Vec<String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (hinted, text) = match hint(text) {
        Some((separator, rest)) => (Some(separator), rest),
        None => (None, text),
    };
    records(text, hinted.unwrap_or_else(|| separator(text)))
}

/// Parses cells that were copied from a spreadsheet: like [`read`], but the separator is always a tab.
pub fn read_tab_separated(text: &str) -> Vec<Vec<String>> {
    records(text, b'\t')
}

fn records(text: &str, separator: u8) -> Vec<Vec<String>> {
    let records = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.as_bytes())
        .into_records();
    // Reading from a string can't fail.
    let records = records.filter_map(Result::ok);
    records
        .map(|record| record.iter().map(str::to_owned).collect())
        .collect()
}

/// Returns the separator of Excel's hint, and the text after that line.
fn hint(text: &str) -> Option<(u8, &str)> {
    let text = text.trim_start_matches(['\r', '\n']);
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    let line = text[..end].trim_matches('"').to_ascii_lowercase();
    match line.strip_prefix("sep=")?.as_bytes() {
        [separator] => Some((*separator, &text[end..])),
        // Some editors remove a tab at the end of a line.
        [] => Some((b'\t', &text[end..])),
        _ => None,
    }
}

/// Guesses the separator from the first record.
fn separator(text: &str) -> u8 {
    let mut counts = [(b',', 0usize), (b';', 0), (b'\t', 0)];
    let mut in_quotes = false;
    for c in text.trim_start_matches(['\r', '\n']).chars() {
        match c {
            '"' => in_quotes = !in_quotes,
            '\n' | '\r' if !in_quotes => break,
            _ if in_quotes => {}
            _ => {
                for (separator, count) in &mut counts {
                    *count += usize::from(char::from(*separator) == c);
                }
            }
        }
    }
    // On a tie, the first separator wins; without separators, this is the comma.
    let mut best = counts[0];
    for other in &counts[1..] {
        if other.1 > best.1 {
            best = *other;
        }
    }
    best.0
}

/// Appends a record that ends with CRLF (RFC 4180). Quotes more fields than the csv crate does: also those with a
/// semicolon or tab, which other programs use as separators, and those that start or end with a space, which other
/// programs trim.
pub fn write<'a>(out: &mut String, fields: impl IntoIterator<Item = &'a str>) {
    let start = out.len();
    for (position, field) in fields.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        let needs_quotes = field.contains([',', ';', '\t', '"', '\n', '\r', '\u{feff}'])
            || field.starts_with(' ')
            || field.ends_with(' ');
        if needs_quotes {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    // A record with one empty field would look like an empty line, which readers skip.
    if out.len() == start {
        out.push_str("\"\"");
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_newlines_marks_and_delimiters() {
        for (text, records) in [
            ("", vec![]),
            (
                "\u{feff}a,b\r\n1,2\r\n",
                vec![vec!["a", "b"], vec!["1", "2"]],
            ),
            ("a;b,c\n1;2", vec![vec!["a;b", "c"], vec!["1;2"]]),
            ("a;b\n1,5;2", vec![vec!["a", "b"], vec!["1,5", "2"]]),
            ("a\tb\r1\t2\r", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("\"a,\"\"b\"\"\nc\",d", vec![vec!["a,\"b\"\nc", "d"]]),
            ("a\n\n\r\nb\n", vec![vec!["a"], vec!["b"]]),
            ("a,\nb", vec![vec!["a", ""], vec!["b"]]),
            ("a,", vec![vec!["a", ""]]),
            ("\"\"\nb", vec![vec![""], vec!["b"]]),
            (
                "\"open, and\nnever closed",
                vec![vec!["open, and\nnever closed"]],
            ),
            ("\"a\"x,b", vec![vec!["ax", "b"]]),
            ("5\" disk,b", vec![vec!["5\" disk", "b"]]),
            // Excel's hint.
            (
                "sep=;\r\na;b\r\n1,5;2",
                vec![vec!["a", "b"], vec!["1,5", "2"]],
            ),
            ("\u{feff}\"sep=\t\"\na\tb", vec![vec!["a", "b"]]),
            ("SEP=,\na;b,c", vec![vec!["a;b", "c"]]),
            (
                "sep=both,b\n1,2",
                vec![vec!["sep=both", "b"], vec!["1", "2"]],
            ),
        ] {
            assert_eq!(read(text), records, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn written_tables_can_be_read(table in prop::collection::vec(prop::collection::vec("[a-z,;\t\"\r\n é\u{feff}]{0,8}", 1..5), 0..6)) {
            let mut text = String::new();
            for record in &table {
                write(&mut text, record.iter().map(String::as_str));
            }
            // The separator is guessed from the first record; quoting keeps the guess right.
            if table.first().is_some_and(|record| record.len() > 1) {
                prop_assert_eq!(&read(&text), &table);
            }
        }
    }
}
