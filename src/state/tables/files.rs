//! Uploads the files of the rows, and puts their URLs into the cells.

use atelier_contract::Media;
use atelier_studio::compose::table::Table;
use atelier_studio::compose::table::files::{FileReference, FileState, FileStates};
use atelier_studio::form::upload::failure_message;
use atelier_studio::form::upload::state::UploadState;
use leptos::prelude::*;

use super::ModelTable;
use crate::browser::chosen::ChosenFile;
use crate::browser::random;
use crate::state::contexts::Contexts;
use crate::state::uploads::{self, FieldKey, Upload};

/// Returns a reference to a file. It must be in the table before the upload starts.
pub fn reference(file: &ChosenFile) -> FileReference {
    FileReference {
        name: file.file.name.clone(),
        key: random::key(),
    }
}

/// Returns the URL of a file that was uploaded to the present service, by the key of its reference; tracked.
pub fn url(all: Contexts, key: &str) -> Option<String> {
    let upload = uploads::of_row(key)?;
    match upload.state {
        UploadState::Done(uploaded)
            if upload.key.address == all.session.settings().address.as_str() =>
        {
            Some(uploaded.url)
        }
        _ => None,
    }
}

impl ModelTable {
    /// Uploads the file of a reference. `parameter`: its column.
    pub fn upload(
        &self,
        all: Contexts,
        reference: &FileReference,
        parameter: &str,
        media: Media,
        file: ChosenFile,
    ) {
        let key = FieldKey {
            address: all.session.settings_untracked().address.as_str().to_owned(),
            model: self.schema.borrow().model.clone(),
            parameter: parameter.to_owned(),
            item: None,
            row: Some(reference.key.clone()),
        };
        uploads::start(all, key, media, file, None, String::new());
    }

    /// Puts the URLs of uploaded files into the cells, and the states of the others into the table, for as long as the page is
    /// open: the user may leave Batch mode while files are uploaded.
    pub fn follow_files(&'static self, all: Contexts) {
        if self.follows_files.replace(true) {
            return;
        }
        let model = self.schema.borrow().model.clone();
        let following = RenderEffect::new(move |_| {
            let address = all.session.settings().address;
            let uploads = uploads::of_table(&model);
            self.table.track();
            untrack(|| self.update_files(&uploads, address.as_str()));
        });
        // Tables live as long as the page.
        std::mem::forget(following);
    }

    fn update_files(&'static self, uploads: &[Upload], address: &str) {
        let mut states = FileStates::new();
        let mut uploaded = Vec::new();
        for upload in uploads {
            let name = &upload.file.name;
            let state = match &upload.state {
                UploadState::Done(done) if upload.key.address == address => {
                    uploaded.extend(upload.key.row.clone().map(|key| (key, done.url.clone())));
                    continue;
                }
                UploadState::Done(_) => FileState::Failed(format!(
                    "{name} was uploaded to another service. Choose it again."
                )),
                UploadState::Failed { message, .. } => {
                    FileState::Failed(failure_message(name, message))
                }
                UploadState::Canceled => {
                    FileState::Failed(format!("The upload of {name} was canceled."))
                }
                _ => FileState::Uploading,
            };
            states.extend(upload.key.row.clone().map(|key| (key, state)));
        }
        let schema = self.schema.borrow().clone();
        let needed = self.table.read_untracked().file_references();
        uploaded.retain(|(key, _)| needed.iter().any(|file| file.key == *key));
        if !uploaded.is_empty() {
            self.edit(|table| table.fill_files(&uploaded, &schema));
        }
        if *self.table.read_untracked().file_states() != states {
            self.table
                .update(|table| table.set_file_states(states, &schema));
        }
    }

    /// Changes the table like [`Self::edit`], and ends the uploads of files that are in no row any more, and in no removed row
    /// that can be restored.
    pub fn edit_files<T>(&'static self, change: impl FnOnce(&mut Table) -> T) -> T {
        let before = self.table.read_untracked().needed_files();
        let done = self.edit(change);
        let now = self.table.read_untracked().needed_files();
        end_uploads(before.iter().filter(|file| !now.contains(file)));
        done
    }

    /// Ends the uploads of files that are only in rows of the last removal, which can't be undone any more. `number`: that of
    /// the removal; there may be a later one.
    pub fn end_removed_uploads(&self, number: u64) {
        let table = self.table.read_untracked();
        if table.last_removal() == Some(number) {
            let (needed, here) = (table.needed_files(), table.file_references());
            drop(table);
            end_uploads(needed.iter().filter(|file| !here.contains(file)));
        }
    }
}

fn end_uploads<'a>(files: impl Iterator<Item = &'a FileReference>) {
    for file in files {
        if let Some(upload) = untrack(|| uploads::of_row(&file.key)) {
            uploads::remove(upload.id);
        }
    }
}
