//! Rows from a table that a person brings: CSV, a JSON array or JSON Lines.

use std::collections::HashMap;

use atelier_contract::{Draft, Entry, Kind, RESERVED_NAMES, Schema};
use serde_json::{Map, Value};

use super::{MOST_ROWS, csv};
use crate::fold;

/// Columns of a manifest's table that hold an input begin with this; see [`crate::manifest`].
pub const INPUT_PREFIX: &str = "input.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    Json,
    JsonLines,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: Format,
    /// The rows that could be read; whether they are valid, validation tells.
    pub rows: Vec<Draft>,
    /// For each of `rows`, its number in the file, from 1, the header not counted.
    pub numbers: Vec<usize>,
    /// Columns that are no parameter of the model, and so in no row.
    pub unknown_columns: Vec<String>,
    /// What was wrong, row by row, in the file's order.
    pub notes: Vec<Note>,
}

/// What is wrong with one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The row's number in the file, from 1, the header not counted.
    pub row: usize,
    /// A whole sentence.
    pub message: String,
}

/// Reads rows for the parameters of `schema`. Columns match by name, forgivingly: case, spaces,
/// underscores and hyphens do not count. The error, where nothing can be read, is a sentence.
///
/// An empty CSV cell is untouched, not an empty text. JSON values keep their type.
pub fn read(text: &str, schema: &Schema) -> Result<Imported, String> {
    let text = text.trim_start_matches('\u{feff}');
    let names = Names::new(schema);
    let imported = if text.trim_start().starts_with('[') {
        json(text, &names)?
    } else if text.trim_start().starts_with('{') {
        json_lines(text, &names)?
    } else {
        from_csv(text, &names)?
    };
    if imported.rows.len() > MOST_ROWS {
        return Err(format!(
            "These are {} rows; a batch has at most {MOST_ROWS}.",
            imported.rows.len()
        ));
    }
    Ok(imported)
}

fn json(text: &str, names: &Names) -> Result<Imported, String> {
    let rows: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("This is no JSON array: {error}."))?;
    let mut imported = Imported::new(Format::Json);
    for (position, row) in rows.into_iter().enumerate() {
        imported.add_json(position + 1, row, names);
    }
    Ok(imported)
}

fn json_lines(text: &str, names: &Names) -> Result<Imported, String> {
    // One object, or several of them, over as many lines as they like.
    let objects: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect();
    let mut imported = Imported::new(Format::JsonLines);
    if let Ok(objects) = objects {
        for (position, object) in objects.into_iter().enumerate() {
            imported.add_json(position + 1, object, names);
        }
        return Ok(imported);
    }
    // A broken line must not take the others with it.
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    for (position, line) in lines.enumerate() {
        match serde_json::from_str(line) {
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
        let known: Vec<&str> = names.exact.keys().copied().take(8).collect();
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
                    "The row has {} fields for {} columns; {what}.",
                    record.len(),
                    header.len()
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
    fn new(format: Format) -> Self {
        Self {
            format,
            rows: Vec::new(),
            numbers: Vec::new(),
            unknown_columns: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn note(&mut self, row: usize, message: String) {
        self.notes.push(Note { row, message });
    }

    fn unknown(&mut self, column: &str) {
        if !self.unknown_columns.iter().any(|known| known == column) {
            self.unknown_columns.push(column.to_owned());
        }
    }

    fn add(&mut self, number: usize, draft: Draft) {
        if draft.entries.is_empty() {
            self.note(number, "The row has no value for any parameter.".into());
            return;
        }
        self.rows.push(draft);
        self.numbers.push(number);
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

/// The parameters' names, and the one name that a forgiving spelling can mean.
struct Names<'a> {
    exact: HashMap<&'a str, Kind>,
    forgiving: HashMap<String, Option<&'a str>>,
}

impl<'a> Names<'a> {
    fn new(schema: &'a Schema) -> Self {
        let mut names = Self {
            exact: HashMap::new(),
            forgiving: HashMap::new(),
        };
        for (parameter, _) in schema.parameters() {
            let name = parameter.name.as_str();
            names.exact.insert(name, parameter.kind());
            // Two parameters of one spelling: only the exact name tells them apart.
            names
                .forgiving
                .entry(spelling(name))
                .and_modify(|other| *other = None)
                .or_insert(Some(name));
        }
        names
    }

    fn find(&self, title: &str) -> Option<(&'a str, Kind)> {
        let exact = |title: &str| {
            self.exact
                .get_key_value(title)
                .map(|(name, kind)| (*name, *kind))
        };
        let title = title.trim();
        let short = title.strip_prefix(INPUT_PREFIX);
        exact(title)
            .or_else(|| exact(short?))
            .or_else(|| {
                let name = self.forgiving.get(&spelling(short.unwrap_or(title)))?;
                exact((*name)?)
            })
            .filter(|(name, _)| !RESERVED_NAMES.contains(name))
    }
}

fn spelling(name: &str) -> String {
    let mut spelling = fold::fold(name);
    spelling.retain(char::is_alphanumeric);
    spelling
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "aspect_ratio", "type": "enum", "allowedValues": ["1:1", "16:9"]},
                    {"name": "seed", "type": "integer", "maximum": u64::MAX},
                    {"name": "numOutputs", "type": "integer"}
                ]
            }
        }))
        .unwrap()
    }

    fn notes(imported: &Imported) -> Vec<(usize, &str)> {
        imported
            .notes
            .iter()
            .map(|note| (note.row, note.message.as_str()))
            .collect()
    }

    #[test]
    fn csv_with_all_its_troubles() {
        let text = "\u{feff}PROMPT;Aspect Ratio;Seed;note;num-outputs\r\n\
            \"a cat; \"\"sitting\"\"\non a mat\";16:9;18446744073709551615;x;2\r\n\
            a dog\r\n\
            a bird;1:1;5;;1;surplus\r\n\
            ;;;only a note;\r\n";
        let imported = read(text, &schema()).unwrap();
        assert_eq!(imported.format, Format::Csv);
        assert_eq!(imported.unknown_columns, ["note"]);
        assert_eq!(imported.numbers, [1, 2, 3]);
        assert_eq!(
            notes(&imported),
            [
                (
                    2,
                    "The row has 1 fields for 5 columns; the missing ones count as empty."
                ),
                (
                    3,
                    "The row has 6 fields for 5 columns; what is beyond them was left out."
                ),
                (4, "The row has no value for any parameter."),
            ]
        );
        let input = schema().validate(&imported.rows[0], false).unwrap();
        assert_eq!(
            Value::Object(input.values().clone()),
            json!({"prompt": "a cat; \"sitting\"\non a mat", "aspect_ratio": "16:9", "seed": u64::MAX, "numOutputs": 2})
        );
    }

    #[test]
    fn json_arrays_and_lines_keep_types() {
        let rows = r#"{"prompt": "a", "Seed": 18446744073709551615, "num_outputs": "2"}"#;
        for text in [format!("[{rows}, 7]"), format!("{rows}\n7\n")] {
            let imported = read(&text, &schema()).unwrap();
            assert_eq!(
                imported.rows[0].get("seed"),
                Some(&Entry::Value(json!(u64::MAX)))
            );
            assert_eq!(
                imported.rows[0].get("numOutputs"),
                Some(&Entry::Text("2".into()))
            );
            assert_eq!(
                notes(&imported),
                [(
                    2,
                    "The row is a single value, not an object with parameters."
                )]
            );
        }
        let broken = format!("{rows}\n{{\"prompt\": \n{rows}");
        let imported = read(&broken, &schema()).unwrap();
        assert_eq!(imported.numbers, [1, 3]);
        assert_eq!(imported.notes[0].row, 2);
        let twice = read(r#"[{"seed": 1, "SEED": 2}]"#, &schema()).unwrap();
        assert_eq!(
            notes(&twice),
            [(1, "seed is given twice; “SEED” was left out.")]
        );
    }

    #[test]
    fn what_cant_be_read_is_said() {
        for text in ["", "a cat\na dog", "[1, 2", "{\"a\": ", "{broken"] {
            let error = read(text, &schema()).unwrap_err();
            assert!(error.ends_with('.'), "{text}: {error}");
        }
    }

    #[test]
    fn names_that_differ_in_spelling_only_need_it() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "c", "subcategory": "s",
            "parameters": {"optional": [{"name": "a_b", "type": "string"}, {"name": "aB", "type": "string"}]}
        }))
        .unwrap();
        let imported = read("aB,A B\n1,2", &schema).unwrap();
        assert_eq!(imported.unknown_columns, ["A B"]);
        assert_eq!(imported.rows[0].get("aB"), Some(&Entry::Text("1".into())));
    }

    proptest! {
        #[test]
        fn a_written_table_is_imported_whole(prompts in prop::collection::vec("[ -~é\n]{1,20}", 1..10)) {
            let mut text = String::new();
            csv::write(&mut text, ["input.prompt", "seed"]);
            for (seed, prompt) in prompts.iter().enumerate() {
                csv::write(&mut text, [prompt.as_str(), &seed.to_string()]);
            }
            let imported = read(&text, &schema()).unwrap();
            prop_assert!(imported.notes.is_empty());
            let read: Vec<String> = imported.rows.iter().map(|row| row.get("prompt").unwrap().to_text()).collect();
            prop_assert_eq!(read, prompts);
        }

        #[test]
        fn any_text_is_survived(text in ".{0,80}|[\\[\\]{}\":,;a-z0-9 \n]{0,80}|prompt[,;\t\n\"a-z]{0,60}") {
            if let Ok(imported) = read(&text, &schema()) {
                prop_assert_eq!(imported.rows.len(), imported.numbers.len());
            }
        }
    }
}
