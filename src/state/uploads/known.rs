//! The files that were uploaded in this visit, and what to do about those that the service has deleted since.

use std::cell::RefCell;

use atelier_contract::{Credentials, Draft, Entry, Media, ModelId, Uploaded};
use atelier_studio::form::upload::{self, LocalFile, expiry};
use leptos::prelude::*;
use web_sys::{Blob, Url};

use super::{FieldKey, Upload, of_field, refuse, start_with, with_content};
use crate::browser::chosen::ChosenFile;
use crate::browser::{clock, peek};
use crate::reactive::boxed::spawn;
use crate::state::contexts::Contexts;
use crate::state::photo_privacy;
use crate::state::session::Session;

/// A file that is about to expire is uploaded again, in milliseconds.
const MIN_REMAINING_MS: u64 = 3_600_000;

/// A file that was uploaded in this visit.
struct Known {
    key: FieldKey,
    /// Whether location and camera data were kept.
    keeps_metadata: bool,
    media: Media,
    credentials: Credentials,
    file: LocalFile,
    content: Option<Blob>,
    uploaded: Uploaded,
    /// Whether the file was uploaded again because the service had lost it.
    is_renewed: bool,
}

/// The description of a file in a request, by its data URI.
struct Described {
    url: String,
    description: String,
}

/// The maximum number of descriptions: the data URIs are long.
const MAX_DESCRIBED: usize = 8;

#[derive(Default)]
struct Store {
    known: Vec<Known>,
    described: Vec<Described>,
    /// The number of times that all files must be checked.
    checks: ArcRwSignal<u32>,
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

/// Remembers the file of a finished upload for this visit.
pub(super) fn remember(
    upload: Upload,
    content: Option<Blob>,
    credentials: Credentials,
    uploaded: Uploaded,
) {
    STORE.with_borrow_mut(|store| {
        store
            .known
            .retain(|known| known.uploaded.url != uploaded.url);
        store.known.push(Known {
            key: upload.key,
            keeps_metadata: with_content(upload.id, |content| content.keeps_metadata) == Some(true),
            media: upload.media,
            credentials,
            file: upload.file,
            content,
            uploaded,
            is_renewed: upload.is_renewed,
        });
    });
}

/// Remembers the description of a file in the request.
pub(super) fn describe(file: &LocalFile, uploaded: &Uploaded) {
    STORE.with_borrow_mut(|store| {
        let surplus = (store.described.len() + 1).saturating_sub(MAX_DESCRIBED);
        store.described.drain(..surplus);
        store.described.push(Described {
            url: uploaded.url.clone(),
            description: upload::description(&file.name, uploaded),
        });
    });
}

/// Describes the file at a URL if it was uploaded or put into a request in this visit.
pub fn description(url: &str) -> Option<String> {
    STORE.with_borrow(|store| {
        let known = store.known.iter().rfind(|it| it.uploaded.url == url);
        let described = || store.described.iter().rfind(|it| it.url == url);
        known
            .map(|known| upload::description(&known.file.name, &known.uploaded))
            .or_else(|| described().map(|it| it.description.clone()))
    })
}

/// Returns the file at a URL if it was uploaded in this visit.
pub fn file(url: &str) -> Option<LocalFile> {
    STORE.with_borrow(|store| {
        let known = store.known.iter().rfind(|it| it.uploaded.url == url)?;
        Some(known.file.clone())
    })
}

/// Returns the reply for a file that was uploaded in this visit and is not about to expire.
pub(super) fn find(
    address: &str,
    credentials: Option<Credentials>,
    file: &LocalFile,
) -> Option<Uploaded> {
    let credentials = credentials?;
    let keeps_metadata = photo_privacy::keeps_metadata();
    let later = clock::now() + MIN_REMAINING_MS;
    STORE.with_borrow_mut(|store| {
        let at = store.known.iter().rposition(|known| {
            known.key.address == address
                && known.keeps_metadata == keeps_metadata
                && known.credentials == credentials
                && known.file.is_same(file)
                && !expiry::is_expired(&known.uploaded, later)
        })?;
        // The last file with a URL gives it its name: files with the same content have the same URL.
        let known = store.known.remove(at);
        let uploaded = known.uploaded.clone();
        store.known.push(known);
        Some(uploaded)
    })
}

/// Forgets the files that were uploaded to a service.
pub(super) fn forget(address: &str) {
    STORE.with_borrow_mut(|store| store.known.retain(|it| it.key.address != address));
}

/// Returns the number of [`check_again`]; tracked.
pub fn checks() -> u32 {
    let checks = STORE.with_borrow(|store| store.checks.clone());
    checks.get()
}

/// Checks the files of all fields again, because the service has refused an input.
pub fn check_again() {
    let checks = STORE.with_borrow(|store| store.checks.clone());
    checks.update(|checks| *checks += 1);
}

/// Checks whether the service still has the file of a field. If not, the file is uploaded again, or a message is shown.
/// `entry`: the entry of the field with the file's URL.
pub fn check(all: Contexts, key: FieldKey, media: Media, entry: Entry) {
    let url = entry.to_text();
    if is_expired(&url) {
        return renew(all, key, media, entry);
    }
    let is_known = STORE.with_borrow(|store| store.known.iter().any(|it| it.uploaded.url == url));
    if !is_known && !is_at_service(all.session, &url) {
        return;
    }
    spawn(async move {
        let start = peek::start(&url).await;
        if start.is_err_and(|error| expiry::is_gone(&error)) {
            renew(all, key, media, entry);
        }
    });
}

/// Uploads the expired files of a form again.
pub fn renew_expired(all: Contexts, address: &str, model: &ModelId, draft: &Draft) {
    for (name, entry) in draft.iter() {
        let url = entry.to_text();
        let field = STORE.with_borrow(|store| {
            let of_field = |known: &&Known| {
                known.uploaded.url == url
                    && known.key.address == address
                    && known.key.model == *model
                    && known.key.parameter == name
            };
            let known = store.known.iter().find(of_field)?;
            Some((known.key.clone(), known.media))
        });
        if let Some((key, media)) = field.filter(|_| is_expired(&url)) {
            renew(all, key, media, entry.clone());
        }
    }
}

fn is_expired(url: &str) -> bool {
    STORE.with_borrow(|store| {
        let known = store.known.iter().find(|it| it.uploaded.url == url);
        known.is_some_and(|known| expiry::is_expired(&known.uploaded, clock::now()))
    })
}

/// Whether a URL is in the folder of the service's files.
fn is_at_service(session: Session, url: &str) -> bool {
    let files = session.settings_untracked().address.url("/outputs");
    let page = window().location().href().unwrap_or_default();
    let files = Url::new_with_base(&files, &page).map(|files| files.href());
    files.is_ok_and(|files| expiry::is_of_service(url, &files))
}

/// Uploads a file again that the service no longer has, or asks the user to choose it again.
fn renew(all: Contexts, key: FieldKey, media: Media, entry: Entry) {
    // The user may have chosen another file meanwhile.
    if untrack(|| of_field(&key)).is_some_and(|upload| upload.is_alive()) {
        return;
    }
    let url = entry.to_text();
    let known = STORE.with_borrow_mut(|store| {
        let at = store.known.iter().rposition(|it| it.uploaded.url == url)?;
        let last = store.known.remove(at);
        store.known.retain(|it| it.uploaded.url != url);
        Some(last)
    });
    // A file that is lost again at once would be uploaded endlessly.
    let credentials = untrack(|| all.session.credentials());
    let content =
        known.filter(|known| !known.is_renewed && Some(&known.credentials) == credentials.as_ref());
    let content = content.and_then(|known| Some((known.file, known.content?)));
    match content {
        Some((file, content)) => {
            let note = expiry::renewed(&file.name);
            let chosen = ChosenFile { file, content };
            start_with(all, key, media, chosen, Some(entry), note, true);
        }
        None => refuse(key, media, Some(entry), expiry::LOST.to_owned()),
    }
}
