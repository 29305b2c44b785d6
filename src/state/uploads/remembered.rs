//! Remembers the names and sizes of uploaded files after a reload.

use std::cell::RefCell;

use atelier_contract::Uploaded;
use atelier_studio::form::upload::LocalFile;
use atelier_studio::form::upload::remembered::{RememberedFile, RememberedFiles};

use crate::browser::local::LocalStore;
use crate::runner::uploaded_files;

const KEY: &str = "atelier.uploaded-files";

thread_local! {
    /// The stored text that was read last, with its files.
    static READ: RefCell<(String, RememberedFiles)> = RefCell::default();
}

/// Calls `look` with the files.
fn with_all<T>(look: impl FnOnce(&RememberedFiles) -> T) -> T {
    // Another tab may have written.
    let text = LocalStore::Browser.read(KEY).unwrap_or_default();
    READ.with_borrow_mut(|(read, files)| {
        if *read != text {
            *files = RememberedFiles::from_text(&text);
            *read = text;
        }
        look(files)
    })
}

fn write(files: &RememberedFiles) {
    // A browser that refuses storage shows the address alone after a reload.
    LocalStore::Browser.write(KEY, &files.to_text());
}

/// Remembers a file. `service`: the address of the service.
pub fn remember(service: &str, file: &LocalFile, uploaded: &Uploaded) {
    let mut files = with_all(Clone::clone);
    files.add(RememberedFile {
        service: service.to_owned(),
        name: file.name.clone(),
        uploaded: uploaded.clone(),
    });
    write(&files);
}

/// Returns the file at a URL.
pub fn find(url: &str) -> Option<RememberedFile> {
    with_all(|files| files.find(url).cloned())
}

/// Makes the names of the files known for the lineage of new tasks.
pub fn announce() {
    with_all(|files| {
        for file in files.iter() {
            uploaded_files::remember(&file.uploaded.url, &file.name);
        }
    });
}

/// Forgets the files at a service.
pub fn forget(service: &str) {
    let mut files = with_all(Clone::clone);
    let before = files.clone();
    files.forget(service);
    if files != before {
        write(&files);
    }
}
