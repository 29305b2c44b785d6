//! Uploads of the user's files. They belong to the page as a whole, so that an upload continues while another page of the
//! app is shown.

use std::cell::RefCell;

use atelier_contract::{Credentials, Entry, Media, ModelId, Uploaded, path};
use atelier_studio::form::upload::LocalFile;
use atelier_studio::form::upload::acceptance::{self, Support};
use atelier_studio::form::upload::embedding;
use atelier_studio::form::upload::pending::FormUpload;
use atelier_studio::form::upload::state::{UploadEvent, UploadState};
use futures::future::{AbortHandle, abortable};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::Blob;

use crate::browser::chosen::ChosenFile;
use crate::browser::{clock, file, lifecycle, picture, upload};
use crate::reactive::boxed::spawn;
use crate::state::catalog::Load;
use crate::state::contexts::Contexts;
use crate::state::photo_privacy;
use crate::state::session::Session;

/// A file that is about to expire is uploaded again, in milliseconds.
const MIN_REMAINING_MS: u64 = 3_600_000;

/// The longest wait of one timer, in milliseconds.
const MAX_TIMER_MS: u64 = 86_400_000;

/// A media parameter of a model of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldKey {
    pub address: String,
    pub model: ModelId,
    pub parameter: String,
    /// The item of a list of files (`state/media_lists.rs`).
    pub item: Option<u32>,
}

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
}

/// A file that was uploaded in this visit.
struct Known {
    address: String,
    /// Whether location and camera data were kept.
    keeps_metadata: bool,
    credentials: Credentials,
    file: LocalFile,
    uploaded: Uploaded,
}

/// What is needed to send a file.
struct Content {
    id: u32,
    blob: Blob,
    abort: Option<AbortHandle>,
    /// The types that the service accepts; empty if they are unknown.
    types: Vec<String>,
    /// Whether [`prepare`] has changed what must not be sent.
    is_prepared: bool,
}

#[derive(Default)]
struct Store {
    /// At most one upload for each field, or for each item of a list.
    uploads: ArcRwSignal<Vec<Upload>>,
    contents: Vec<Content>,
    known: Vec<Known>,
    last_id: u32,
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

/// Returns the content of a file that is not uploaded yet.
pub fn content(id: u32) -> Option<Blob> {
    blob(id)
}

/// Returns the uploads of a model's form; tracked.
pub fn of_form(address: &str, model: &ModelId) -> Vec<FormUpload> {
    let uploads = signal();
    let uploads = uploads.read();
    let of_form = |upload: &&Upload| upload.key.address == address && upload.key.model == *model;
    let form_upload = |upload: &Upload| FormUpload {
        id: upload.id,
        name: upload.file.name.clone(),
        state: upload.state.clone(),
        is_in_list: upload.key.item.is_some(),
    };
    uploads.iter().filter(of_form).map(form_upload).collect()
}

/// Describes the file at a URL if it was uploaded in this visit.
pub fn description(url: &str) -> Option<String> {
    STORE.with_borrow(|store| {
        let known = store
            .known
            .iter()
            .rfind(|known| known.uploaded.url == url)?;
        let name = &known.file.name;
        Some(atelier_studio::form::upload::description(
            name,
            &known.uploaded,
        ))
    })
}

/// Returns the file at a URL if it was uploaded in this visit.
pub fn file(url: &str) -> Option<LocalFile> {
    STORE.with_borrow(|store| {
        let mut known = store.known.iter();
        let known = known.rfind(|known| known.uploaded.url == url)?;
        Some(known.file.clone())
    })
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
    let ChosenFile { file, content } = chosen;
    let support = untrack(|| support(all));
    let refusal = acceptance::refusal(&file, &key.parameter, media, &support);
    let credentials = untrack(|| all.session.credentials());
    let state = match refusal {
        Some(message) => UploadState::Failed {
            message,
            can_retry: false,
        },
        None => match known(&key.address, credentials, &file) {
            Some(uploaded) => UploadState::Done(uploaded),
            None => UploadState::Waiting,
        },
    };
    let is_waiting = state == UploadState::Waiting;
    let can_embed = support == Support::No && media == Media::Image;
    let types = match support {
        Support::Yes(limits) => limits.types,
        Support::Unknown | Support::No => Vec::new(),
    };
    let id = add(Upload {
        id: 0,
        key,
        media,
        file,
        state,
        before,
        can_embed,
        note,
    });
    if is_waiting || can_embed {
        STORE.with_borrow_mut(|store| {
            store.contents.push(Content {
                id,
                blob: content,
                abort: None,
                types,
                is_prepared: false,
            });
        });
    }
    if is_waiting {
        send(all.session, id);
    }
}

/// Puts the picture of an upload that the service does not accept into the request, as a data URI.
pub fn embed(all: Contexts, id: u32) {
    let Some(upload) = of_id(id) else {
        return;
    };
    spawn(async move {
        let result = match prepare(id).await {
            Ok(()) => match embedded_by_id(id).await {
                Some(uploaded) => Ok(uploaded),
                None => Err(embedding::failure(&upload.file.name)),
            },
            Err(message) => Err(message),
        };
        if let (Ok(uploaded), Some(credentials)) = (&result, untrack(|| all.session.credentials()))
        {
            remember(upload, credentials, uploaded.clone());
        }
        apply(id, UploadEvent::Embedded(result));
    });
}

async fn embedded_by_id(id: u32) -> Option<Uploaded> {
    embedded(&blob(id)?).await
}

/// Returns the largest copy of a picture that fits into a request.
async fn embedded(picture: &Blob) -> Option<Uploaded> {
    let own_size = picture::size(picture).await.ok()?;
    for size in embedding::sizes(own_size) {
        let copy = match size == own_size && embedding::fits(picture.size() as u64) {
            true => picture.clone(),
            false => picture::resize(picture, size).await.ok()?,
        };
        let bytes = copy.size() as u64;
        if embedding::fits(bytes) {
            let (width, height) = size;
            return Some(Uploaded {
                url: file::data_url(&copy).await?,
                media_type: copy.type_(),
                bytes: Some(bytes),
                size: Some((width.into(), height.into())),
                expires_at: None,
            });
        }
    }
    None
}

/// Shows a message at a field, in place of an upload.
pub fn refuse(key: FieldKey, media: Media, before: Option<Entry>, message: String) {
    let file = LocalFile {
        name: String::new(),
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
    });
}

/// Tries a failed upload again.
pub fn retry(all: Contexts, id: u32) {
    if apply(id, UploadEvent::Retry) == Some(UploadState::Waiting) {
        send(all.session, id);
    }
}

/// Cancels an upload if it is running.
pub fn cancel(id: u32) {
    apply(id, UploadEvent::Cancel);
    abort(id);
    STORE.with_borrow_mut(|store| store.contents.retain(|content| content.id != id));
}

/// Removes the uploads of a model's form.
pub fn remove_of_form(model: &ModelId) {
    let uploads = signal();
    let of_form = |upload: &&Upload| upload.key.model == *model;
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

/// Removes an upload from its field.
pub fn remove(id: u32) {
    abort(id);
    signal().update(|uploads| uploads.retain(|upload| upload.id != id));
    STORE.with_borrow_mut(|store| store.contents.retain(|content| content.id != id));
}

fn abort(id: u32) {
    let abort = STORE.with_borrow_mut(|store| {
        let content = store.contents.iter_mut().find(|content| content.id == id);
        content.and_then(|content| content.abort.take())
    });
    if let Some(abort) = abort {
        abort.abort();
    }
}

/// Adds an upload instead of the earlier one of its field, and returns its id.
fn add(mut upload: Upload) -> u32 {
    let earlier = untrack(|| of_field(&upload.key));
    if let Some(earlier) = earlier {
        abort(earlier.id);
        STORE.with_borrow_mut(|store| store.contents.retain(|content| content.id != earlier.id));
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
    STORE.with_borrow(|store| {
        let content = store.contents.iter().find(|content| content.id == id);
        content.map(|content| content.blob.clone())
    })
}

/// Remembers the file of a finished upload for this visit.
fn remember(upload: Upload, credentials: Credentials, uploaded: Uploaded) {
    STORE.with_borrow_mut(|store| {
        store.known.push(Known {
            address: upload.key.address,
            keeps_metadata: photo_privacy::keeps_metadata(),
            credentials,
            file: upload.file,
            uploaded,
        });
    });
}

/// Returns the reply for a file that was uploaded in this visit and is not about to expire.
fn known(address: &str, credentials: Option<Credentials>, file: &LocalFile) -> Option<Uploaded> {
    let credentials = credentials?;
    let is_alive = |uploaded: &Uploaded| {
        let expires_ms = uploaded.expires_at.map(|at| at.saturating_mul(1000));
        expires_ms.is_none_or(|at| at > clock::now() + MIN_REMAINING_MS)
    };
    let keeps_metadata = photo_privacy::keeps_metadata();
    STORE.with_borrow(|store| {
        let known = store.known.iter().rfind(|known| {
            known.address == address
                && known.keeps_metadata == keeps_metadata
                && known.credentials == credentials
                && known.file.is_same(file)
                && is_alive(&known.uploaded)
        });
        known.map(|known| known.uploaded.clone())
    })
}

/// Applies an event to an upload and returns its state, if there is such an upload.
fn apply(id: u32, event: UploadEvent) -> Option<UploadState> {
    let uploads = signal();
    let state = {
        let uploads = uploads.read_untracked();
        let upload = uploads.iter().find(|upload| upload.id == id)?;
        upload.state.after(event)
    };
    uploads.update(|uploads| {
        if let Some(upload) = uploads.iter_mut().find(|upload| upload.id == id) {
            upload.state = state.clone();
        }
    });
    Some(state)
}

/// Sends a file until it is uploaded, refused or canceled.
fn send(session: Session, id: u32) {
    let (sending, abort) = abortable(attempts(session, id));
    STORE.with_borrow_mut(|store| {
        if let Some(content) = store.contents.iter_mut().find(|content| content.id == id) {
            content.abort = Some(abort);
        }
    });
    spawn(async move {
        // Aborted by the user.
        let _ = sending.await;
    });
}

/// Removes location and camera data from the picture of an upload, once.
///
/// # Errors
///
/// A sentence for the user.
async fn prepare(id: u32) -> Result<(), String> {
    let content = STORE.with_borrow(|store| {
        let content = store.contents.iter().find(|content| content.id == id)?;
        (!content.is_prepared).then(|| (content.blob.clone(), content.types.clone()))
    });
    let (Some((blob, types)), Some(upload)) = (content, of_id(id)) else {
        return Ok(());
    };
    // A file that was moved or deleted is reported when it is sent.
    if upload.media != Media::Image || !file::is_readable(&blob).await {
        return Ok(());
    }
    let keeps_metadata = photo_privacy::keeps_metadata();
    let name = &upload.file.name;
    let prepared = photo_privacy::prepare(name, &blob, &types, keeps_metadata).await?;
    STORE.with_borrow_mut(|store| {
        let content = store.contents.iter_mut().find(|content| content.id == id);
        if let Some(content) = content {
            content.blob = prepared.content;
            content.is_prepared = true;
        }
    });
    if !prepared.note.is_empty() {
        signal().update(|uploads| {
            if let Some(upload) = uploads.iter_mut().find(|upload| upload.id == id) {
                let note = format!("{} {}", upload.note, prepared.note);
                upload.note = note.trim().to_owned();
            }
        });
    }
    Ok(())
}

async fn attempts(session: Session, id: u32) {
    if let Err(message) = prepare(id).await {
        apply(id, UploadEvent::Unfit { message });
        return;
    }
    let mut failures = 0;
    loop {
        let Some(UploadState::RetryingAt { at, .. }) = attempt(session, id, failures + 1).await
        else {
            return;
        };
        failures += 1;
        loop {
            // The clock may be set, and timers are limited to about 24 days.
            let wait = at.saturating_sub(clock::now()).min(MAX_TIMER_MS);
            if wait == 0 {
                break;
            }
            TimeoutFuture::new(wait as u32).await;
        }
        lifecycle::until_online().await;
    }
}

/// Sends a file once and returns the state after that.
async fn attempt(session: Session, id: u32, failures: u32) -> Option<UploadState> {
    let (blob, upload) = (blob(id)?, of_id(id)?);
    let address = session.settings_untracked().address;
    let credentials = untrack(|| session.credentials());
    let (Some(credentials), true) = (credentials, address.as_str() == upload.key.address) else {
        let message = "Uploading needs an account: enter User ID and Access token in Settings.";
        return apply(
            id,
            UploadEvent::Unfit {
                message: message.to_owned(),
            },
        );
    };
    if !file::is_readable(&blob).await {
        let message = format!(
            "{} can't be read any more. Choose it again.",
            upload.file.name
        );
        return apply(id, UploadEvent::Unfit { message });
    }
    // Smaller or larger than the chosen file if that was changed.
    let total = blob.size() as u64;
    apply(id, UploadEvent::Started { total });
    let url = address.url(path::UPLOADS);
    let progress = move |sent| {
        apply(id, UploadEvent::Progress { sent, total });
    };
    let body = upload::post_file(&url, &blob, &credentials, progress).await;
    let result = body.and_then(|body| Uploaded::from_body(&body));
    if let Ok(uploaded) = &result {
        let (parameter, media) = (&upload.key.parameter, upload.media);
        let unfit = acceptance::refusal_of_uploaded(&upload.file, parameter, media, uploaded);
        if let Some(message) = unfit {
            return apply(id, UploadEvent::Unfit { message });
        }
        remember(upload, credentials, uploaded.clone());
    }
    let now = clock::now();
    apply(
        id,
        UploadEvent::Ended {
            result,
            failures,
            now,
        },
    )
}
