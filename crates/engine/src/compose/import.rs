//! Rows from a table that a person brings: CSV, a JSON array or JSON Lines.

use atelier_contract::{Draft, Entry, Kind, Parameter, Schema, json};
use serde_json::{Map, Value};

use super::{MAX_ROWS, csv};
use crate::fold;
use crate::manifest::{self, INPUT_PREFIX};
use crate::plural::counted;

/// How a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    Json,
    JsonLines,
    /// A manifest of Atelier, of which the inputs are taken.
    Manifest,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: Format,
    /// The rows that could be read; whether they are valid, validation tells.
    pub rows: Vec<Draft>,
    /// Columns that are no parameter of the model, and so in no row.
    pub unknown_columns: Vec<String>,
    /// What was wrong, row by row, in the file's order.
    pub notes: Vec<ImportNote>,
}

/// What is wrong with one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNote {
    /// The row's number in the file, from 1, the header not counted.
    pub row: usize,
    /// A whole sentence.
    pub message: String,
}

/// Reads rows for the parameters of `schema`. Columns match by name, forgivingly: case, spaces,
/// underscores and hyphens do not count. The error, where nothing can be read, is a sentence.
///
/// An empty CSV cell is untouched, not an empty text. JSON values keep their type.
///
/// # Errors
///
/// A sentence for a person: no table, no JSON, no column that is a parameter, or more than [`MAX_ROWS`] rows.
pub fn read(text: &str, schema: &Schema) -> Result<Imported, String> {
    let text = text.trim_start_matches('\u{feff}');
    let names = Names::new(schema);
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

fn from_json(text: &str, names: &Names) -> Result<Imported, String> {
    let rows =
        json::parse(text.as_bytes()).map_err(|error| format!("This is no JSON array: {error}."))?;
    let Value::Array(rows) = rows else {
        return Err("This is no JSON array.".into());
    };
    let mut imported = Imported::new(Format::Json);
    for (position, row) in rows.into_iter().enumerate() {
        imported.add_json(position + 1, row, names);
    }
    Ok(imported)
}

fn from_json_lines(text: &str, names: &Names) -> Result<Imported, String> {
    // One object, or several of them, over as many lines as they like.
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
                imported.add_json(position + 1, input, names);
            }
            return Ok(imported);
        }
        for (position, object) in objects.into_iter().enumerate() {
            imported.add_json(position + 1, object, names);
        }
        return Ok(imported);
    }
    // A broken line must not take the others with it.
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (position, line) in lines.enumerate() {
        match json::parse(line.as_bytes()) {
            Ok(object) => imported.add_json(position + 1, object, names),
            Err(error) => imported.note(position + 1, format!("This line is no JSON: {error}.")),
        }
    }
    if imported.rows.is_empty() {
        return Err("This is neither JSON nor JSON Lines: no line could be read.".into());
    }
    Ok(imported)
}

fn from_csv(text: &str, names: &Names) -> Result<Imported, String> {
    let mut records = csv::read(text).into_iter();
    let header = records.next().ok_or("There is nothing to import.")?;
    let mut imported = Imported::new(Format::Csv);
    let mut taken = Vec::new();
    let columns: Vec<Option<(&str, Kind)>> = header
        .iter()
        .map(|title| {
            let found = names.find(title).filter(|(name, _)| !taken.contains(name));
            match found {
                Some((name, _)) => taken.push(name),
                None => imported.unknown(title),
            }
            found
        })
        .collect();
    if taken.is_empty() {
        let known: Vec<&str> = names.0.iter().map(|(name, ..)| *name).take(8).collect();
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
            if let (Some((name, _)), false) = (column, field.is_empty()) {
                draft.set(*name, Entry::Text(field));
            }
        }
        imported.add(number, draft);
    }
    Ok(imported)
}

impl Imported {
    /// How many rows can't be sent as they are.
    pub fn bad(&self, schema: &Schema) -> usize {
        let is_bad = |row: &&Draft| schema.validate(row, false).is_err();
        self.rows.iter().filter(is_bad).count()
    }

    fn new(format: Format) -> Self {
        Self {
            format,
            rows: Vec::new(),
            unknown_columns: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn note(&mut self, row: usize, message: String) {
        self.notes.push(ImportNote { row, message });
    }

    fn unknown(&mut self, column: &str) {
        if !self.unknown_columns.iter().any(|known| known == column) {
            self.unknown_columns.push(column.to_owned());
        }
    }

    fn add(&mut self, number: usize, draft: Draft) {
        if draft.is_empty() {
            self.note(number, "The row has no value for any parameter.".into());
            return;
        }
        self.rows.push(draft);
    }

    fn add_json(&mut self, number: usize, row: Value, names: &Names) {
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

    fn draft(&mut self, number: usize, fields: Map<String, Value>, names: &Names) -> Draft {
        let mut draft = Draft::default();
        for (title, value) in fields {
            let Some((name, kind)) = names.find(&title) else {
                self.unknown(&title);
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
                // Tools that know only texts write numbers as such.
                Value::String(text) if kind != Kind::Text => Entry::Text(text),
                value => Entry::Value(value),
            };
            draft.set(name, entry);
        }
        draft
    }
}

/// The parameters' names in the order of the form, each with its forgiving spelling.
struct Names<'a>(Vec<(&'a str, Kind, String)>);

impl<'a> Names<'a> {
    fn new(schema: &'a Schema) -> Self {
        let each = |(parameter, _): (&'a Parameter, bool)| {
            let name = parameter.name.as_str();
            (name, parameter.kind(), spelling(name))
        };
        Self(schema.parameters().map(each).collect())
    }

    fn find(&self, title: &str) -> Option<(&'a str, Kind)> {
        let title = title.trim();
        let short = title.strip_prefix(INPUT_PREFIX).unwrap_or(title);
        let exact = |title: &str| self.0.iter().find(|(name, ..)| *name == title);
        let found = exact(title).or_else(|| exact(short)).or_else(|| {
            let spelling = spelling(short);
            let mut alike = self.0.iter().filter(|(.., other)| *other == spelling);
            // Of two parameters of one spelling, only the exact name tells which is meant.
            alike.next().filter(|_| alike.next().is_none())
        });
        found.map(|(name, kind, _)| (*name, *kind))
    }
}

fn spelling(name: &str) -> String {
    let mut spelling = fold::fold(name);
    spelling.retain(char::is_alphanumeric);
    spelling
}

#[cfg(test)]
mod tests;
