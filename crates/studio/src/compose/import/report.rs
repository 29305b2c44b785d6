//! The report on an imported table for the user, and its numbered rows.

use atelier_contract::{Draft, Schema};

use super::{ImportNote, Imported};
use crate::compose::table::files::{self, FileStates};
use crate::form::input_json::{Unknown, unknown_message};
use crate::form::parameter_name;

impl Imported {
    /// Returns the rows, each with its number in the file.
    pub fn numbered(&self) -> Vec<(usize, Draft)> {
        let numbers = self.numbers.iter().copied();
        numbers.zip(self.rows.iter().cloned()).collect()
    }

    /// Whether a row has the name of a file of the user's.
    pub fn has_file_names(&self, schema: &Schema) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|draft| files::has_file_names(draft, schema))
    }

    /// Returns the invalid rows, with their problems.
    pub fn bad(&self, schema: &Schema) -> Vec<ImportNote> {
        let rows = self.numbers.iter().zip(&self.rows);
        let bad = rows.filter_map(|(row, draft)| {
            let problems = files::problems(draft, schema, &FileStates::new());
            if problems.is_empty() {
                return None;
            }
            let messages = problems.into_iter().map(|problem| problem.message);
            Some(ImportNote {
                row: *row,
                message: messages.collect::<Vec<_>>().join("; "),
            })
        });
        bad.collect()
    }

    /// Returns the columns that were not imported. Those that resemble an unused parameter come first.
    pub fn unknown_names(&self, schema: &Schema) -> Vec<Unknown> {
        let suggestions = self.suggestions(schema);
        let unknown = self.unknown_columns.iter().map(|column| {
            let found = suggestions.iter().find(|(other, _)| other == column);
            Unknown {
                name: column.clone(),
                suggestion: found.map(|(_, parameter)| parameter.clone()),
            }
        });
        let mut unknown: Vec<Unknown> = unknown.collect();
        unknown.sort_by_key(|it| it.suggestion.is_none());
        unknown
    }

    /// Returns the columns that resemble an unused parameter, each with that parameter.
    pub fn suggestions(&self, schema: &Schema) -> Vec<(String, String)> {
        let is_free = |name: &str| self.rows.iter().all(|row| row.get(name).is_none());
        let columns = self.unknown_columns.iter();
        let suggestions = columns.filter_map(|column| {
            let parameter = parameter_name::similar_parameter(column, schema, is_free)?;
            Some((column.clone(), parameter.to_owned()))
        });
        suggestions.collect()
    }

    /// Returns a message with the columns that were not imported; empty if there are none.
    pub fn left_out_message(&self) -> String {
        let unknown = unknown_message(&self.unknown_columns);
        match self.secret_columns.is_empty() {
            true => unknown,
            false => format!(
                "{unknown} Left out, because tables are stored: {}. Enter it once for all rows, in its own field.",
                self.secret_columns.join(", ")
            )
            .trim_start()
            .to_owned(),
        }
    }
}
