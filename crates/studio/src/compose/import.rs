//! Reads rows from a file or text that the user imports: CSV, a JSON array or JSON Lines.

mod example;
mod mistake;
mod report;

pub use example::example;

use atelier_contract::{Draft, Entry, Kind, NULL_WORDS, Parameter, Schema, json};
use serde_json::{Map, Value};

use super::{MAX_ROWS, csv};
use crate::form::parameter_name::{names_secret, spelling};
use crate::history::manifest::{self, INPUT_PREFIX};
use crate::text::plural::counted;

/// The format of an imported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    Json,
    JsonLines,
    /// A manifest of Atelier; its inputs are imported.
    Manifest,
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: Format,
    /// The rows that could be parsed. Their values may be invalid.
    pub rows: Vec<Draft>,
    /// The number of each of these rows in the file, like [`ImportNote::row`].
    numbers: Vec<usize>,
    /// Columns that are not parameters of the model. They are not imported.
    pub unknown_columns: Vec<String>,
    /// Columns of secret parameters. They are not imported, because rows are stored.
    pub secret_columns: Vec<String>,
    /// The mistakes that were found, in the order of the file.
    pub notes: Vec<ImportNote>,
}

/// A mistake in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNote {
    /// The row's number in the file, from 1, without the header.
    pub row: usize,
    /// A complete sentence.
    pub message: String,
}

/// Reads rows with values for the parameters of `schema`. Columns are matched by name; case, spaces, underscores and
/// hyphens are ignored.
///
/// An empty CSV cell leaves the parameter out, as does a word such as `null` in a column of numbers or booleans. JSON
/// values keep their type. Rows with U+FFFD, which replaces a lost character, are not imported.
///
/// `assigned`: the parameters that the user has assigned to columns, see [`Imported::unknown_names`].
///
/// # Errors
///
/// A message: no table, invalid JSON, no column that is a parameter, or more than [`MAX_ROWS`] rows.
pub fn read(
    text: &str,
    schema: &Schema,
    assigned: &[(String, String)],
) -> Result<Imported, String> {
    let text = text.trim_start_matches('\u{feff}');
    let names = ColumnMatcher::new(schema, assigned);
    let imported = if text.trim_start().starts_with('[') {
        from_json(text, &names)?
    } else if text.trim_start().starts_with('{') {
        from_json_lines(text, &names)?
    } else {
        from_csv(text, &names)?
    };
    if imported.rows.len() > MAX_ROWS {
        return Err(format!(
            "These are {} rows; a batch has at most {MAX_ROWS}.",
            imported.rows.len()
        ));
    }
    Ok(imported)
}

fn from_json(text: &str, names: &ColumnMatcher) -> Result<Imported, String> {
    let rows = json::parse(text.as_bytes()).map_err(|error| {
        format!(
            "This is not a JSON array: {}.",
            mistake::found(text, &error)
        )
    })?;
    let Value::Array(rows) = rows else {
        return Err("This is not a JSON array.".into());
    };
    let mut imported = Imported::new(Format::Json);
    for (position, row) in rows.into_iter().enumerate() {
        imported.add_json(position + 1, row, names);
    }
    Ok(imported)
}

fn from_json_lines(text: &str, names: &ColumnMatcher) -> Result<Imported, String> {
    // One or more objects, each on one or more lines.
    let objects = json::parse_all(text);
    let mut imported = Imported::new(Format::JsonLines);
    if let Ok(objects) = objects {
        if let [object] = objects.as_slice()
            && object.get("format").and_then(Value::as_str) == Some(manifest::FORMAT)
            && let Some(items) = object.get("items").and_then(Value::as_array)
        {
            imported.format = Format::Manifest;
            for (position, item) in items.iter().enumerate() {
                let input = item.get("input").unwrap_or(item).clone();
                let number = item.get("index").and_then(Value::as_u64);
                let number = number.and_then(|number| usize::try_from(number).ok());
                let number = number.filter(|number| (1..=MAX_ROWS).contains(number));
                imported.add_json(number.unwrap_or(position + 1), input, names);
            }
            return Ok(imported);
        }
        for (position, object) in objects.into_iter().enumerate() {
            imported.add_json(position + 1, object, names);
        }
        return Ok(imported);
    }
    // Skip invalid lines, so that the other lines are imported.
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (position, line) in lines.enumerate() {
        match json::parse(line.as_bytes()) {
            Ok(object) => imported.add_json(position + 1, object, names),
            Err(error) => {
                let what = mistake::found(line, &error);
                imported.note(
                    position + 1,
                    format!("This line is not valid JSON: {what}."),
                );
            }
        }
    }
    if imported.rows.is_empty() {
        return Err("This is neither JSON nor JSON Lines: no line could be read.".into());
    }
    Ok(imported)
}

fn from_csv(text: &str, names: &ColumnMatcher) -> Result<Imported, String> {
    let mut records = csv::read(text).into_iter();
    let header = records.next().ok_or("There is nothing to import.")?;
    let mut imported = Imported::new(Format::Csv);
    let mut taken = Vec::new();
    let columns: Vec<Option<(&str, Kind)>> = header
        .iter()
        .map(|title| {
            let is_column = |parameter: &str| header.iter().any(|other| other == parameter);
            let found = names.find(title, is_column);
            let found = found.filter(|(name, _)| !taken.contains(name));
            match found {
                Some((name, _)) => taken.push(name),
                None => imported.unknown(title, names),
            }
            found
        })
        .collect();
    // The user can still assign a column whose name resembles a parameter.
    if taken.is_empty() && imported.suggestions(names.schema).is_empty() {
        let known: Vec<&str> = names.all.iter().map(|(name, ..)| *name).take(8).collect();
        return Err(format!(
            "The first line must name the columns, and none of “{}” is a parameter of this model \
             (like {}).",
            header
                .iter()
                .take(8)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", "),
            known.join(", ")
        ));
    }
    for (position, record) in records.enumerate() {
        let number = position + 1;
        if record.len() != header.len() {
            let what = if record.len() > header.len() {
                "what is beyond them was left out"
            } else {
                "the missing ones count as empty"
            };
            imported.note(
                number,
                format!(
                    "The row has {} for {}; {what}.",
                    counted(record.len(), "field"),
                    counted(header.len(), "column")
                ),
            );
        }
        let mut draft = Draft::default();
        for (column, field) in columns.iter().zip(record) {
            if let Some((name, kind)) = column
                && !field.is_empty()
                && !is_null(*kind, &field)
            {
                draft.set(*name, Entry::Text(field));
            }
        }
        if !taken.is_empty() {
            imported.add(number, draft);
        }
    }
    Ok(imported)
}

impl Imported {
    fn new(format: Format) -> Self {
        Self {
            format,
            rows: Vec::new(),
            numbers: Vec::new(),
            unknown_columns: Vec::new(),
            secret_columns: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn note(&mut self, row: usize, message: String) {
        self.notes.push(ImportNote { row, message });
    }

    fn unknown(&mut self, column: &str, names: &ColumnMatcher) {
        let columns = match names_secret(column, names.schema) {
            true => &mut self.secret_columns,
            false => &mut self.unknown_columns,
        };
        let is_known = columns.iter().any(|known| known == column);
        if !is_known && !names.excludes(column) {
            columns.push(column.to_owned());
        }
    }

    fn add(&mut self, number: usize, draft: Draft) {
        if draft.is_empty() {
            self.note(number, "The row has no value for any parameter.".into());
            return;
        }
        let is_broken = |entry: &Entry| entry.to_text().contains(['\u{fffd}', '\0']);
        if let Some((name, _)) = draft.iter().find(|(_, entry)| is_broken(entry)) {
            let what = "has “\u{fffd}” for a character that was lost when the file was written";
            let message = format!("{name} {what}. The row is left out: save the table as UTF-8.");
            self.note(number, message);
            return;
        }
        self.rows.push(draft);
        self.numbers.push(number);
    }

    fn add_json(&mut self, number: usize, row: Value, names: &ColumnMatcher) {
        let Value::Object(fields) = row else {
            let kind = match row {
                Value::Array(_) => "a list",
                Value::String(_) => "a text",
                _ => "a single value",
            };
            self.note(
                number,
                format!("The row is {kind}, not an object with parameters."),
            );
            return;
        };
        let draft = self.draft(number, fields, names);
        self.add(number, draft);
    }

    fn draft(&mut self, number: usize, fields: Map<String, Value>, names: &ColumnMatcher) -> Draft {
        let mut draft = Draft::default();
        let titles: Vec<String> = fields.keys().cloned().collect();
        for (title, value) in fields {
            let is_column = |parameter: &str| titles.iter().any(|other| other == parameter);
            let Some((name, kind)) = names.find(&title, is_column) else {
                self.unknown(&title, names);
                continue;
            };
            if draft.get(name).is_some() {
                self.note(
                    number,
                    format!("{name} is given twice; “{title}” was left out."),
                );
                continue;
            }
            let entry = match value {
                Value::String(text) if is_null(kind, &text) => continue,
                // Some tools write numbers as strings.
                Value::String(text) if kind != Kind::Text => Entry::Text(text),
                value => Entry::Value(value),
            };
            draft.set(name, entry);
        }
        draft
    }
}

/// Whether a field in a column of numbers or booleans is a word for no value in pandas, Python, SQL or spreadsheets.
fn is_null(kind: Kind, field: &str) -> bool {
    const MORE: [&str; 4] = ["nan", "na", "<na>", "#n/a"];
    let has_null_words = matches!(kind, Kind::Integer | Kind::Number | Kind::Boolean);
    let mut words = NULL_WORDS.iter().chain(&MORE);
    has_null_words && words.any(|word| field.trim().eq_ignore_ascii_case(word))
}

/// Matches columns to parameters.
struct ColumnMatcher<'a> {
    schema: &'a Schema,
    /// The parameters' names in the order of the form, each with its normalized spelling.
    all: Vec<(&'a str, Kind, String)>,
    /// See [`read`].
    assigned: &'a [(String, String)],
}

impl<'a> ColumnMatcher<'a> {
    fn new(schema: &'a Schema, assigned: &'a [(String, String)]) -> Self {
        let each = |(parameter, _): (&'a Parameter, bool)| {
            let name = parameter.name.as_str();
            (name, parameter.kind(), spelling(name))
        };
        Self {
            schema,
            all: schema.parameters().map(each).collect(),
            assigned,
        }
    }

    /// Whether the user has excluded the column.
    fn excludes(&self, title: &str) -> bool {
        let mut assigned = self.assigned.iter();
        assigned.any(|(column, parameter)| column == title && parameter.is_empty())
    }

    /// Returns the parameter of a column. `is_column`: whether a column has exactly this parameter's name, so that no
    /// other column can be assigned to the parameter.
    fn find(&self, title: &str, is_column: impl Fn(&str) -> bool) -> Option<(&'a str, Kind)> {
        let mut assigned = self.assigned.iter();
        let assigned =
            assigned.find(|(column, parameter)| column == title && !is_column(parameter));
        let title = assigned.map_or(title.trim(), |(_, parameter)| parameter);
        let short = title.strip_prefix(INPUT_PREFIX).unwrap_or(title);
        let exact = |title: &str| self.all.iter().find(|(name, ..)| *name == title);
        let found = exact(title).or_else(|| exact(short)).or_else(|| {
            let spelling = spelling(short);
            let mut alike = self.all.iter().filter(|(.., other)| *other == spelling);
            // If two parameters have the same normalized spelling, only an exact name matches.
            alike.next().filter(|_| alike.next().is_none())
        });
        found.map(|(name, kind, _)| (*name, *kind))
    }
}

#[cfg(test)]
mod tests;
