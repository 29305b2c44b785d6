//! The files that were uploaded in this visit, and what to do about those that the service has deleted since.

use std::cell::RefCell;

use atelier_contract::{Credentials, Entry, Media, ModelId, Uploaded};
use atelier_engine::Millis;
use atelier_studio::form::media_list;
use atelier_studio::form::upload::expiry::FoundFiles;
use atelier_studio::form::upload::state::UploadState;
use atelier_studio::form::upload::{self, LocalFile, expiry};
use leptos::prelude::*;
use web_sys::{Blob, Url};

use super::{FieldKey, Upload, of_field, refuse_file, remembered, start_with, with_content};
use crate::browser::chosen::ChosenFile;
use crate::browser::{clock, peek};
use crate::reactive::boxed::spawn;
use crate::runner::uploaded_files;
use crate::state::contexts::Contexts;
use crate::state::photo_privacy;
use crate::state::session::Session;

/// A file that is about to expire is uploaded again, in milliseconds.
const MIN_REMAINING_MS: u64 = 3_600_000;

/// How long Generate in a form relies on a check, in milliseconds. It relies longer on it for the rows of a batch, because
/// these may have a thousand files.
const FOUND_MS: Millis = 60_000;
const FOUND_FOR_ROWS_MS: Millis = 600_000;

/// A file that was uploaded in this visit.
struct Known {
    key: FieldKey,
    /// Whether location and camera data were kept.
    keeps_metadata: bool,
    credentials: Credentials,
    file: LocalFile,
    content: Option<Blob>,
    uploaded: Uploaded,
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
    /// The URLs at which the service no longer has a file.
    gone: Vec<String>,
    /// The URLs at which the service has a file.
    found: FoundFiles,
    /// The fields whose files are being checked.
    checking: ArcRwSignal<Vec<FieldKey>>,
    /// The fields whose files were uploaded again, with the files.
    renewed: Vec<(FieldKey, LocalFile)>,
    /// The number of times that all files must be checked.
    checks: ArcRwSignal<u32>,
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

/// A file in a form, by its URL in the entry of the field or the item.
pub struct FormFile {
    pub key: FieldKey,
    pub media: Media,
    pub entry: Entry,
}

/// A check in progress.
struct Check(FieldKey);

fn checking() -> ArcRwSignal<Vec<FieldKey>> {
    STORE.with_borrow(|store| store.checking.clone())
}

impl Check {
    fn begin(key: FieldKey) -> Self {
        checking().update(|checking| checking.push(key.clone()));
        Self(key)
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        checking().update(|checking| {
            if let Some(at) = checking.iter().position(|key| *key == self.0) {
                checking.swap_remove(at);
            }
        });
    }
}

/// Whether files of a model's form are being checked; tracked.
pub fn is_checking(address: &str, model: &ModelId) -> bool {
    let checking = checking();
    let checking = checking.read();
    let mut keys = checking.iter();
    keys.any(|key| key.address == address && key.model == *model)
}

/// Remembers the file of a finished upload for this visit.
pub(super) fn remember(
    upload: Upload,
    content: Option<Blob>,
    credentials: Credentials,
    uploaded: Uploaded,
) {
    remembered::remember(&upload.key.address, &upload.file, &uploaded);
    uploaded_files::remember(&uploaded.url, &upload.file.name);
    STORE.with_borrow_mut(|store| {
        store
            .known
            .retain(|known| known.uploaded.url != uploaded.url);
        store.gone.retain(|url| *url != uploaded.url);
        store.known.push(Known {
            key: upload.key,
            keeps_metadata: with_content(upload.id, |content| {
                let prepared = content.prepared.as_ref();
                prepared.is_some_and(|prepared| prepared.keeps_metadata)
            }) == Some(true),
            credentials,
            file: upload.file,
            content,
            uploaded,
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

/// Describes the file at a URL if it was uploaded in this browser, or put into a request in this visit.
pub fn description(url: &str) -> Option<String> {
    let of_visit = STORE.with_borrow(|store| {
        let known = store.known.iter().rfind(|it| it.uploaded.url == url);
        let described = || store.described.iter().rfind(|it| it.url == url);
        known
            .map(|known| upload::description(&known.file.name, &known.uploaded))
            .or_else(|| described().map(|it| it.description.clone()))
    });
    of_visit.or_else(|| {
        let file = remembered::find(url)?;
        Some(upload::description(&file.name, &file.uploaded))
    })
}

/// Returns the file at a URL if it was uploaded in this browser.
pub fn file(url: &str) -> Option<LocalFile> {
    let of_visit = STORE.with_borrow(|store| {
        let known = store.known.iter().rfind(|it| it.uploaded.url == url)?;
        Some(known.file.clone())
    });
    of_visit.or_else(|| remembered::find(url).map(|file| file.local()))
}

/// Returns the content of the file at a URL if it was uploaded in this visit.
pub fn content_at(url: &str) -> Option<Blob> {
    STORE.with_borrow(|store| {
        let mut known = store.known.iter().rev();
        known.find_map(|it| it.content.clone().filter(|_| it.uploaded.url == url))
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
                && !store.gone.contains(&known.uploaded.url)
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
    remembered::forget(address);
    uploaded_files::clear();
    // Those at other services.
    remembered::announce();
    STORE.with_borrow_mut(|store| {
        store.known.retain(|it| it.key.address != address);
        store.renewed.retain(|(key, _)| key.address != address);
        store.found.clear();
        store.described.clear();
    });
}

/// Returns the number of [`check_again`]; tracked.
pub fn checks() -> u32 {
    let checks = STORE.with_borrow(|store| store.checks.clone());
    checks.get()
}

/// Checks the files of all fields again, because the service has refused an input.
pub fn check_again() {
    let checks = STORE.with_borrow_mut(|store| {
        store.found.clear();
        store.checks.clone()
    });
    checks.update(|checks| *checks += 1);
}

/// Checks whether the service still has the file of a field. If not, the file is uploaded again, or a message is shown.
/// `entry`: the entry of the field with the file's URL. `is_current`: whether the field still has it.
pub fn check(
    all: Contexts,
    key: FieldKey,
    media: Media,
    entry: Entry,
    is_current: impl Fn() -> bool + 'static,
) {
    check_file(all, FormFile { key, media, entry }, false, is_current);
}

/// Does the work of [`check`]. `is_used`: whether the file is about to be used.
fn check_file(
    all: Contexts,
    file: FormFile,
    is_used: bool,
    is_current: impl Fn() -> bool + 'static,
) {
    let FormFile { key, media, entry } = file;
    let url = entry.to_text();
    if is_expired(&url) {
        return renew(all, key, media, entry);
    }
    if !is_own(all, &url) {
        return;
    }
    // Generate waits for the end of the check.
    let check = Check::begin(key.clone());
    spawn(async move {
        let _check = check;
        if is_used {
            check_use(&url).await;
        } else {
            is_missing(&url).await;
        }
        if is_lost(&url) && is_current() {
            renew(all, key, media, entry);
        }
    });
}

/// Checks the files of a form that were not found lately. `is_current`: whether the form still has a file.
pub fn check_form(
    all: Contexts,
    files: Vec<FormFile>,
    is_current: impl Fn(&FieldKey, &Entry) -> bool + Clone + 'static,
) {
    for file in files {
        if is_found(&file.entry.to_text(), FOUND_MS) {
            continue;
        }
        let (is_current, field) = (is_current.clone(), file.key.clone());
        let entry = file.entry.clone();
        check_file(all, file, true, move || is_current(&field, &entry));
    }
}

/// Uploads the expired files of a form again.
pub fn renew_expired(all: Contexts, files: &[FormFile]) {
    let expired = files
        .iter()
        .filter(|file| is_expired(&file.entry.to_text()));
    for FormFile { key, media, entry } in expired {
        renew(all, key.clone(), *media, entry.clone());
    }
}

/// Returns the name of a file of a form that the service no longer has, if there is one.
pub fn lost_name(files: &[FormFile]) -> Option<String> {
    let urls = files.iter().map(|file| file.entry.to_text());
    let url = urls.into_iter().find(|url| is_lost(url))?;
    let known = file(&url).map(|file| file.name);
    Some(known.unwrap_or_else(|| media_list::name(&url)))
}

fn note_gone(url: &str, is_gone: bool) {
    STORE.with_borrow_mut(|store| {
        store.gone.retain(|it| it != url);
        if is_gone {
            store.found.remove(url);
            store.gone.push(url.to_owned());
        }
    });
}

/// Asks the service whether it still has a file, before the file is used. Returns whether it has replied.
pub async fn check_use(url: &str) -> bool {
    let is_missing = is_missing(url).await;
    if is_missing == Some(false) {
        STORE.with_borrow_mut(|store| store.found.add(url, clock::now()));
    }
    is_missing.is_some()
}

/// Asks the service whether it no longer has a file, for [`is_lost`]; `None` if it does not tell.
async fn is_missing(url: &str) -> Option<bool> {
    let is_missing = peek::is_missing(url).await?;
    note_gone(url, is_missing);
    Some(is_missing)
}

/// Whether the service must be asked for a file of rows before these are sent.
pub fn is_check_due(all: Contexts, url: &str) -> bool {
    is_own(all, url) && !is_expired(url) && !is_found(url, FOUND_FOR_ROWS_MS)
}

/// Whether a check has found the file at a URL within this time, in milliseconds, and it has not expired.
fn is_found(url: &str, within_ms: Millis) -> bool {
    let is_found = STORE.with_borrow(|store| store.found.has(url, within_ms, clock::now()));
    is_found && !is_expired(url)
}

/// Whether the service has the file at a URL, or had it.
pub fn is_own(all: Contexts, url: &str) -> bool {
    let is_known = STORE.with_borrow(|store| store.known.iter().any(|it| it.uploaded.url == url));
    is_known || is_at_service(all.session, url)
}

/// Whether the service is known to have no file at a URL any more.
pub fn is_lost(url: &str) -> bool {
    is_expired(url) || STORE.with_borrow(|store| store.gone.iter().any(|it| it == url))
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
    let credentials = untrack(|| all.session.credentials());
    let found = STORE.with_borrow_mut(|store| {
        let known = store.known.iter().rfind(|it| it.uploaded.url == url)?;
        let (file, content) = (known.file.clone(), known.content.clone()?);
        let renewal = (key.clone(), file.clone());
        // A file that is lost again at once would be uploaded endlessly.
        let is_allowed =
            Some(&known.credentials) == credentials.as_ref() && !store.renewed.contains(&renewal);
        is_allowed.then(|| {
            store.renewed.push(renewal);
            ChosenFile { file, content }
        })
    });
    match found {
        Some(chosen) => {
            let note = expiry::renewed(&chosen.file.name);
            start_with(all, key, media, chosen, Some(entry), note, true);
        }
        None => refuse_lost(key, media, entry, &url),
    }
}

/// Shows at a field that its file has to be chosen again. An item of a list needs a name.
fn refuse_lost(key: FieldKey, media: Media, entry: Entry, url: &str) {
    let name = key.item.map(|_| media_list::name(url)).unwrap_or_default();
    let is_shown = |upload: Upload| {
        let message = match &upload.state {
            UploadState::Failed { message, .. } => message,
            _ => return false,
        };
        message == expiry::LOST && upload.before.as_ref() == Some(&entry)
    };
    if untrack(|| of_field(&key)).is_some_and(is_shown) {
        return;
    }
    refuse_file(key, media, Some(entry), name, expiry::LOST.to_owned(), true);
}
