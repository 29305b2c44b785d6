//! Generate waits for the files of the rows, and sends nothing if the rows change meanwhile or a file fails.

use atelier_contract::{Draft, Entry};

use super::{FileReference, FileState, cell_files, references};
use crate::compose::table::Table;
use crate::form::upload::pending::CHANGED;

/// The rows at a press of Generate.
#[derive(Debug, Clone, PartialEq)]
pub struct PressedRows {
    rows: Vec<Draft>,
    /// The files that Generate waits for.
    awaited: Vec<FileReference>,
}

/// What a waiting press of Generate does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWait {
    /// With a message.
    Wait(String),
    Send,
    /// It sends nothing, for this reason.
    Stop(String),
}

impl PressedRows {
    /// Returns the rows at a press of Generate; `None` if it does not have to wait.
    pub fn new(table: &Table) -> Option<Self> {
        let awaited = uploading(table);
        (!awaited.is_empty()).then(|| Self {
            rows: table.waiting(),
            awaited,
        })
    }

    /// Decides what to do now. `url`: returns the URL of an uploaded file by the key of its reference.
    pub fn next(&self, table: &Table, url: &dyn Fn(&str) -> Option<String>) -> FileWait {
        let now = table.waiting();
        let is_same = now.len() == self.rows.len()
            && (self.rows.iter().zip(&now)).all(|(before, now)| is_filled(before, now, url));
        if !is_same {
            return FileWait::Stop(CHANGED.to_owned());
        }
        let here = table.file_references();
        for file in &self.awaited {
            let is_here = here.contains(file);
            match table.file_states().get(&file.key) {
                Some(FileState::Failed(message)) => {
                    return FileWait::Stop(format!("Not sent: {message}"));
                }
                None if is_here && url(&file.key).is_none() => {
                    let name = &file.name;
                    return FileWait::Stop(format!("Not sent: {name} was not uploaded."));
                }
                _ => {}
            }
        }
        let running = here.iter().filter(|file| self.awaited.contains(file));
        match running.map(|file| file.name.as_str()).collect::<Vec<_>>() {
            names if names.is_empty() => FileWait::Send,
            names => FileWait::Wait(format!(
                "Waiting for the upload of {}. Generate follows.",
                match names.as_slice() {
                    [_, _, _, ..] => format!("{} files", names.len()),
                    names => names.join(" and "),
                }
            )),
        }
    }
}

/// Returns the files of waiting rows that are being uploaded.
fn uploading(table: &Table) -> Vec<FileReference> {
    let is_uploading =
        |file: &FileReference| table.file_states().get(&file.key) == Some(&FileState::Uploading);
    let waiting = table.waiting();
    let mut files = references(waiting.iter());
    files.retain(is_uploading);
    files
}

/// Whether a row differs from what it was only by files that were uploaded meanwhile.
fn is_filled(before: &Draft, now: &Draft, url: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_same = |(name, entry): (&str, &Entry)| {
        let now = now.get(name);
        now.is_some_and(|now| cell_files::is_filled(entry, now, url))
    };
    before.iter().count() == now.iter().count() && before.iter().all(is_same)
}
