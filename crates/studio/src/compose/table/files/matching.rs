//! Matches files to the cells with their names. A name that could mean two files, or two cells with different files, is not
//! matched: the user would pay for a result of the wrong picture.

use std::collections::{BTreeSet, HashSet};

use atelier_contract::{Entry, Media, Schema};

use super::cell_files::{self, CellFile, files_in};
use super::{FileReference, FileState, is_file_name, last_component, media_of, problems};
use crate::compose::table::Table;
use crate::text::plural::counted;

/// A file that is used in all cells of a column with this entry, at this index.
#[derive(Debug, Clone, PartialEq)]
pub struct FileUse {
    /// The index of the file.
    pub file: usize,
    pub parameter: String,
    pub media: Media,
    entry: Entry,
    at: usize,
}

/// The result of matching files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileMatches {
    pub uses: Vec<FileUse>,
    /// The indexes of the files whose names are in no cell.
    pub unmatched: Vec<usize>,
    /// The names that have several meanings.
    pub ambiguous: Vec<String>,
}

impl FileMatches {
    /// Returns a message about what was matched. `names`: those of the files.
    pub fn message(&self, names: &[&str]) -> String {
        let mut sentences = Vec::new();
        if !self.uses.is_empty() {
            sentences.push(format!(
                "Matched {} by name.",
                counted(self.uses.len(), "file")
            ));
        }
        if !self.ambiguous.is_empty() {
            sentences.push(format!(
                "Not used, because several files or cells have the name: {}. Choose these files in their rows.",
                listed(&self.ambiguous)
            ));
        }
        if !self.unmatched.is_empty() {
            let names = self.unmatched.iter().filter_map(|at| names.get(*at));
            let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
            sentences.push(format!("In no row: {}.", listed(&names)));
        }
        sentences.join(" ")
    }
}

/// The number of names that are listed.
const MAX_NAMES: usize = 5;

fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The cells of a column that need the same file at the same index.
struct Target {
    parameter: String,
    media: Media,
    entry: Entry,
    at: usize,
    name: String,
}

impl Table {
    /// Returns the cells that need a file.
    fn file_targets(&self, schema: &Schema) -> Vec<Target> {
        let mut targets: Vec<Target> = Vec::new();
        let mut known = HashSet::new();
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        for (name, entry) in waiting.flat_map(|row| row.draft.iter()) {
            let parameter = schema.parameter(name).map(|(parameter, _)| parameter);
            let Some((parameter, media)) = parameter.and_then(|it| Some((it, media_of(it)?)))
            else {
                continue;
            };
            if !known.insert((name, entry.to_text())) {
                continue;
            }
            for (at, file) in files_in(parameter, entry).into_iter().enumerate() {
                let name = match file {
                    CellFile::Reference(file)
                        if self.files.get(&file.key) != Some(&FileState::Uploading) =>
                    {
                        file.name
                    }
                    CellFile::Text(text) if is_file_name(&text) => text,
                    _ => continue,
                };
                targets.push(Target {
                    parameter: parameter.name.clone(),
                    media,
                    entry: entry.clone(),
                    at,
                    name: last_component(&name).to_owned(),
                });
            }
        }
        targets
    }

    /// Whether a cell needs a file of this medium.
    pub fn needs_files(&self, media: Media, schema: &Schema) -> bool {
        let targets = self.file_targets(schema);
        targets.iter().any(|target| target.media == media)
    }

    /// Matches files to the cells that need one. `files`: their media and names.
    pub fn match_files(&self, files: &[(Media, &str)], schema: &Schema) -> FileMatches {
        let targets = self.file_targets(schema);
        let mut matches = FileMatches::default();
        let mut is_used = vec![false; files.len()];
        for target in &targets {
            let with_name = |is_same: &dyn Fn(&str) -> bool| -> Vec<usize> {
                let files = files.iter().enumerate();
                let found =
                    files.filter(|(_, (media, name))| *media == target.media && is_same(name));
                found.map(|(at, _)| at).collect()
            };
            let mut found = with_name(&|name| name == target.name);
            if found.is_empty() {
                let lower = target.name.to_lowercase();
                found = with_name(&|name| name.to_lowercase() == lower);
            }
            found.iter().for_each(|at| is_used[*at] = true);
            match found.as_slice() {
                [] => {}
                [file] => matches.uses.push(FileUse {
                    file: *file,
                    parameter: target.parameter.clone(),
                    media: target.media,
                    entry: target.entry.clone(),
                    at: target.at,
                }),
                _ => matches.add_ambiguous(&target.name),
            }
        }
        // `a/1.png` and `b/1.png` are different files.
        let all: Vec<usize> = matches.uses.iter().map(|it| it.file).collect();
        let is_single = |file: usize| all.iter().filter(|other| **other == file).count() == 1;
        for at in all.iter().filter(|at| !is_single(**at)) {
            matches.add_ambiguous(files[*at].1);
        }
        matches.uses.retain(|it| is_single(it.file));
        let unused = is_used.iter().enumerate().filter(|(_, is_used)| !**is_used);
        matches.unmatched = unused.map(|(at, _)| at).collect();
        matches
    }

    /// Puts files that are being uploaded into the cells that they were matched to.
    pub fn use_files(&mut self, uses: &[(FileUse, FileReference)], schema: &Schema) {
        let files: Vec<FileReference> = uses.iter().map(|(_, file)| file.clone()).collect();
        self.mark_uploading(&files);
        let columns: BTreeSet<&String> = uses.iter().map(|(of, _)| &of.parameter).collect();
        for row in self.rows.iter_mut().filter(|row| row.is_waiting()) {
            let mut is_changed = false;
            for name in &columns {
                let parameter = schema.parameter(name).map(|(parameter, _)| parameter);
                let Some((parameter, entry)) = parameter.zip(row.draft.get(name)) else {
                    continue;
                };
                let own = uses
                    .iter()
                    .filter(|(of, _)| of.parameter == **name && of.entry == *entry);
                let own: Vec<_> = own.map(|(of, file)| (of.at, file)).collect();
                if !own.is_empty()
                    && let Some(entry) = cell_files::replace(parameter, entry, &own)
                {
                    row.draft.set(name.as_str(), entry);
                    is_changed = true;
                }
            }
            if is_changed {
                row.problems = problems(&row.draft, schema, &self.files);
            }
        }
    }
}

impl FileMatches {
    fn add_ambiguous(&mut self, name: &str) {
        if !self.ambiguous.iter().any(|other| other == name) {
            self.ambiguous.push(name.to_owned());
        }
    }
}
