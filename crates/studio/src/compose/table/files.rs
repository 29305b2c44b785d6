//! Files of the user's own in the cells of a table. Until a file is uploaded, its cell has a reference to it. A reference is
//! not a valid value, so no tab and no version of Atelier can send the row. The same applies to names of files in imported
//! tables (`names`), which are matched to files (`matching`). `waiting` decides what Generate does while files are uploaded.

mod matching;
mod names;
mod waiting;

use std::collections::{BTreeMap, HashSet};

use atelier_contract::{Draft, Entry, Input, Media, Parameter, Problem, Schema, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SentBefore, Table};
use crate::mask::target::is_mask;
pub use matching::{FileMatches, FileUse};
pub use names::{is_file_name, last_component};
pub use waiting::{CHANGED, FileWait, PressedRows};

/// A file that is to be uploaded for a cell. Browsers store it, so names and types must not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReference {
    #[serde(rename = "local_file")]
    pub name: String,
    /// Random: two files may have the same name.
    #[serde(rename = "upload")]
    pub key: String,
}

impl FileReference {
    /// Returns the reference in a cell, if there is one.
    pub fn of(entry: &Entry) -> Option<Self> {
        match entry {
            Entry::Value(value @ Value::Object(_)) => json::decode(value.clone()),
            _ => None,
        }
    }

    pub fn entry(&self) -> Entry {
        Entry::Value(json::encode(self))
    }
}

/// The state of a file that is not in its cell yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    Uploading,
    /// With a message for the user.
    Failed(String),
}

/// The files that this tab uploads, by the keys of their references.
pub type FileStates = BTreeMap<String, FileState>;

/// Returns why a row can't be sent. A file that is being uploaded is not a problem.
pub fn problems(draft: &Draft, schema: &Schema, files: &FileStates) -> Vec<Problem> {
    let mut problems = schema.validate(draft, false).err().unwrap_or_default();
    for (name, entry) in draft.iter() {
        let message = match FileReference::of(entry) {
            Some(file) => match files.get(&file.key) {
                Some(FileState::Uploading) => None,
                Some(FileState::Failed(message)) => Some(message.clone()),
                None => Some(format!(
                    "{name} has a file that was not uploaded: choose it again, or drop it here"
                )),
            },
            None if is_named_file(schema, name, entry) => Some(format!(
                "{name} has the name of a file, not an address: drop the file here"
            )),
            None => continue,
        };
        problems.retain(|problem| problem.parameter != name);
        problems.extend(message.map(|message| Problem {
            parameter: name.to_owned(),
            message,
        }));
    }
    problems
}

/// Validates a row for sending. Rows with files that are not uploaded are refused.
pub(super) fn validate(
    draft: &Draft,
    schema: &Schema,
    send_defaults: bool,
) -> Result<Input, Vec<Problem>> {
    let missing = draft.iter().find(|(name, entry)| {
        FileReference::of(entry).is_some() || is_named_file(schema, name, entry)
    });
    if missing.is_some() {
        return Err(problems(draft, schema, &FileStates::new()));
    }
    schema.validate(draft, send_defaults)
}

/// Whether a media parameter of a row has the name of a file instead of an address.
pub fn has_file_names(draft: &Draft, schema: &Schema) -> bool {
    let mut entries = draft.iter();
    entries.any(|(name, entry)| is_named_file(schema, name, entry))
}

/// Whether a media parameter has the name of a file instead of an address.
fn is_named_file(schema: &Schema, parameter: &str, entry: &Entry) -> bool {
    let is_media = || {
        let parameter = schema.parameter(parameter);
        parameter.is_some_and(|(parameter, _)| parameter.media().is_some())
    };
    is_file_name(&entry.to_text()) && is_media()
}

/// Returns the parameters that accept a file of this medium. Masks are left out if there are others.
pub fn columns_for(schema: &Schema, media: Media) -> Vec<&Parameter> {
    let parameters = schema.parameters().map(|(parameter, _)| parameter);
    let all: Vec<&Parameter> = parameters
        .filter(|parameter| parameter.media() == Some(media))
        .collect();
    let others: Vec<&Parameter> = all.iter().copied().filter(|it| !is_mask(it)).collect();
    match others.is_empty() {
        true => all,
        false => others,
    }
}

/// Returns the references in these rows, each once.
fn references<'a>(drafts: impl Iterator<Item = &'a Draft>) -> Vec<FileReference> {
    let files = drafts.flat_map(Draft::iter);
    let files = files.filter_map(|(_, entry)| FileReference::of(entry));
    let mut keys = HashSet::new();
    files.filter(|file| keys.insert(file.key.clone())).collect()
}

/// Replaces a reference in a row. Returns whether the row has it.
fn fill(draft: &mut Draft, key: &str, url: &str) -> bool {
    let cells = draft.iter().filter_map(|(name, entry)| {
        let file = FileReference::of(entry).filter(|file| file.key == key);
        file.map(|_| name.to_owned())
    });
    let cells: Vec<String> = cells.collect();
    for name in &cells {
        draft.set(name, Entry::Text(url.to_owned()));
    }
    !cells.is_empty()
}

impl Table {
    /// Returns the references in all rows that were not sent, each once.
    pub fn file_references(&self) -> Vec<FileReference> {
        let rows = self.rows.iter().filter(|row| row.sent.is_none());
        references(rows.map(|row| &row.draft))
    }

    pub fn file_states(&self) -> &FileStates {
        &self.files
    }

    /// Sets which files this tab uploads.
    pub fn set_file_states(&mut self, files: FileStates, schema: &Schema) {
        self.files = files;
        for row in &mut self.rows {
            let has_file = |(_, entry): (&str, &Entry)| FileReference::of(entry).is_some();
            if row.draft.iter().any(has_file) {
                row.problems = problems(&row.draft, schema, &self.files);
            }
        }
    }

    /// Adds a row for each of these files, as a copy of `base`; see [`Table::add`]. The files count as being uploaded.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn add_files(
        &mut self,
        base: &Draft,
        parameter: &str,
        files: &[FileReference],
        schema: &Schema,
    ) -> Result<(), String> {
        self.mark_uploading(files);
        let rows = files.iter().map(|file| {
            let mut draft = base.clone();
            draft.set(parameter, file.entry());
            draft
        });
        self.add(rows.collect(), schema)
    }

    /// Replaces a cell by a file that is being uploaded.
    pub fn set_file(&mut self, id: u64, parameter: &str, file: &FileReference, schema: &Schema) {
        self.mark_uploading(std::slice::from_ref(file));
        self.set(id, parameter, Some(file.entry()), schema);
    }

    fn mark_uploading(&mut self, files: &[FileReference]) {
        let keys = files.iter().map(|file| file.key.clone());
        self.files
            .extend(keys.map(|key| (key, FileState::Uploading)));
    }

    /// Puts the URLs of uploaded files into their cells. `uploaded`: keys and URLs. Returns whether there were such cells.
    pub fn fill_files(&mut self, uploaded: &[(String, String)], schema: &Schema) -> bool {
        let fill_all = |draft: &mut Draft| {
            let mut is_filled = false;
            for (key, url) in uploaded {
                is_filled |= fill(draft, key, url);
            }
            is_filled
        };
        if let Some(addition) = &mut self.addition {
            // The rows were not changed by the user.
            addition.change(|draft| {
                fill_all(draft);
            });
        }
        let mut filled = Vec::new();
        for (at, row) in self.rows.iter_mut().enumerate() {
            if row.sent.is_none() && fill_all(&mut row.draft) {
                row.problems = problems(&row.draft, schema, &self.files);
                filled.push(at);
            }
        }
        if !filled.is_empty() {
            let before = SentBefore::of(&self.rows);
            for at in &filled {
                let row = &mut self.rows[*at];
                if row.earlier().is_none() {
                    row.earlier = before.find(&row.draft).or(row.earlier.take());
                }
            }
        }
        !filled.is_empty()
    }
}

#[cfg(test)]
mod tests;
