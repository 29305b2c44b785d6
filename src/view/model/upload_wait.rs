//! Generate waits while a file for the form is uploaded, or while it is not known yet whether one has to be, and submits once
//! when it is done. If the form is left meanwhile, nothing is submitted, and the form says so when it is opened again.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, ModelId, Schema};
use atelier_engine::{Account, Millis};
use atelier_studio::form::media_list::MediaList;
use atelier_studio::form::upload::expiry;
use atelier_studio::form::upload::pending::{
    CHANGED, CHECKING, FormUpload, INTERRUPTED, Pending, RELOADED, newest, newest_chosen, pending,
};
use atelier_studio::form::upload::state::UploadState;
use leptos::html::Form;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use crate::browser::frame::after_frame;
use crate::browser::{clock, press};
use crate::reactive::boxed::{effect, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::media_lists;
use crate::state::uploads::{self, FieldKey, FormFile, Moment};
use crate::state::wait_mark::{self, Interruption};
use crate::view::form::{output_input, sheet};
use crate::view::parts::wait_line::wait_line;

/// The state of a press of Generate while uploads run.
#[derive(Clone, Copy)]
pub struct UploadWait {
    schema: StoredValue<Arc<Schema>>,
    model: StoredValue<ModelId>,
    wait: RwSignal<Wait>,
    /// Whether the files of the form are checked before the next press.
    is_checked: StoredValue<bool>,
    /// What Generate was pressed for.
    pressed: StoredValue<Option<Pressed>>,
    /// Why nothing was submitted after the wait.
    outcome: RwSignal<Option<Outcome>>,
    draft: RwSignal<Draft>,
}

/// What Generate waits for.
#[derive(Clone, PartialEq)]
enum Wait {
    Nothing,
    /// It is not known yet which files the form has to upload.
    Check,
    /// The ids of uploads.
    Uploads(Vec<u32>),
}

/// Why nothing was submitted. It is shown until the user changes the draft or the uploads that have ended.
#[derive(Clone)]
struct Outcome {
    message: String,
    /// The ids of the uploads that had failed or were canceled.
    ended: Vec<u32>,
}

/// The conditions under which Generate was pressed. If they change during the wait, nothing is submitted.
struct Pressed {
    account: Account,
    draft: Draft,
    /// The lists of files by their parameters.
    lists: Vec<(String, MediaList)>,
    /// The id of the newest upload of the form.
    newest: u32,
    at: Moment,
    /// The time of the press.
    time: Millis,
}

/// The key of the mark that Generate waits in a model's form.
fn mark_key(model: &ModelId) -> String {
    format!("atelier.generate-waits.{model}")
}

/// Returns the ids of the uploads that have failed or were canceled.
fn ended(uploads: &[FormUpload]) -> Vec<u32> {
    let has_ended =
        |state: &UploadState| matches!(state, UploadState::Failed { .. } | UploadState::Canceled);
    let ended = uploads.iter().filter(|upload| has_ended(&upload.state));
    ended.map(|upload| upload.id).collect()
}

impl UploadWait {
    pub fn new(model: &ModelId, schema: &Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let interrupted = wait_mark::take(&mark_key(model)).map(|interruption| Outcome {
            message: match interruption {
                Interruption::Left => INTERRUPTED,
                Interruption::Reloaded => RELOADED,
            }
            .to_owned(),
            ended: Vec::new(),
        });
        Self {
            schema: StoredValue::new(schema.clone()),
            model: StoredValue::new(model.clone()),
            wait: RwSignal::new(Wait::Nothing),
            is_checked: StoredValue::new(false),
            pressed: StoredValue::new(None),
            outcome: RwSignal::new(interrupted),
            draft,
        }
    }

    /// Returns the uploads of the form; tracked.
    fn uploads(self) -> Vec<FormUpload> {
        let address = contexts().session.settings().address;
        self.model
            .with_value(|model| uploads::of_form(address.as_str(), model))
    }

    /// Whether the form may still get another file: an output is replaced, or uploads are read; tracked.
    fn is_deciding(self) -> bool {
        let address = contexts().session.settings().address;
        let is_deciding = self
            .model
            .with_value(|model| output_input::is_deciding(address.as_str(), model));
        is_deciding || uploads::is_restoring()
    }

    /// Whether it is not known yet which files the form has to upload; tracked.
    fn is_checking(self) -> bool {
        let address = contexts().session.settings().address;
        let is_checking = self
            .model
            .with_value(|model| uploads::is_checking(address.as_str(), model));
        self.is_deciding() || is_checking
    }

    /// Returns the files in the fields and lists of the form; not tracked.
    fn files(self) -> Vec<FormFile> {
        let address = contexts().session.settings_untracked().address;
        let model = self.model.get_value();
        let schema = self.schema.get_value();
        let key = |parameter: &str, item| FieldKey {
            address: address.to_string(),
            model: model.clone(),
            parameter: parameter.to_owned(),
            item,
            row: None,
        };
        let mut files: Vec<FormFile> = self.draft.with_untracked(|draft| {
            let fields = draft.iter().filter_map(|(name, entry)| {
                let (parameter, _) = schema.parameter(name)?;
                Some(FormFile {
                    key: key(name, None),
                    media: parameter.media()?,
                    entry: entry.clone(),
                })
            });
            fields.collect()
        });
        for (name, list) in media_lists::of_form(address.as_str(), &model) {
            let parameter = schema.parameter(&name);
            let Some(media) = parameter.and_then(|(parameter, _)| parameter.media_list()) else {
                continue;
            };
            let items = list.items().iter().filter_map(|item| {
                Some(FormFile {
                    key: key(&name, Some(item.id)),
                    media,
                    entry: Entry::Text(item.address.clone()?),
                })
            });
            files.extend(items);
        }
        files
    }

    /// Checks the files of the form.
    fn check(self, files: Vec<FormFile>) {
        let draft = self.draft;
        let is_current = move |key: &FieldKey, entry: &Entry| {
            // The form may have been left.
            if draft.is_disposed() {
                return false;
            }
            let Some(item) = key.item else {
                return draft.with_untracked(|draft| draft.get(&key.parameter) == Some(entry));
            };
            let lists = media_lists::of_form(&key.address, &key.model);
            let mut lists = lists.iter().filter(|(name, _)| *name == key.parameter);
            let address = Some(entry.to_text());
            lists.any(|(_, list)| {
                let mut items = list.items().iter();
                items.any(|it| it.id == item && it.address == address)
            })
        };
        uploads::check_form(contexts(), files, is_current);
    }

    /// Decides about Generate; tracked. `waited`: the ids of the uploads that it waits for.
    fn pending(self, waited: &[u32]) -> Pending {
        let newest = self
            .pressed
            .with_value(|pressed| pressed.as_ref().map_or(0, |pressed| pressed.newest));
        pending(waited, newest, &self.uploads())
    }

    /// Whether Generate waits; tracked.
    pub fn is_waiting(self) -> bool {
        *self.wait.read() != Wait::Nothing
    }

    /// Handles a press of Generate. Returns whether it has to wait, or can't submit because a file is not at the service.
    /// `is_valid`: whether the input is valid without these parameters; otherwise there is nothing to wait for.
    pub fn begin(self, is_valid: impl Fn(&[String]) -> bool) -> bool {
        let is_checked = self.is_checked.try_update_value(std::mem::take) == Some(true);
        self.cancel();
        let all = contexts();
        // The reason is shown instead of a wait.
        if untrack(|| all.session.credentials()).is_none() {
            return false;
        }
        if untrack(|| self.is_deciding()) {
            self.start(Wait::Check);
            return true;
        }
        uploads::renew_expired(all, &self.files());
        match untrack(|| self.pending(&[])) {
            Pending::Wait(ids, _) => {
                if !is_valid(&uploads::parameters(&ids)) {
                    return false;
                }
                self.start(Wait::Uploads(ids));
                true
            }
            Pending::Stop(message) => {
                self.stop(message);
                true
            }
            Pending::Submit => is_valid(&[]) && self.wait_for_files(is_checked),
        }
    }

    /// Waits until the files of the form are checked. Returns false if they are, and the service has them.
    fn wait_for_files(self, is_checked: bool) -> bool {
        // A check may fail without a result.
        if !is_checked {
            self.check(self.files());
        }
        if untrack(|| self.is_checking()) {
            self.start(Wait::Check);
            self.is_checked.set_value(true);
            return true;
        }
        let lost = uploads::lost_name(&self.files());
        if let Some(name) = &lost {
            self.stop(expiry::not_sent(name));
        }
        lost.is_some()
    }

    /// Whether Generate waits only until the files of the form are checked, which takes a moment; not tracked.
    pub fn is_checking_files(self) -> bool {
        self.is_checked.get_value() && *self.wait.read_untracked() == Wait::Check
    }

    /// Begins to wait.
    fn start(self, wait: Wait) {
        let account = untrack(|| contexts().session.account());
        let lists = self
            .model
            .with_value(|model| media_lists::of_form(&account.address, model));
        self.pressed.set_value(Some(Pressed {
            account,
            draft: self.draft.get_untracked(),
            lists,
            newest: newest(&untrack(|| self.uploads())),
            at: uploads::moment(),
            time: press::at(),
        }));
        self.model
            .with_value(|model| wait_mark::set(&mark_key(model)));
        self.wait.set(wait);
    }

    /// Ends the wait without a message: the user takes the press back, or clears the form.
    pub fn cancel(self) {
        self.outcome.set(None);
        self.wait.set(Wait::Nothing);
        self.is_checked.set_value(false);
        self.model
            .with_value(|model| wait_mark::take(&mark_key(model)));
    }

    /// Submits the form, or shows why it is not submitted, when the uploads have ended.
    pub fn follow(self, form: NodeRef<Form>) {
        self.follow_changes();
        // On a phone, the form may be folded so that it doesn't show the reason.
        effect(move || {
            if self.outcome.read().is_some() {
                after_frame(move || {
                    if let Some(form) = form.try_get_untracked().flatten() {
                        sheet::show_problems(&form);
                    }
                });
            }
        });
        effect(move || {
            let wait = self.wait.get();
            let waited = match &wait {
                Wait::Nothing => return,
                Wait::Check => None,
                Wait::Uploads(ids) => Some(ids),
            };
            if self.is_checking() {
                return;
            }
            match waited.map_or(Pending::Submit, |ids| self.pending(ids)) {
                // The page may have started further uploads.
                Pending::Wait(ids, _) if waited != Some(&ids) => self.wait.set(Wait::Uploads(ids)),
                Pending::Wait(..) => {}
                Pending::Stop(message) => self.stop(message),
                Pending::Submit if self.has_changed(waited) || has_typed_address() => {
                    self.stop(CHANGED.to_owned());
                }
                Pending::Submit => {
                    self.wait.set(Wait::Nothing);
                    // A check may end between the clicks of a double click. After an upload, a click may be meant for the task
                    // that is being submitted.
                    let time = self
                        .pressed
                        .with_value(|pressed| pressed.as_ref().map(|pressed| pressed.time))
                        .filter(|_| wait == Wait::Check)
                        .unwrap_or_else(clock::now);
                    // Later, because signals that are created in an effect are disposed with it.
                    spawn(async move {
                        if let Some(form) = form.try_get_untracked().flatten() {
                            press::with_time(time, || drop(form.request_submit()));
                        }
                    });
                }
            }
        });
    }

    /// Removes the message when the user changes what it is about.
    fn follow_changes(self) {
        let before = StoredValue::new((self.draft.get_untracked(), uploads::moment()));
        effect(move || {
            let now = self.draft.get();
            let (earlier, at) = before.get_value();
            if !at.has_only_deliveries(&earlier, &now) && self.outcome.read_untracked().is_some() {
                self.outcome.set(None);
            }
            before.set_value((now, uploads::moment()));
        });
        effect(move || {
            let ended = ended(&self.uploads());
            let is_resolved = self.outcome.with_untracked(|outcome| {
                let mut failed = outcome.iter().flat_map(|outcome| &outcome.ended);
                failed.any(|id| !ended.contains(id))
            });
            if is_resolved {
                self.outcome.set(None);
            }
        });
    }

    /// Ends the wait without submitting.
    fn stop(self, message: String) {
        self.cancel();
        let ended = ended(&untrack(|| self.uploads()));
        self.outcome.set(Some(Outcome { message, ended }));
    }

    /// Whether the account, the values or the lists have changed since Generate was pressed, other than by uploads, or the
    /// file of an upload is not in its field. `waited`: the ids of the uploads.
    fn has_changed(self, waited: Option<&Vec<u32>>) -> bool {
        let account = untrack(|| contexts().session.account());
        let uploads = untrack(|| self.uploads());
        let lists = self
            .model
            .with_value(|model| media_lists::of_form(&account.address, model));
        let is_delivered = self.draft.with_untracked(|draft| {
            waited.is_none_or(|waited| uploads::are_delivered(waited, draft))
        });
        self.pressed.with_value(|pressed| {
            let Some(pressed) = pressed else { return true };
            let is_same_list = |(name, before): &(String, MediaList)| {
                let now = lists.iter().find(|(other, _)| other == name);
                now.is_some_and(|(_, now)| pressed.at.has_same_list(name, before, now))
            };
            let is_same_draft = self
                .draft
                .with_untracked(|draft| pressed.at.has_only_deliveries(&pressed.draft, draft));
            let has_new_file = newest_chosen(&uploads) > pressed.newest;
            let is_same = account == pressed.account
                && is_same_draft
                && !has_new_file
                && pressed.lists.iter().all(is_same_list);
            !is_same || !is_delivered
        })
    }

    /// The message while Generate waits, with a button that takes the press back, and the reason why nothing was submitted.
    pub fn view(self) -> AnyView {
        let is_waiting = when(move || self.is_waiting());
        let message = text(move || match self.wait.get() {
            Wait::Nothing => {
                let outcome = self.outcome.get();
                outcome.map(|outcome| outcome.message).unwrap_or_default()
            }
            Wait::Check => CHECKING.to_owned(),
            Wait::Uploads(ids) => match self.pending(&ids) {
                Pending::Wait(_, message) => message,
                Pending::Submit if self.is_checking() => CHECKING.to_owned(),
                Pending::Submit | Pending::Stop(_) => String::new(),
            },
        });
        wait_line(message, is_waiting, move || self.cancel())
    }
}

/// Whether the user has typed an address for a list, which is not part of it yet. When Generate was pressed, there was none.
fn has_typed_address() -> bool {
    let fields = document().get_elements_by_class_name("media-address");
    let fields = (0..fields.length()).filter_map(|at| fields.item(at));
    let mut inputs = fields.filter_map(|field| {
        let input = field.query_selector("input").ok().flatten()?;
        input.dyn_into().ok()
    });
    inputs.any(|input: HtmlInputElement| {
        let is_hidden = input.closest("[hidden]").is_ok_and(|it| it.is_some());
        !is_hidden && !input.value().trim().is_empty()
    })
}
