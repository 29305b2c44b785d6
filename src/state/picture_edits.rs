//! The picture that is being edited, and the edits of this visit. A picture that was edited is edited again from its
//! original.

use std::cell::RefCell;
use std::rc::Rc;

use atelier_studio::form::upload::LocalFile;
use atelier_studio::picture_edit::crop::Size;
use atelier_studio::picture_edit::edit::Edit;
use leptos::prelude::*;

use crate::browser::chosen::ChosenFile;
use crate::state::uploads::{self, FieldKey};

/// The maximum number of edits in memory.
const MAX_EDITED: usize = 50;

/// A request to edit a picture.
#[derive(Clone)]
pub struct Request {
    pub key: FieldKey,
    /// The URL of the picture before all edits.
    pub original: String,
    /// The name of the original's file, if it is known.
    pub name: Option<String>,
    /// The edits so far.
    pub edit: Option<Edit>,
    /// The edits that were interrupted, if any.
    pub interrupted: Option<Edit>,
    /// The ratio that the form asks for.
    pub ratio: Option<Size>,
    /// Receives the file.
    pub on_done: Rc<dyn Fn(ChosenFile)>,
}

/// A picture that was edited.
struct Edited {
    key: FieldKey,
    file: LocalFile,
    original: String,
    name: Option<String>,
    edit: Edit,
}

/// The original of a picture, with the name of its file and its edits.
pub struct Original {
    pub url: String,
    pub name: Option<String>,
    pub edit: Option<Edit>,
}

#[derive(Default)]
struct Store {
    request: Option<Request>,
    is_open: ArcRwSignal<bool>,
    edited: Vec<Edited>,
    /// The field, the original and the edits of the dialog that was interrupted last.
    interrupted: Option<(FieldKey, String, Edit)>,
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

fn signal() -> ArcRwSignal<bool> {
    STORE.with_borrow(|store| store.is_open.clone())
}

/// Opens the dialog.
pub fn open(request: Request) {
    STORE.with_borrow_mut(|store| store.request = Some(request));
    signal().set(true);
}

/// Forgets the edits for the forms of a service. A dialog for one is closed, and remembers nothing.
pub fn forget(address: &str) {
    if request().is_some_and(|request| request.key.address == address) {
        close();
    }
    STORE.with_borrow_mut(|store| {
        store.edited.retain(|edited| edited.key.address != address);
        let interrupted = store.interrupted.take();
        store.interrupted = interrupted.filter(|(key, ..)| key.address != address);
    });
}

/// Closes the dialog.
pub fn close() {
    STORE.with_borrow_mut(|store| store.request = None);
    let is_open = signal();
    if is_open.get_untracked() {
        is_open.set(false);
    }
}

/// Closes the dialog without a decision of the user. It remembers the edits.
pub fn interrupt() {
    let is_open = signal();
    if is_open.get_untracked() {
        is_open.set(false);
    }
}

/// Remembers edits that were interrupted.
pub fn keep_interrupted(key: FieldKey, original: String, edit: Edit) {
    STORE.with_borrow_mut(|store| store.interrupted = Some((key, original, edit)));
}

/// Returns the edits of a picture that were interrupted, and forgets them.
pub fn take_interrupted(key: &FieldKey, original: &str) -> Option<Edit> {
    let interrupted = STORE.with_borrow_mut(|store| store.interrupted.take());
    let (of, picture, edit) = interrupted?;
    (of == *key && picture == original).then_some(edit)
}

/// Returns whether the dialog is open; tracked.
pub fn is_open() -> bool {
    signal().get()
}

/// Returns the request of the open dialog.
pub fn request() -> Option<Request> {
    STORE.with_borrow(|store| store.request.clone())
}

/// Returns the original of the picture at a URL in a field.
pub fn original(key: &FieldKey, url: &str) -> Original {
    let file = uploads::file(url);
    let of_edit = STORE.with_borrow(|store| {
        let edited = store.edited.iter().rfind(|edited| {
            edited.key == *key && file.as_ref().is_some_and(|file| *file == edited.file)
        })?;
        Some(Original {
            url: edited.original.clone(),
            name: edited.name.clone(),
            edit: Some(edited.edit),
        })
    });
    of_edit.unwrap_or_else(|| Original {
        url: url.to_owned(),
        name: file.map(|file| file.name),
        edit: None,
    })
}

/// Remembers the edits of a file.
pub fn remember(request: &Request, file: LocalFile, edit: Edit) {
    STORE.with_borrow_mut(|store| {
        let excess = (store.edited.len() + 1).saturating_sub(MAX_EDITED);
        store.edited.drain(..excess);
        store.edited.push(Edited {
            key: request.key.clone(),
            file,
            original: request.original.clone(),
            name: request.name.clone(),
            edit,
        });
    });
}
