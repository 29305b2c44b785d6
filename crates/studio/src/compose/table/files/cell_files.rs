//! The files in one cell. The cell of a list has several: names of an imported table, addresses, and references to files
//! that are not uploaded yet.

use atelier_contract::{Entry, Parameter, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FileReference, is_file_name};
use crate::form::media_list;

/// One file of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum CellFile {
    /// A file that is not uploaded yet.
    Reference(FileReference),
    /// An address, or the name of a file.
    Text(String),
}

/// A list in which a file is not uploaded yet. It is an object, because no version of Atelier sends one for a list. Browsers
/// store it, so names and types must not change.
#[derive(Serialize, Deserialize)]
struct StoredList {
    local_files: Vec<CellFile>,
}

impl CellFile {
    fn is_named(&self) -> bool {
        matches!(self, Self::Text(text) if is_file_name(text))
    }

    /// Returns the file after its upload.
    fn filled(&self, url: &dyn Fn(&str) -> Option<String>) -> Self {
        match self {
            Self::Reference(file) => url(&file.key).map_or_else(|| self.clone(), Self::Text),
            Self::Text(_) => self.clone(),
        }
    }
}

/// Returns the files in a cell. A text that is not a JSON array is one file.
pub(super) fn files_of(entry: &Entry) -> Vec<CellFile> {
    if let Some(file) = FileReference::of(entry) {
        return vec![CellFile::Reference(file)];
    }
    if let Entry::Value(value @ Value::Object(_)) = entry
        && let Some(list) = json::decode::<StoredList>(value.clone())
    {
        return list.local_files;
    }
    let texts = media_list::addresses(Some(entry)).unwrap_or_else(|| vec![entry.to_text()]);
    texts.into_iter().map(CellFile::Text).collect()
}

/// Returns the files in a cell of a media parameter. Names in a cell of a list are separated by commas, semicolons or lines.
pub(super) fn files_in(parameter: &Parameter, entry: &Entry) -> Vec<CellFile> {
    let files = files_of(entry);
    let text = match (parameter.media_list(), files.as_slice()) {
        (Some(_), [CellFile::Text(text)]) => text,
        _ => return files,
    };
    let parts = text.split([',', ';', '\n']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    let parts: Vec<CellFile> = parts.map(|part| CellFile::Text(part.to_owned())).collect();
    // A comma may belong to an address.
    match parts.iter().all(CellFile::is_named) {
        true => parts,
        false => files,
    }
}

/// Returns the entry of a cell with these files.
fn entry(files: Vec<CellFile>, is_list: bool) -> Option<Entry> {
    if !is_list {
        return match files.into_iter().next()? {
            CellFile::Reference(file) => Some(file.entry()),
            CellFile::Text(text) => Some(Entry::Text(text)),
        };
    }
    let texts = files.iter().map(|file| match file {
        CellFile::Text(text) => Some(Value::from(text.as_str())),
        CellFile::Reference(_) => None,
    });
    Some(Entry::Value(match texts.collect::<Option<Vec<Value>>>() {
        Some(texts) => texts.into(),
        None => json::encode(&StoredList { local_files: files }),
    }))
}

fn is_list(parameter: Option<&Parameter>) -> bool {
    parameter.is_some_and(|parameter| parameter.media_list().is_some())
}

/// Returns the entry of a cell with files that are not uploaded yet.
pub(super) fn entry_of(parameter: Option<&Parameter>, files: &[FileReference]) -> Option<Entry> {
    let files = files.iter().cloned().map(CellFile::Reference);
    entry(files.collect(), is_list(parameter))
}

/// Returns the references in a cell.
pub fn references_of(entry: &Entry) -> Vec<FileReference> {
    // Most cells have none, and are not decoded.
    if !matches!(entry, Entry::Value(Value::Object(_))) {
        return Vec::new();
    }
    let files = files_of(entry).into_iter();
    let files = files.filter_map(|file| match file {
        CellFile::Reference(file) => Some(file),
        CellFile::Text(_) => None,
    });
    files.collect()
}

/// Returns the names of files in a cell of a media parameter, with their indexes.
pub(super) fn names_in(parameter: &Parameter, entry: &Entry) -> Vec<(usize, String)> {
    let files = files_in(parameter, entry).into_iter().enumerate();
    let names = files.filter_map(|(at, file)| match file {
        CellFile::Text(text) if is_file_name(&text) => Some((at, text)),
        _ => None,
    });
    names.collect()
}

/// Replaces the files at these indexes of a cell.
pub(super) fn replace(
    parameter: &Parameter,
    cell: &Entry,
    files: &[(usize, &FileReference)],
) -> Option<Entry> {
    let mut all = files_in(parameter, cell);
    for (at, file) in files {
        *all.get_mut(*at)? = CellFile::Reference((*file).clone());
    }
    entry(all, is_list(Some(parameter)))
}

/// Puts the URLs of uploaded files into a cell. `url`: returns that of a file by its key. `None` if there are no such files.
pub(super) fn fill(
    parameter: Option<&Parameter>,
    cell: &Entry,
    url: &dyn Fn(&str) -> Option<String>,
) -> Option<Entry> {
    let is_filled = references_of(cell)
        .iter()
        .any(|file| url(&file.key).is_some());
    if !is_filled {
        return None;
    }
    let files = files_of(cell);
    let filled = files.iter().map(|file| file.filled(url));
    entry(filled.collect(), is_list(parameter))
}

/// Whether a cell differs from what it was only by files that were uploaded meanwhile.
pub(super) fn is_filled(before: &Entry, now: &Entry, url: &dyn Fn(&str) -> Option<String>) -> bool {
    if before == now {
        return true;
    }
    let (before, now) = (files_of(before), files_of(now));
    let is_same = |(before, now): (&CellFile, &CellFile)| match before {
        CellFile::Reference(_) => before == now || before.filled(url) == *now,
        CellFile::Text(_) => before == now,
    };
    before.len() == now.len()
        && before
            .iter()
            .any(|file| matches!(file, CellFile::Reference(_)))
        && before.iter().zip(&now).all(is_same)
}
