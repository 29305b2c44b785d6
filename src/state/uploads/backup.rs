//! Stores uploads until they end, and continues those of closed pages.
//!
//! Each stored upload belongs to one tab at a time: the tab that holds its lock. After a reload, the same tab continues its
//! uploads. Those of closed tabs are continued by the next tab that opens the form. A page on plain http has no locks;
//! there, two tabs may send the same file, which the service stores once. Once the file is uploaded, the record needs no
//! lock: each tab that opens the form can put the URL into it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use atelier_contract::{ModelId, Uploaded};
use atelier_engine::Millis;
use atelier_studio::form::upload::state::{UploadEvent, UploadState};
use atelier_studio::form::upload::stored::{self, StoredUpload};
use atelier_studio::form::upload::{acceptance, expiry};
use futures::future::select;
use futures::lock::Mutex;
use gloo_events::EventListener;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::Blob;

use super::sending::send;
use super::{
    Content, Upload, add, add_content, apply, backup_of, known, of_field, refuse, remembered,
    remove, signal, support, unfinished, wait,
};
use crate::browser::local::LocalStore;
use crate::browser::storage::uploads as storage;
use crate::browser::tabs::locks::{self, Lock};
use crate::browser::{clock, lifecycle, random};
use crate::reactive::boxed::{effect, memo, spawn};
use crate::state::contexts::Contexts;
use crate::state::{masks, picture_edits, secrets};

/// The stored copy of an upload.
pub(super) struct Backup {
    key: String,
    at: Millis,
    tab: String,
    uid: String,
    is_stored: Cell<bool>,
    wanted: RefCell<Wanted>,
    /// Serializes the writes, so that the last one has the last word.
    writing: Mutex<()>,
    /// Held for as long as this tab owns the upload.
    lock: RefCell<Option<Lock>>,
}

/// What is to be stored.
enum Wanted {
    Upload(Box<StoredUpload>, Option<Blob>),
    Nothing,
}

impl Backup {
    fn new(key: String, at: Millis, tab: String, uid: String) -> Rc<Self> {
        Rc::new(Self {
            key,
            at,
            tab,
            uid,
            is_stored: Cell::new(false),
            wanted: RefCell::new(Wanted::Nothing),
            writing: Mutex::new(()),
            lock: RefCell::new(None),
        })
    }

    /// Stores an upload that has begun, with its file. `uid`: the User ID in Settings.
    pub fn begin(upload: &Upload, content: &Blob, uid: String) -> Rc<Self> {
        let this = Self::new(random::key(), clock::now(), own_tab(), uid);
        let stored = this.record(upload, None);
        // Requested before the upload can be read by another tab.
        let lock = locks::hold(&lock_name(&this.key));
        let own = this.clone();
        let content = content.clone();
        spawn(async move {
            own.lock.replace(Some(lock.await));
            own.write();
        });
        this.wanted
            .replace(Wanted::Upload(Box::new(stored), Some(content)));
        this
    }

    /// Stores the reply of the service instead of the file, until its URL is in the field.
    pub fn finish(self: &Rc<Self>, upload: &Upload, uploaded: &Uploaded) {
        let stored = self.record(upload, Some(uploaded.clone()));
        self.wanted.replace(Wanted::Upload(Box::new(stored), None));
        self.write();
    }

    /// Deletes the stored upload.
    pub fn delete(self: &Rc<Self>) {
        self.wanted.replace(Wanted::Nothing);
        self.write();
    }

    /// Whether the upload survives a reload.
    pub fn is_stored(&self) -> bool {
        self.is_stored.get()
    }

    fn record(&self, upload: &Upload, uploaded: Option<Uploaded>) -> StoredUpload {
        StoredUpload {
            key: self.key.clone(),
            at: self.at,
            tab: self.tab.clone(),
            uid: self.uid.clone(),
            field: upload.key.clone(),
            media: upload.media,
            file: upload.file.clone(),
            before: upload.before.clone(),
            note: upload.note.clone(),
            uploaded,
        }
    }

    /// Writes what is wanted by the time of the write.
    fn write(self: &Rc<Self>) {
        let this = self.clone();
        spawn(async move {
            let _writing = this.writing.lock().await;
            let wanted = match &*this.wanted.borrow() {
                Wanted::Upload(stored, content) => Some((stored.clone(), content.clone())),
                Wanted::Nothing => None,
            };
            let is_stored = match wanted {
                Some((stored, content)) => storage::write(&stored, content).await.is_ok(),
                // An upload that can't be deleted now is deleted when it is too old.
                None => storage::delete(std::slice::from_ref(&this.key))
                    .await
                    .is_err(),
            };
            this.is_stored.set(is_stored);
            if !matches!(&*this.wanted.borrow(), Wanted::Upload(_, Some(_))) {
                this.lock.take();
            }
        });
    }
}

fn lock_name(key: &str) -> String {
    format!("atelier.upload.{key}")
}

/// The key in `sessionStorage` of the name of this tab.
const TAB: &str = "atelier.upload-tab";

/// How long the page waits for stored uploads, in milliseconds.
const MAX_RESTORE_MS: u32 = 5_000;

thread_local! {
    /// The number of reads of stored uploads that have not ended.
    static RESTORING: ArcRwSignal<u32> = ArcRwSignal::new(0);
    static ADOPTING: Rc<Mutex<()>> = Rc::default();
}

/// Returns the name of this tab, which stays the same after a reload.
fn own_tab() -> String {
    LocalStore::Tab.read(TAB).unwrap_or_else(|| {
        let name = random::key();
        // If storage refuses, the uploads are stored neither.
        LocalStore::Tab.write(TAB, &name);
        name
    })
}

/// Returns whether stored uploads are being read, so that it is not known yet what a form waits for; tracked.
pub fn is_restoring() -> bool {
    RESTORING.with(Clone::clone).get() > 0
}

/// Continues the uploads of this tab from before a reload, and asks before the page is closed while an upload is not stored.
/// Lives as long as the current owner. `on_sign_out`: forgets the outputs for the forms of a service, by its address.
pub fn restore(all: Contexts, on_sign_out: fn(&str)) {
    ask_before_leaving();
    follow_sign_out(all, on_sign_out);
    unfinished::restore();
    remembered::announce();
    let tab = own_tab();
    adopt_all(
        all,
        move |upload| upload.tab == tab,
        unfinished::report_lost,
    );
}

/// Continues the stored uploads for a model's form that belong to no living tab, and adopts the finished ones.
pub fn adopt_for(all: Contexts, model: &ModelId) {
    let model = model.clone();
    adopt_all(all, move |upload| upload.field.model == model, || {});
}

fn adopt_all(
    all: Contexts,
    is_wanted: impl Fn(&StoredUpload) -> bool + 'static,
    end: impl FnOnce() + 'static,
) {
    let restoring = RESTORING.with(Clone::clone);
    restoring.update(|count| *count += 1);
    spawn(async move {
        let adopted = std::pin::pin!(adopt_stored(all, is_wanted));
        // A browser whose storage does not respond must not block the form.
        select(adopted, TimeoutFuture::new(MAX_RESTORE_MS)).await;
        end();
        restoring.update(|count| *count -= 1);
    });
}

async fn adopt_stored(all: Contexts, is_wanted: impl Fn(&StoredUpload) -> bool) {
    // Otherwise, the second of two concurrent calls would wait for a lock that the first one holds.
    let adopting = ADOPTING.with(Rc::clone);
    let _adopting = adopting.lock().await;
    // A browser that refuses storage has no stored uploads.
    let stored = storage::all().await.unwrap_or_default();
    if all.session.is_gone() {
        return;
    }
    let settings = all.session.settings_untracked();
    let is_of_other = |upload: &&StoredUpload| {
        let (uid, present) = (&upload.uid, &settings.uid);
        let is_of_service = upload.field.address == settings.address.as_str();
        is_of_service && !uid.is_empty() && !present.is_empty() && uid != present
    };
    let mut deleted = stored::expired(&stored, clock::now());
    deleted.extend(
        stored
            .iter()
            .filter(is_of_other)
            .map(|upload| upload.key.clone()),
    );
    if !deleted.is_empty() {
        // Tried again by the next page.
        let _ = storage::delete(&deleted).await;
    }
    let mut remaining: Vec<StoredUpload> = stored
        .into_iter()
        .filter(|upload| !deleted.contains(&upload.key) && is_wanted(upload))
        .collect();
    remaining.sort_by_key(|upload| upload.at);
    let tab = own_tab();
    for upload in remaining {
        let is_own = upload.tab == tab;
        adopt(all, upload.key, is_own).await;
    }
}

/// Continues a stored upload unless another tab has it. `is_own`: whether it is of this tab before a reload, whose lock may
/// be released in a moment.
async fn adopt(all: Contexts, key: String, is_own: bool) {
    if is_here(&key) {
        return;
    }
    let name = lock_name(&key);
    let lock = match is_own {
        true => Some(locks::hold(&name).await),
        false => locks::try_hold(&name).await,
    };
    let Some(lock) = lock else { return };
    // The tab that had it may have completed it.
    let Ok(Some((stored, content))) = storage::read(&key).await else {
        return;
    };
    if all.session.is_gone() {
        return;
    }
    // Never replaces a file that was chosen in this page.
    let earlier = untrack(|| of_field(&stored.field));
    let is_awaited = |upload: &Upload| unfinished::is_awaited(upload.id);
    let is_chosen_here = |upload: &Upload| upload.is_alive() && !is_awaited(upload);
    if earlier.as_ref().is_some_and(is_chosen_here) || is_here(&key) {
        return;
    }
    // The item of a list is known only to the tab of its form.
    let is_of_list = stored.field.item.is_some();
    if is_of_list && (earlier.is_none() || !is_own) {
        return;
    }
    let backup = Backup::new(key, stored.at, own_tab(), stored.uid.clone());
    backup.is_stored.set(true);
    // The user has canceled it, or has chosen another file for the item.
    let is_wanted = |upload: &Upload| {
        let file = untrack(|| unfinished::record(upload));
        is_awaited(upload)
            && upload.state != UploadState::Canceled
            && file.is_stored_as(&own_tab(), &stored)
    };
    let is_unwanted = is_of_list && !earlier.as_ref().is_some_and(is_wanted);
    if is_unwanted || wait::is_replaced_since(&stored.field.model, stored.at) {
        return backup.delete();
    }
    let state = match (&stored.uploaded, &content) {
        (Some(uploaded), _) if expiry::is_expired(uploaded, clock::now()) => {
            backup.delete();
            let message = expiry::lost(&stored.file.name);
            if let Some(earlier) = earlier.filter(|_| is_of_list) {
                unfinished::continue_as(earlier.id, earlier.id);
                apply(earlier.id, UploadEvent::Unfit { message });
                return;
            }
            return refuse(stored.field, stored.media, stored.before, message);
        }
        (Some(uploaded), _) => {
            remembered::remember(&stored.field.address, &stored.file, uploaded);
            UploadState::Done(uploaded.clone())
        }
        (None, Some(_)) => UploadState::Waiting,
        (None, None) => return backup.delete(),
    };
    let support = untrack(|| support(all));
    let can_embed = acceptance::can_embed(&stored.file, stored.media, &support);
    let is_waiting = state == UploadState::Waiting;
    let upload = Upload {
        id: 0,
        key: stored.field,
        media: stored.media,
        file: stored.file,
        state,
        before: stored.before,
        can_embed,
        note: stored.note,
        is_renewed: earlier.as_ref().is_some_and(|it| it.is_renewed),
    };
    if is_waiting {
        backup.lock.replace(Some(lock));
        let record = backup.record(&upload, None);
        backup
            .wanted
            .replace(Wanted::Upload(Box::new(record), content.clone()));
        // Under the name of this tab.
        backup.write();
    }
    let id = add(upload);
    wait::mark_automatic(id);
    if let Some(earlier) = earlier {
        unfinished::continue_as(earlier.id, id);
    }
    add_content(Content {
        id,
        blob: content,
        abort: None,
        backup: Some(backup),
        prepared: None,
    });
    if is_waiting {
        send(all, id);
    }
}

/// Whether this page has a stored upload already.
fn is_here(key: &str) -> bool {
    let uploads = signal();
    let uploads = uploads.read_untracked();
    uploads.iter().any(|upload| {
        let backup = backup_of(upload.id);
        backup.is_some_and(|backup| backup.key == key)
    })
}

/// Makes the browser ask before the page is closed while an upload would be lost.
fn ask_before_leaving() {
    let uploads = signal();
    let has_upload = memo(move || {
        let uploads = uploads.read();
        uploads.iter().any(may_be_lost)
    });
    let would_lose = || {
        let uploads = signal();
        let uploads = uploads.read_untracked();
        let mut alive = uploads.iter().filter(|upload| may_be_lost(upload));
        alive.any(|upload| {
            let backup = backup_of(upload.id);
            let is_stored = backup.is_some_and(|backup| backup.is_stored());
            !is_stored && !unfinished::is_awaited(upload.id)
        })
    };
    let listener = StoredValue::new_local(None::<EventListener>);
    effect(move || {
        let is_asking = has_upload.get();
        listener.set_value(is_asking.then(|| lifecycle::ask_before_leaving(would_lose)));
    });
}

/// Whether closing the page may lose the upload. The URL of a finished one of a table is stored with its row.
fn may_be_lost(upload: &Upload) -> bool {
    match upload.key.row {
        Some(_) => upload.state.is_running(),
        None => upload.is_alive(),
    }
}

/// Forgets the files and secrets for a service, here and in storage, when the user signs out there or enters another User ID.
fn follow_sign_out(all: Contexts, on_sign_out: fn(&str)) {
    const BY_TOKEN: &str = "by token";
    let session = all.session;
    let mut before: Option<(String, String)> = None;
    effect(move || {
        let settings = session.settings();
        let has_token = session.token_of(&settings).is_some();
        // A service may find the account by the token alone.
        let user = match (settings.uid.is_empty(), has_token) {
            (true, true) => BY_TOKEN.to_owned(),
            _ => settings.uid.clone(),
        };
        let now = (settings.address.to_string(), user);
        let earlier = before.replace(now.clone());
        let is_other = earlier.is_some_and(|(address, user)| {
            let is_found_by_token = user == BY_TOKEN && !now.1.is_empty();
            address == now.0 && !user.is_empty() && user != now.1 && !is_found_by_token
        });
        if is_other {
            untrack(|| {
                forget(&now.0);
                on_sign_out(&now.0);
            });
        }
    });
}

/// Removes all uploads to a service and what is known of their files, here and in storage, and the typed secrets.
fn forget(address: &str) {
    let uploads = signal();
    let of_address = |upload: &&Upload| upload.key.address == address;
    let ids: Vec<u32> = (uploads.read_untracked().iter().filter(of_address))
        .map(|upload| upload.id)
        .collect();
    ids.into_iter().for_each(remove);
    known::forget(address);
    masks::forget(address);
    picture_edits::forget(address);
    secrets::forget(address);
    let address = address.to_owned();
    spawn(async move {
        let stored = storage::all().await.unwrap_or_default();
        let of_address = stored
            .into_iter()
            .filter(|upload| upload.field.address == address);
        let keys: Vec<String> = of_address.map(|upload| upload.key).collect();
        // Deleted when they are too old.
        let _ = storage::delete(&keys).await;
    });
}

#[cfg(test)]
mod tests {
    use atelier_contract::ModelId;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Longer than any read, also on a busy machine.
    const TIMEOUT_MS: Millis = 60_000;

    /// Guards against Generate waiting forever in the next test's page: the read failed because the app was unmounted, and
    /// counted as a read that had not ended.
    #[wasm_bindgen_test]
    async fn the_read_of_stored_uploads_ends_although_the_app_is_unmounted() {
        let owner = Owner::new();
        let all = owner.with(Contexts::provide);
        adopt_for(all, &ModelId::new("image", "tessera"));
        assert!(untrack(is_restoring));
        owner.cleanup();
        let start = clock::now();
        while untrack(is_restoring) {
            let waited = clock::now() - start;
            assert!(waited < TIMEOUT_MS, "the read has not ended");
            TimeoutFuture::new(20).await;
        }
    }
}
