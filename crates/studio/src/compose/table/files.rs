//! Files of the user's own in the cells of a table. Until a file is uploaded, its cell has a reference to it. A reference is
//! not a valid value, so no tab and no version of Atelier can send the row. The same applies to names of files in imported
//! tables (`names`), which are matched to files (`matching`). `waiting` decides what Generate does while files are uploaded.

mod cell_files;
pub mod checks;
mod matching;
mod names;
mod waiting;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use atelier_contract::{Draft, Entry, Input, Media, Parameter, Problem, Schema, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Row, SentBefore, Table};
use crate::mask::target::{is_mask, masks_of};
pub use cell_files::references_of;
pub use matching::{FileMatches, FileUse};
pub use names::{is_file_name, last_component};
pub use waiting::{FileWait, PressedRows};

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
        let references = references_of(entry);
        let names = names_in(schema, name, entry).len();
        if references.is_empty() && names == 0 {
            continue;
        }
        let unsent = references
            .iter()
            .find_map(|file| match files.get(&file.key) {
                Some(FileState::Uploading) => None,
                Some(FileState::Failed(message)) => Some(message.clone()),
                None => Some(format!(
                    "{name} has a file that was not uploaded: choose it again, or drop it here"
                )),
            });
        let named = (names > 0).then(|| match names {
            1 => format!("{name} has the name of a file, not an address: drop the file here"),
            _ => format!("{name} has names of files, not addresses: drop the files here"),
        });
        problems.retain(|problem| problem.parameter != name);
        problems.extend(unsent.or(named).map(|message| Problem {
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
        !references_of(entry).is_empty() || is_named_file(schema, name, entry)
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

/// Whether a media parameter has the name of a file instead of an address, also among others in a list.
fn is_named_file(schema: &Schema, parameter: &str, entry: &Entry) -> bool {
    !names_in(schema, parameter, entry).is_empty()
}

/// Returns the names of files in a media parameter, with their indexes.
fn names_in(schema: &Schema, parameter: &str, entry: &Entry) -> Vec<(usize, String)> {
    match schema.parameter(parameter) {
        Some((parameter, _)) if media_of(parameter).is_some() => {
            cell_files::names_in(parameter, entry)
        }
        _ => Vec::new(),
    }
}

/// Returns the medium of the file, or of the list of files, that a parameter accepts.
fn media_of(parameter: &Parameter) -> Option<Media> {
    parameter.media().or_else(|| parameter.media_list())
}

/// Returns the parameters that accept a file of this medium. Lists of files, and then masks, are left out if there are
/// others.
pub fn columns_for(schema: &Schema, media: Media) -> Vec<&Parameter> {
    let columns = |accepts: &dyn Fn(&Parameter) -> bool| -> Vec<&Parameter> {
        let parameters = schema.parameters().map(|(parameter, _)| parameter);
        parameters.filter(|parameter| accepts(parameter)).collect()
    };
    let is_single = |it: &Parameter| it.media() == Some(media);
    let singles = columns(&|it| is_single(it) && !is_mask(it));
    let lists = || columns(&|it| it.media_list() == Some(media));
    let masks = || columns(&is_single);
    [singles, lists(), masks()]
        .into_iter()
        .find(|columns| !columns.is_empty())
        .unwrap_or_default()
}

/// Returns the references in these rows, each once.
fn references<'a>(drafts: impl Iterator<Item = &'a Draft>) -> Vec<FileReference> {
    let files = drafts.flat_map(Draft::iter);
    let files = files.flat_map(|(_, entry)| references_of(entry));
    let mut keys = HashSet::new();
    files.filter(|file| keys.insert(file.key.clone())).collect()
}

/// Returns the length of a cell with data URIs; 0 for others.
fn data_length(entry: &Entry) -> u64 {
    let text = entry.to_text();
    match text.contains("data:image/") {
        true => text.len() as u64,
        false => 0,
    }
}

fn has_files(row: &Row) -> bool {
    let mut entries = row.draft.iter();
    entries.any(|(_, entry)| !references_of(entry).is_empty())
}

/// Puts the URLs of uploaded files into a row. Returns whether there were such cells.
fn fill(draft: &mut Draft, schema: &Schema, url: &dyn Fn(&str) -> Option<String>) -> bool {
    let with_files = draft
        .iter()
        .filter(|(_, entry)| !references_of(entry).is_empty());
    let cells = with_files.filter_map(|(name, entry)| {
        let column = schema.parameter(name).map(|(parameter, _)| parameter);
        Some((name.to_owned(), cell_files::fill(column, entry, url)?))
    });
    let cells: Vec<(String, Entry)> = cells.collect();
    let is_filled = !cells.is_empty();
    for (name, entry) in cells {
        draft.set(name, entry);
    }
    is_filled
}

impl Table {
    /// Returns the references in all rows that were not sent, each once.
    pub fn file_references(&self) -> Vec<FileReference> {
        let rows = self.rows.iter().filter(|row| row.sent.is_none());
        references(rows.map(|row| &row.draft))
    }

    /// Returns the maximum length of a data URI for each file, so that all data URIs of a row that was not sent have at most
    /// this total length.
    pub fn space_per_file(&self, total: u64) -> u64 {
        let rows = self.rows.iter().filter(|row| row.sent.is_none());
        let spaces = rows.filter_map(|row| {
            let entries = || row.draft.iter().map(|(_, entry)| entry);
            let files: usize = entries().map(|entry| references_of(entry).len()).sum();
            let used: u64 = entries().map(data_length).sum();
            total.saturating_sub(used).checked_div(files as u64)
        });
        spaces.min().unwrap_or(total)
    }

    /// Returns the references of [`Self::file_references`], and those in removed rows that can be restored, each once. Their
    /// uploads must not end.
    pub fn needed_files(&self) -> Vec<FileReference> {
        let rows = self.rows.iter().chain(self.removed_rows());
        let rows = rows.filter(|row| row.sent.is_none());
        references(rows.map(|row| &row.draft))
    }

    pub fn file_states(&self) -> &FileStates {
        &self.files
    }

    /// Sets which files this tab uploads.
    pub fn set_file_states(&mut self, files: FileStates, schema: &Schema) {
        self.files = files;
        let files = &self.files;
        let update = |row: &mut Row| {
            row.problems = problems(&row.draft, schema, files);
        };
        self.rows
            .iter_mut()
            .filter(|row| has_files(row))
            .for_each(update);
        if self.removed_rows().any(has_files)
            && let Some(removal) = &mut self.removal
        {
            Arc::make_mut(removal)
                .rows_mut()
                .filter(|row| has_files(row))
                .for_each(update);
        }
    }

    /// Adds a row for each of these files, as a copy of `base`; see [`Table::add`]. The files count as being uploaded. A mask
    /// in `base` was drawn over its picture, so that it is left out if a file replaces that.
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
        let column = schema.parameter(parameter).map(|(it, _)| it);
        let rows = files.iter().map(|file| {
            let mut draft = base.clone();
            if let Some(entry) = cell_files::entry_of(column, std::slice::from_ref(file)) {
                draft.set(parameter, entry);
            }
            for mask in masks_of(schema, &draft, parameter) {
                draft.reset(&mask);
            }
            draft
        });
        self.add(rows.collect(), schema)
    }

    /// Replaces a cell by files that are being uploaded. Only the cell of a list has several.
    pub fn set_files(
        &mut self,
        id: u64,
        parameter: &str,
        files: &[FileReference],
        schema: &Schema,
    ) {
        self.mark_uploading(files);
        let column = schema.parameter(parameter).map(|(it, _)| it);
        let entry = cell_files::entry_of(column, files);
        self.set(id, parameter, entry, schema);
    }

    fn mark_uploading(&mut self, files: &[FileReference]) {
        let keys = files.iter().map(|file| file.key.clone());
        self.files
            .extend(keys.map(|key| (key, FileState::Uploading)));
    }

    /// Puts the URLs of uploaded files into their cells. `uploaded`: keys and URLs. Returns whether there were such cells.
    pub fn fill_files(&mut self, uploaded: &[(String, String)], schema: &Schema) -> bool {
        let url = |key: &str| {
            let mut uploaded = uploaded.iter();
            uploaded
                .find(|(of, _)| of == key)
                .map(|(_, url)| url.clone())
        };
        let fill_all = |draft: &mut Draft| fill(draft, schema, &url);
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
