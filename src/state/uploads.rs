//! Uploads of the user's files. They belong to the page as a whole, so that an upload continues while another page of the
//! app is shown, and they are stored (`backup`), so that they continue after a reload.

mod backup;
mod copy;
mod copy_side;
mod known;
mod remembered;
mod sending;
mod slots;
mod unfinished;
mod wait;

use std::cell::RefCell;
use std::rc::Rc;

use atelier_contract::{Draft, Entry, Media, ModelId, Uploaded};
use atelier_studio::form::media_list;
use atelier_studio::form::upload::LocalFile;
use atelier_studio::form::upload::acceptance::{self, Support};
use atelier_studio::form::upload::metadata;
use atelier_studio::form::upload::pending::{FormUpload, batch_refusal};
use atelier_studio::form::upload::state::{UploadEvent, UploadState};
use futures::future::AbortHandle;
use leptos::prelude::*;
use web_sys::Blob;

use crate::browser::chosen::ChosenFile;
use crate::runner::uploaded_files;
use crate::state::catalog::Load;
use crate::state::contexts::Contexts;
use backup::Backup;
use sending::send;

pub use atelier_studio::form::upload::stored::FieldKey;
pub use backup::{adopt_for, is_restoring, restore};
pub use copy::{PictureCopy, embed_all};
pub use copy_side::{copy_side, set_copy_side};
pub use known::{
    FormFile, check, check_again, check_form, check_use, checks, content_at, description, file,
    is_check_due, is_checking, is_lost, is_own, lost_name, renew_expired,
};
pub use unfinished::place as restored_place;
pub use wait::{
    Moment, are_deliveries_followed, follow_deliveries, known_support, mark_automatic, moment,
    note_delivered, replace_form,
};

/// The upload of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    pub id: u32,
    pub key: FieldKey,
    pub media: Media,
    pub file: LocalFile,
    pub state: UploadState,
    /// The entry of the field before the upload. If it changes, the upload is canceled.
    pub before: Option<Entry>,
    /// Whether the picture can be put into the request instead, because the service accepts no uploads.
    pub can_embed: bool,
    /// A message about the choice of the file; empty if there is none.
    pub note: String,
    /// Whether the file is uploaded again because the service had lost it, or has to be chosen again.
    pub is_renewed: bool,
}

impl Upload {
    /// Whether the upload is running, or its URL is not in the field yet.
    fn is_alive(&self) -> bool {
        self.state.is_running() || matches!(self.state, UploadState::Done(_))
    }

    /// Whether the upload has failed, and a copy of the picture can be put into the request instead.
    pub fn offers_copy(&self) -> bool {
        let has_failed = matches!(
            self.state,
            UploadState::Failed {
                can_retry: false,
                ..
            }
        );
        has_failed && self.can_embed
    }

    /// Returns the address that an item of a list has until the file is uploaded again; `None` for other uploads.
    pub fn replaced_address(&self) -> Option<String> {
        let before = self.before.as_ref().filter(|_| self.is_renewed)?;
        self.key.item.map(|_| before.to_text())
    }

    /// Whether the file is for the form of a model, not for its table.
    fn is_of_form(&self, model: &ModelId) -> bool {
        self.key.model == *model && self.key.row.is_none()
    }
}

/// What is needed to send a file.
struct Content {
    id: u32,
    /// `None` if the file is uploaded already.
    blob: Option<Blob>,
    abort: Option<AbortHandle>,
    /// `None` if the service accepts no uploads, and for the files of tables.
    backup: Option<Rc<Backup>>,
    /// What is sent instead of a picture, once it is known.
    prepared: Option<Prepared>,
}

/// A picture that was prepared for sending.
struct Prepared {
    blob: Blob,
    /// Whether location and camera data were kept.
    keeps_metadata: bool,
}

#[derive(Default)]
struct Store {
    /// At most one upload for each field, or for each item of a list.
    uploads: ArcRwSignal<Vec<Upload>>,
    contents: Vec<Content>,
    last_id: u32,
    /// The uploads whose URL was put into the field, with the parameter and the URL.
    delivered: Vec<(u32, String, String)>,
    /// Whether URLs must not be put into fields at present.
    is_delivery_paused: ArcRwSignal<bool>,
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

fn signal() -> ArcRwSignal<Vec<Upload>> {
    STORE.with_borrow(|store| store.uploads.clone())
}

/// Returns the upload of a field; tracked.
pub fn of_field(key: &FieldKey) -> Option<Upload> {
    let uploads = signal();
    let uploads = uploads.read();
    uploads.iter().find(|upload| upload.key == *key).cloned()
}

/// Returns the uploads of the items of a list; tracked. `key`: the field without an item.
pub fn of_list(key: &FieldKey) -> Vec<Upload> {
    let uploads = signal();
    let uploads = uploads.read();
    let is_of_list = |upload: &&Upload| {
        let field = FieldKey {
            item: None,
            ..upload.key.clone()
        };
        upload.key.item.is_some() && field == *key
    };
    uploads.iter().filter(is_of_list).cloned().collect()
}

/// Returns the uploads of the rows of a model's table; tracked.
pub fn of_table(model: &ModelId) -> Vec<Upload> {
    let uploads = signal();
    let uploads = uploads.read();
    let of_table = |upload: &&Upload| upload.key.row.is_some() && upload.key.model == *model;
    uploads.iter().filter(of_table).cloned().collect()
}

/// Returns the upload of a file of a table, by the key of its reference; tracked.
pub fn of_row(key: &str) -> Option<Upload> {
    let uploads = signal();
    let uploads = uploads.read();
    let mut uploads = uploads.iter();
    uploads
        .find(|upload| upload.key.row.as_deref() == Some(key))
        .cloned()
}

/// Returns the content of a file that is not uploaded yet.
pub fn content(id: u32) -> Option<Blob> {
    blob(id)
}

/// Returns the uploads of a model's form; tracked.
pub fn of_form(address: &str, model: &ModelId) -> Vec<FormUpload> {
    let uploads = signal();
    let uploads = uploads.read();
    let of_form = |upload: &&Upload| upload.key.address == address && upload.is_of_form(model);
    let form_upload = |upload: &Upload| FormUpload {
        id: upload.id,
        name: match upload.key.item {
            Some(_) => media_list::shown_name(&upload.file.name).to_owned(),
            None => upload.file.name.clone(),
        },
        state: upload.state.clone(),
        is_in_list: upload.key.item.is_some(),
        is_automatic: upload.is_renewed || wait::is_automatic(upload.id),
    };
    uploads.iter().filter(of_form).map(form_upload).collect()
}

/// Returns the ids of the uploads of a model's form whose URLs are not in the form yet, with their parameters; not tracked.
pub fn in_progress(address: &str, model: &ModelId) -> Vec<(u32, String)> {
    let uploads = signal();
    let uploads = uploads.read_untracked();
    let in_progress = uploads.iter().filter(|upload| {
        upload.key.address == address && upload.is_of_form(model) && upload.is_alive()
    });
    in_progress
        .map(|upload| (upload.id, upload.key.parameter.clone()))
        .collect()
}

/// Returns why a batch of a model can't be sent because of the uploads of its form, if so; tracked.
pub fn refusal_of_batch(all: Contexts, model: &ModelId) -> Option<String> {
    let address = all.session.settings().address;
    batch_refusal(&of_form(address.as_str(), model))
}

/// Returns whether the service accepts uploads; tracked.
pub fn support(all: Contexts) -> Support {
    match all.catalog.models() {
        Load::Loaded(list) => list.uploads.clone().map_or(Support::No, Support::Yes),
        _ => Support::Unknown,
    }
}

/// Starts the upload of a file for a field, instead of an earlier one. `before`: the entry of the field. A file that was
/// uploaded in this visit is not sent again.
pub fn start(
    all: Contexts,
    key: FieldKey,
    media: Media,
    chosen: ChosenFile,
    before: Option<Entry>,
    note: String,
) {
    start_with(all, key, media, chosen, before, note, false);
}

fn start_with(
    all: Contexts,
    key: FieldKey,
    media: Media,
    chosen: ChosenFile,
    before: Option<Entry>,
    note: String,
    is_renewed: bool,
) {
    let ChosenFile { file, content } = chosen;
    let support = untrack(|| support(all));
    let refusal = acceptance::refusal(&file, &key.parameter, media, &support);
    let credentials = untrack(|| all.session.credentials());
    let state = match refusal {
        Some(message) => UploadState::Failed {
            message,
            can_retry: false,
        },
        // Among many files, two may have the same name, size and date.
        None if key.row.is_some() => UploadState::Waiting,
        None => match known::find(&key.address, credentials, &file) {
            Some(uploaded) => UploadState::Done(uploaded),
            None => UploadState::Waiting,
        },
    };
    let is_waiting = state == UploadState::Waiting;
    let can_embed = acceptance::can_embed(&file, media, &support);
    let upload = Upload {
        id: 0,
        key,
        media,
        file,
        state,
        before,
        can_embed,
        note,
        is_renewed,
    };
    let uid = all.session.settings_untracked().uid;
    // A row whose file is not uploaded says so after a reload.
    let is_stored = is_waiting && upload.key.row.is_none();
    let backup = is_stored.then(|| Backup::begin(&upload, &content, uid));
    let id = add(upload);
    if is_waiting || can_embed {
        add_content(Content {
            id,
            blob: Some(content),
            abort: None,
            backup,
            prepared: None,
        });
    }
    if is_waiting {
        send(all, id);
    }
}

/// Shows a message at a field, in place of an upload. A running upload is not replaced.
pub fn refuse(key: FieldKey, media: Media, before: Option<Entry>, message: String) {
    refuse_file(key, media, before, String::new(), message, false);
}

/// Shows a message at a field, in place of the upload of the file with this name. `is_renewed`: whether the service has lost the file.
fn refuse_file(
    key: FieldKey,
    media: Media,
    before: Option<Entry>,
    name: String,
    message: String,
    is_renewed: bool,
) {
    let earlier = untrack(|| of_field(&key));
    if let Some(running) = earlier.filter(|upload| upload.state.is_running()) {
        return signal().update(|uploads| {
            let mut uploads = uploads.iter_mut();
            if let Some(upload) = uploads.find(|upload| upload.id == running.id) {
                upload.note = message;
            }
        });
    }
    let file = LocalFile {
        name,
        media_type: String::new(),
        bytes: 0,
        last_modified: None,
    };
    let state = UploadState::Failed {
        message,
        can_retry: false,
    };
    add(Upload {
        id: 0,
        key,
        media,
        file,
        state,
        before,
        can_embed: false,
        note: String::new(),
        is_renewed,
    });
}

/// Tries a failed upload again, or does not wait for the next attempt.
pub fn retry(all: Contexts, id: u32) {
    if apply(id, UploadEvent::Retry) == Some(UploadState::Waiting) {
        abort(id);
        send(all, id);
    }
}

/// Cancels an upload if it is running.
pub fn cancel(id: u32) {
    apply(id, UploadEvent::Cancel);
    remove_content(id);
}

/// Removes the uploads of a model's form.
pub fn remove_of_form(model: &ModelId) {
    let uploads = signal();
    let of_form = |upload: &&Upload| upload.is_of_form(model);
    let ids: Vec<u32> = (uploads.read_untracked().iter().filter(of_form))
        .map(|upload| upload.id)
        .collect();
    ids.into_iter().for_each(remove);
}

/// Returns the parameters of these uploads; not tracked.
pub fn parameters(ids: &[u32]) -> Vec<String> {
    let uploads = signal();
    let uploads = uploads.read_untracked();
    let waited = uploads.iter().filter(|upload| ids.contains(&upload.id));
    waited.map(|upload| upload.key.parameter.clone()).collect()
}

/// Removes an upload because its URL is in the field.
pub fn deliver(id: u32) {
    if let Some(Upload {
        key,
        file,
        state: UploadState::Done(uploaded),
        ..
    }) = of_id(id)
    {
        uploaded_files::remember(&uploaded.url, &file.name);
        let delivered = (id, key.parameter, uploaded.url);
        STORE.with_borrow_mut(|store| store.delivered.push(delivered));
    }
    remove(id);
}

/// Returns whether the URLs of all these uploads were put into a draft, and are still in it.
pub fn are_delivered(ids: &[u32], draft: &Draft) -> bool {
    STORE.with_borrow(|store| {
        let is_delivered = |id: &u32| {
            let delivered = store.delivered.iter().find(|(other, ..)| other == id);
            delivered.is_some_and(|(_, parameter, url)| {
                let entry = draft.get(parameter);
                entry.is_some_and(|entry| entry.to_text().contains(url))
            })
        };
        ids.iter().all(is_delivered)
    })
}

/// Sets whether finished uploads keep their URLs, because the text of the form's JSON would replace them.
pub fn pause_delivery(is_paused: bool) {
    let paused = STORE.with_borrow(|store| store.is_delivery_paused.clone());
    if *paused.read_untracked() != is_paused {
        paused.set(is_paused);
    }
}

/// Returns whether [`pause_delivery`] applies; tracked.
pub fn is_delivery_paused() -> bool {
    STORE
        .with_borrow(|store| store.is_delivery_paused.clone())
        .get()
}

/// Returns the lists of a model's form that have uploads, as fields without an item; tracked.
pub fn lists_of_form(address: &str, model: &ModelId) -> Vec<FieldKey> {
    let uploads = signal();
    let uploads = uploads.read();
    let mut lists = Vec::new();
    for Upload { key, .. } in uploads.iter() {
        let list = FieldKey {
            item: None,
            ..key.clone()
        };
        let is_of_form = key.address == address && key.model == *model;
        if is_of_form && key.item.is_some() && !lists.contains(&list) {
            lists.push(list);
        }
    }
    lists
}

/// Returns the finished uploads of a model's form, without the items of lists; tracked.
pub fn finished(address: &str, model: &ModelId) -> Vec<(Upload, Uploaded)> {
    let uploads = signal();
    let uploads = uploads.read();
    let of_form = |upload: &&Upload| upload.key.address == address && upload.is_of_form(model);
    let finished = uploads.iter().filter(of_form);
    let finished = finished.filter(|upload| upload.key.item.is_none());
    let finished = finished.filter_map(|upload| match &upload.state {
        UploadState::Done(uploaded) => Some((upload.clone(), uploaded.clone())),
        _ => None,
    });
    finished.collect()
}

/// Removes an upload from its field.
pub fn remove(id: u32) {
    remove_content(id);
    signal().update(|uploads| uploads.retain(|upload| upload.id != id));
}

fn abort(id: u32) {
    let abort = with_content(id, |content| content.abort.take()).flatten();
    if let Some(abort) = abort {
        abort.abort();
    }
}

/// Stops sending a file, and removes it here and in storage.
fn remove_content(id: u32) {
    abort(id);
    if let Some(backup) = backup_of(id) {
        backup.delete();
    }
    STORE.with_borrow_mut(|store| store.contents.retain(|content| content.id != id));
}

fn add_content(content: Content) {
    STORE.with_borrow_mut(|store| store.contents.push(content));
}

fn with_content<T>(id: u32, act: impl FnOnce(&mut Content) -> T) -> Option<T> {
    STORE.with_borrow_mut(|store| {
        let content = store.contents.iter_mut().find(|content| content.id == id)?;
        Some(act(content))
    })
}

fn set_abort(id: u32, abort: AbortHandle) {
    with_content(id, |content| content.abort = Some(abort));
}

fn backup_of(id: u32) -> Option<Rc<Backup>> {
    with_content(id, |content| content.backup.clone()).flatten()
}

/// Shows what happened to location and camera data next to the message about the choice of the file.
fn set_privacy_note(id: u32, sentence: &str) {
    signal().update(|uploads| {
        if let Some(upload) = uploads.iter_mut().find(|upload| upload.id == id) {
            upload.note = metadata::with_note(&upload.note, sentence);
        }
    });
}

/// Sets whether a picture can be put into the request, because the service accepts no uploads.
fn allow_copy(id: u32, is_allowed: bool) {
    signal().update(|uploads| {
        if let Some(upload) = uploads.iter_mut().find(|upload| upload.id == id) {
            upload.can_embed = is_allowed && upload.media == Media::Image;
        }
    });
}

/// Adds an upload instead of the earlier one of its field, and returns its id.
fn add(mut upload: Upload) -> u32 {
    let earlier = untrack(|| of_field(&upload.key));
    if let Some(earlier) = earlier {
        remove_content(earlier.id);
    }
    let id = STORE.with_borrow_mut(|store| {
        store.last_id += 1;
        store.last_id
    });
    upload.id = id;
    signal().update(|uploads| {
        uploads.retain(|other| other.key != upload.key);
        uploads.push(upload);
    });
    id
}

/// Returns an upload; not tracked.
fn of_id(id: u32) -> Option<Upload> {
    let uploads = signal();
    let uploads = uploads.read_untracked();
    uploads.iter().find(|upload| upload.id == id).cloned()
}

fn blob(id: u32) -> Option<Blob> {
    with_content(id, |content| content.blob.clone()).flatten()
}

/// Applies an event to an upload and returns its state, if there is such an upload.
fn apply(id: u32, event: UploadEvent) -> Option<UploadState> {
    let uploads = signal();
    let mut upload = of_id(id)?;
    upload.state = upload.state.after(event);
    if let Some(backup) = backup_of(id) {
        match &upload.state {
            UploadState::Done(uploaded) => backup.finish(&upload, uploaded),
            // The same file would be refused again after a reload.
            UploadState::Failed {
                can_retry: false, ..
            } => backup.delete(),
            _ => {}
        }
    }
    let state = upload.state.clone();
    uploads.update(|uploads| {
        if let Some(upload) = uploads.iter_mut().find(|upload| upload.id == id) {
            upload.state = state.clone();
        }
    });
    Some(state)
}
