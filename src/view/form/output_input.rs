//! Outputs as the value of a media field. An output that the service can't fetch by its address is uploaded like a file of
//! the user, or put into the request if the service accepts no uploads.

use std::cell::RefCell;

use atelier_contract::output::SafeUrl;
use atelier_contract::{Entry, ModelId, json};
use atelier_engine::stored_output;
use atelier_studio::form::media_list;
use atelier_studio::form::reuse::{self, InputSource, OutputFacts, UndecidedOutput, input_source};
use atelier_studio::form::upload::LocalFile;
use atelier_studio::form::upload::acceptance::Support;
use atelier_studio::output::output_cache;
use gloo_events::EventListener;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Blob, DragEvent, Element};

use super::media_list::ListField;
use super::own_file::MediaField;
use crate::browser::chosen::ChosenFile;
use crate::browser::local::LocalStore;
use crate::browser::{file, peek};
use crate::files::output_file;
use crate::reactive::boxed::{effect, spawn};
use crate::reactive::until::until;
use crate::runner::uploaded_outputs;
use crate::state::contexts::Contexts;
use crate::state::uploads::{self, FieldKey};

/// The type of a dragged output, whose data is its name.
pub const DRAGGED: &str = "application/x-atelier-output";

/// An output: its name and its address.
pub type Output = (String, String);

/// What replaces the address of an output.
pub enum Replacement {
    File(ChosenFile),
    Data(String),
}

/// The key in `sessionStorage` of the outputs that are not decided yet, as a list of [`UndecidedOutput`].
const UNDECIDED: &str = "atelier.undecided-outputs";

/// What a field has to do.
enum Request {
    /// The address of the output is already in the field, but may have to be replaced.
    Replace(Output),
    Upload(ChosenFile),
}

thread_local! {
    /// What fields have to do once they are shown.
    static REQUESTED: ArcRwSignal<Vec<(FieldKey, Request)>> = ArcRwSignal::new(stored_requests());
    /// The fields for which it is being decided what replaces the address of an output, with the output.
    static DECIDING: RefCell<ArcRwSignal<Vec<(FieldKey, Output)>>> = RefCell::default();
    /// The names of the outputs that are being uploaded, by the ids of their uploads.
    static UPLOADING: RefCell<Vec<(u32, String)>> = const { RefCell::new(Vec::new()) };
}

fn requested() -> ArcRwSignal<Vec<(FieldKey, Request)>> {
    REQUESTED.with(Clone::clone)
}

fn deciding() -> ArcRwSignal<Vec<(FieldKey, Output)>> {
    DECIDING.with_borrow(Clone::clone)
}

/// Returns the outputs that were not decided before a reload.
fn stored_requests() -> Vec<(FieldKey, Request)> {
    let stored = LocalStore::Tab.read(UNDECIDED);
    let outputs: Option<Vec<UndecidedOutput>> =
        stored.and_then(|text| json::decode(json::read(&text)?));
    let request = |it: UndecidedOutput| (it.field, Request::Replace((it.name, it.url)));
    outputs.into_iter().flatten().map(request).collect()
}

/// Stores the outputs that are not decided yet, so that they are decided after a reload.
fn store_undecided() {
    let (requested, deciding) = (requested(), deciding());
    let requested = requested.read_untracked();
    let outputs = requested
        .iter()
        .filter_map(|(field, request)| match request {
            Request::Replace(output) => Some((field.clone(), output.clone())),
            Request::Upload(_) => None,
        });
    let outputs = outputs.chain(deciding.get_untracked());
    let undecided: Vec<UndecidedOutput> = outputs
        .map(|(field, (name, url))| UndecidedOutput { field, name, url })
        .collect();
    match undecided.is_empty() {
        true => LocalStore::Tab.remove(UNDECIDED),
        // A browser that refuses it keeps the address after a reload.
        false => drop(LocalStore::Tab.write(UNDECIDED, &json::encode(&undecided).to_string())),
    }
}

/// Whether it is being decided what replaces the address of an output in a model's form; tracked.
pub fn is_deciding(address: &str, model: &ModelId) -> bool {
    let deciding = deciding();
    let deciding = deciding.read();
    let mut keys = deciding.iter();
    keys.any(|(key, _)| key.address == address && key.model == *model)
}

/// A decision in progress.
struct Decision((FieldKey, Output));

impl Decision {
    fn begin(key: FieldKey, output: Output) -> Self {
        let decision = (key, output);
        deciding().update(|deciding| deciding.push(decision.clone()));
        store_undecided();
        Self(decision)
    }

    /// Whether [`forget`] was not called for it meanwhile.
    fn is_wanted(&self) -> bool {
        deciding().read_untracked().contains(&self.0)
    }
}

impl Drop for Decision {
    fn drop(&mut self) {
        deciding().update(|deciding| {
            if let Some(at) = deciding.iter().position(|decision| *decision == self.0) {
                deciding.swap_remove(at);
            }
        });
        store_undecided();
    }
}

/// Whether the address of an output in a field may still be replaced, other than by a running upload; tracked. `key`: the
/// field without an item.
pub fn may_be_replaced(key: &FieldKey) -> bool {
    let (requested, deciding) = (requested(), deciding());
    let is_requested = requested.read().iter().any(|(other, _)| other == key);
    let is_deciding = deciding.read().iter().any(|(other, _)| other == key);
    is_requested || is_deciding
}

/// Replaces the address of an output in a field if necessary, once the field is shown. `key`: the field without an item.
pub fn request_replacement(key: FieldKey, output: Output) {
    requested().update(|requested| requested.push((key, Request::Replace(output))));
    store_undecided();
}

/// Uploads a file for a field once the field is shown. `key`: the field without an item.
pub fn request_upload(key: FieldKey, file: ChosenFile) {
    requested().update(|requested| requested.push((key, Request::Upload(file))));
}

/// Forgets what the fields of the forms of a service have to do, here and in storage: it would be done in the account of
/// another user.
pub fn forget(address: &str) {
    requested().update(|requested| requested.retain(|(key, _)| key.address != address));
    deciding().update(|deciding| deciding.retain(|(key, _)| key.address != address));
    store_undecided();
}

/// Handles [`request_replacement`] and [`request_upload`] for a field as long as it is shown.
pub fn follow_requests(of: &MediaField) {
    let of = of.clone();
    effect(move || {
        let (key, requested) = (of.key(), requested());
        requested.track();
        let is_of_field = |(other, _): &(FieldKey, Request)| *other == key;
        if !requested.read_untracked().iter().any(is_of_field) {
            return;
        }
        let mut own = Vec::new();
        requested.update_untracked(|requested| {
            let all = std::mem::take(requested);
            let (found, others) = all.into_iter().partition(is_of_field);
            (own, *requested) = (found, others);
        });
        untrack(|| {
            for (_, request) in own {
                match request {
                    Request::Replace(output) => of.replace(None, output),
                    Request::Upload(file) => of.accept(vec![file]),
                }
            }
        });
    });
}

/// Remembers which output an upload has put at an address.
pub fn note_uploaded(upload: u32, url: &str) {
    let found = UPLOADING.with_borrow_mut(|uploading| {
        let at = uploading.iter().position(|(id, _)| *id == upload)?;
        Some(uploading.swap_remove(at).1)
    });
    if let Some(output) = found {
        uploaded_outputs::remember(url.to_owned(), output);
    }
}

impl MediaField {
    /// Sets the field to an output, or adds the outputs to a list.
    pub fn use_outputs(&self, outputs: Vec<Output>) {
        // The form may have been removed while the dialog was open.
        if self.field.is_disposed() {
            return;
        }
        if self.is_list() {
            for (item, output) in ListField::new(self).add_outputs(outputs) {
                self.replace(Some(item), output);
            }
        } else if let Some(output) = outputs.into_iter().next() {
            self.field.set_text(output.1.clone());
            self.replace(None, output);
        }
    }

    /// Replaces the address of an output if the service can't use it. Does nothing if the field has changed meanwhile.
    /// `item`: the item of a list, if it is known.
    pub fn replace(&self, item: Option<u32>, (name, url): Output) {
        let of = self.clone();
        // Generate waits for the end of the decision.
        let key = untrack(|| of.key());
        let decision = Decision::begin(key.clone(), (name.clone(), url.clone()));
        spawn(async move {
            let found = replacement(of.all, &name, &url).await;
            let Some(found) = found.filter(|_| decision.is_wanted()) else {
                return;
            };
            // The form was left: it decides again when it is opened again.
            if !of.is_alive() {
                return request_replacement(key, (name, url));
            }
            if of.is_list() {
                let list = ListField::new(&of);
                let item = item.or_else(|| list.item_with(&url));
                if let Some(item) = item.filter(|item| list.has(*item, &url)) {
                    let upload = list.replace(item, found);
                    note_uploading(upload, name);
                }
                return;
            }
            let before = of.field.entry_now();
            if before.as_ref().map(Entry::to_text) != Some(url) {
                return;
            }
            match found {
                Replacement::Data(data) => {
                    uploads::note_delivered(&of.field.parameter.name, &data);
                    of.field.set_text(data);
                }
                Replacement::File(file) => {
                    let key = of.key();
                    uploads::start(of.all, key.clone(), of.media, file, before, String::new());
                    note_uploading(untrack(|| uploads::of_field(&key)).map(|it| it.id), name);
                }
            }
        });
    }
}

fn note_uploading(upload: Option<u32>, output: String) {
    if let Some(id) = upload {
        uploads::mark_automatic(id);
        UPLOADING.with_borrow_mut(|uploading| uploading.push((id, output)));
    }
}

/// Returns what replaces the address of an output; `None` if the address can be used, or if there is no other choice.
async fn replacement(all: Contexts, name: &str, url: &str) -> Option<Replacement> {
    // After a reload, the tasks have to be read first.
    until(move || all.runner.is_open().then_some(())).await;
    let task = output_cache::parse_name(name).and_then(|(key, _)| all.runner.task(&key))?;
    let account = task.with_untracked(|task| task.account.clone());
    let is_stored = stored_output::is_reference(url);
    let is_of_service = account.address == untrack(|| all.session.account()).address;
    let output = OutputFacts {
        is_stored,
        is_of_service,
        is_gone: !is_stored && is_gone(all, url).await,
    };
    if input_source(output, true) == InputSource::Address {
        return None;
    }
    let accepts_uploads = matches!(uploads::known_support(all).await, Support::Yes(_));
    match input_source(output, accepts_uploads) {
        InputSource::Address => None,
        InputSource::Data => {
            let content = all.runner.copy(name).await?;
            Some(Replacement::Data(file::data_url(&content).await?))
        }
        InputSource::Upload => {
            let content = content(all, name, url).await?;
            let media_type = content.type_();
            let name = match is_stored {
                true => {
                    let extension = media_type.split(['/', '+', ';']).nth(1);
                    format!("output.{}", extension.unwrap_or("bin"))
                }
                false => media_list::name(url),
            };
            let file = LocalFile {
                name,
                media_type,
                bytes: content.size() as u64,
                // Files of the same size and name may differ.
                last_modified: None,
            };
            Some(Replacement::File(ChosenFile { file, content }))
        }
    }
}

/// Returns the file of an output: the copy in this browser, or else from its address.
async fn content(all: Contexts, name: &str, url: &str) -> Option<Blob> {
    if let Some(copy) = all.runner.copy(name).await {
        return Some(copy);
    }
    let address = all.session.settings_untracked().address;
    output_file::fetch(url, address.as_str()).await.ok()
}

/// Whether the host of an address replies that there is no such file.
async fn is_gone(all: Contexts, url: &str) -> bool {
    let address = all.session.settings_untracked().address;
    let safe = SafeUrl::media(url, address.as_str());
    let Some(safe) = safe.filter(|safe| safe.is_link()) else {
        return false;
    };
    peek::is_gone(safe.as_str()).await
}

/// Lets outputs that are dragged tell their names, so that another window can use them.
pub fn listen_for_drags() {
    let listener = EventListener::new(&document(), "dragstart", |event| {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let shown = target.and_then(|target| target.closest("[data-output]").ok()?);
        let name = shown.and_then(|shown| shown.get_attribute("data-output"));
        let transfer = event.unchecked_ref::<DragEvent>().data_transfer();
        if let (Some(name), Some(transfer)) = (name, transfer) {
            // Does not fail while a drag starts.
            let _ = transfer.set_data(DRAGGED, &name);
        }
    });
    listener.forget();
}

/// Returns a dragged output if it fits a field, else a message.
///
/// # Errors
///
/// A sentence for the user: the output can't be used in this field.
pub fn dropped_output(of: &MediaField, name: &str) -> Result<Output, String> {
    let found = output_cache::parse_name(name).and_then(|(key, position)| {
        let task = of.all.runner.task(&key)?;
        let task = task.read_untracked();
        let url = task.outputs().get(position)?.clone();
        let kind = task.output_kind(&url);
        Some((url, kind))
    });
    match found {
        Some((url, kind)) if kind == reuse::kind_of(of.media) => Ok((name.to_owned(), url)),
        Some((_, kind)) => Err(format!(
            "This output is of type {}, which {} does not take. Choose another one.",
            kind.word(),
            of.field.parameter.name
        )),
        None => {
            Err("This output is not in the history of this browser. Choose another one.".to_owned())
        }
    }
}
