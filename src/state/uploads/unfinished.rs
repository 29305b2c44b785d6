//! Remembers the files of lists that are not uploaded yet, so that none is missing silently after a reload: they are shown in
//! their places. Those that are stored (`backup`) are uploaded, and the others have to be chosen again.

use std::cell::RefCell;

use atelier_contract::{Entry, json};
use atelier_studio::form::upload::state::{UploadEvent, UploadState};
use atelier_studio::form::upload::unfinished::{UnfinishedFile, is_unfinished, lost_message};
use leptos::prelude::*;

use super::{Upload, add, apply, of_id, signal};
use crate::browser::local::LocalStore;
use crate::reactive::boxed::{effect, memo};
use crate::state::media_lists;

/// The key in `sessionStorage`.
const KEY: &str = "atelier.unfinished-files";

/// A file from before a reload.
struct Restored {
    id: u32,
    place: usize,
    /// Whether its stored content was not found yet.
    is_awaited: bool,
}

thread_local! {
    static RESTORED: RefCell<Vec<Restored>> = const { RefCell::new(Vec::new()) };
}

/// Shows the files from before a reload, and stores those of this page from now on. Lives as long as the current owner.
pub(super) fn restore() {
    let stored = LocalStore::Tab.read(KEY);
    let files: Option<Vec<UnfinishedFile>> =
        stored.and_then(|text| json::decode(json::read(&text)?));
    for file in files.unwrap_or_default() {
        let id = add(Upload {
            id: 0,
            key: file.field,
            media: file.media,
            file: file.file,
            state: UploadState::Waiting,
            is_renewed: file.replaces.is_some(),
            before: file.replaces.map(Entry::Text),
            can_embed: false,
            note: String::new(),
        });
        RESTORED.with_borrow_mut(|restored| {
            restored.push(Restored {
                id,
                place: file.place,
                is_awaited: true,
            });
        });
    }
    let unfinished = memo(unfinished);
    effect(move || {
        let files = unfinished.get();
        match files.is_empty() {
            true => LocalStore::Tab.remove(KEY),
            // A browser that refuses it loses the names with the page.
            false => drop(LocalStore::Tab.write(KEY, &json::encode(&files).to_string())),
        }
    });
}

/// Returns the files to store; tracked.
fn unfinished() -> Vec<UnfinishedFile> {
    let uploads = signal();
    let uploads = uploads.read();
    let of_lists = uploads.iter().filter(|upload| {
        upload.key.item.is_some() && is_unfinished(&upload.state, upload.is_renewed)
    });
    of_lists.map(record).collect()
}

/// Returns what is stored of a file of a list; tracks its place.
pub(super) fn record(upload: &Upload) -> UnfinishedFile {
    UnfinishedFile {
        field: upload.key.clone(),
        media: upload.media,
        file: upload.file.clone(),
        place: media_lists::place(&upload.key).unwrap_or_else(|| place(upload.id)),
        replaces: upload.replaced_address(),
    }
}

/// Returns the index that a file had in its list before a reload; that of the end for other files.
pub fn place(id: u32) -> usize {
    RESTORED.with_borrow(|restored| {
        let found = restored.iter().find(|file| file.id == id);
        found.map_or(usize::MAX, |file| file.place)
    })
}

/// Whether the content of a file from before a reload was not found yet.
pub(super) fn is_awaited(id: u32) -> bool {
    RESTORED.with_borrow(|restored| {
        let mut restored = restored.iter();
        restored.any(|file| file.id == id && file.is_awaited)
    })
}

/// Keeps the place of a file under the id of the upload that continues it.
pub(super) fn continue_as(earlier: u32, id: u32) {
    RESTORED.with_borrow_mut(|restored| {
        if let Some(file) = restored.iter_mut().find(|file| file.id == earlier) {
            (file.id, file.is_awaited) = (id, false);
        }
    });
}

/// Reports the files whose content was not found.
pub(super) fn report_lost() {
    let awaited = RESTORED.with_borrow(|restored| {
        let awaited = restored.iter().filter(|file| file.is_awaited);
        awaited.map(|file| file.id).collect::<Vec<u32>>()
    });
    for id in awaited {
        if let Some(upload) = of_id(id) {
            let message = lost_message(&upload.file.name);
            apply(id, UploadEvent::Unfit { message });
        }
    }
}
