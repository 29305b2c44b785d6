//! Generate waits while a file for the form is uploaded, and submits once when it is done. If the form is left meanwhile,
//! nothing is submitted, and the form says so when it is opened again.

use std::cell::RefCell;

use atelier_contract::{Draft, ModelId, json};
use atelier_engine::Account;
use atelier_studio::form::upload::pending::{
    CHANGED, FormUpload, INTERRUPTED, Pending, newest, pending,
};
use leptos::html::Form;
use leptos::prelude::*;

use crate::browser::frame::after_frame;
use crate::browser::local::LocalStore;
use crate::browser::press;
use crate::reactive::boxed::{effect, handler, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::uploads;
use crate::view::form::sheet;
use crate::view::parts::focus;

/// The state of a press of Generate while uploads run.
#[derive(Clone, Copy)]
pub struct UploadWait {
    model: StoredValue<ModelId>,
    /// The ids of the uploads that Generate waits for; empty if it doesn't wait.
    waited: RwSignal<Vec<u32>>,
    /// What Generate was pressed for.
    pressed: StoredValue<Option<Pressed>>,
    /// Why nothing was submitted after the wait.
    outcome: RwSignal<Option<Outcome>>,
    draft: RwSignal<Draft>,
}

/// Why nothing was submitted. It applies until the draft changes in other parameters than those that were uploaded.
#[derive(Clone)]
struct Outcome {
    message: String,
    parameters: Vec<String>,
    draft: Draft,
}

impl Outcome {
    fn new(message: String, draft: &Draft, parameters: Vec<String>) -> Self {
        Self {
            message,
            draft: without(draft, &parameters),
            parameters,
        }
    }
}

/// The conditions under which Generate was pressed. If they change during the wait, nothing is submitted.
#[derive(Clone, PartialEq)]
struct Pressed {
    account: Account,
    /// The draft without the parameters that are uploaded.
    draft: Draft,
    /// The parameters that are uploaded.
    parameters: Vec<String>,
    /// The id of the newest upload of the form.
    newest: u32,
}

impl Pressed {
    fn new(draft: &Draft, parameters: Vec<String>, newest: u32) -> Self {
        Self {
            newest,
            account: untrack(|| contexts().session.account()),
            draft: without(draft, &parameters),
            parameters,
        }
    }
}

/// Returns a draft without these parameters.
fn without(draft: &Draft, parameters: &[String]) -> Draft {
    let mut draft = draft.clone();
    for parameter in parameters {
        draft.reset(parameter);
    }
    draft
}

thread_local! {
    /// Marks that could not be stored, as for [`set_mark`].
    static UNSTORED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Marks that Generate waits for the uploads of these parameters in a model's form, until it is submitted or the wait ends.
/// The mark survives a reload.
fn set_mark(model: &ModelId, parameters: &[String]) {
    let (key, text) = (mark_key(model), json::encode(&parameters).to_string());
    if !LocalStore::Tab.write(&key, &text) {
        UNSTORED.with_borrow_mut(|unstored| unstored.push((key, text)));
    }
}

/// Removes the mark, and returns the parameters.
fn take_mark(model: &ModelId) -> Option<Vec<String>> {
    let key = mark_key(model);
    let stored = LocalStore::Tab.read(&key);
    LocalStore::Tab.remove(&key);
    let unstored = UNSTORED.with_borrow_mut(|unstored| {
        let at = unstored.iter().position(|(other, _)| *other == key)?;
        Some(unstored.remove(at).1)
    });
    json::decode(json::read(&stored.or(unstored)?)?)
}

fn mark_key(model: &ModelId) -> String {
    format!("atelier.generate-waits.{model}")
}

impl UploadWait {
    pub fn new(model: &ModelId, draft: RwSignal<Draft>) -> Self {
        let interrupted = take_mark(model).map(|parameters| {
            let message = INTERRUPTED.to_owned();
            draft.with_untracked(|draft| Outcome::new(message, draft, parameters))
        });
        Self {
            model: StoredValue::new(model.clone()),
            waited: RwSignal::new(Vec::new()),
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

    /// Decides about Generate; tracked.
    fn pending(self) -> Pending {
        let pressed = self.pressed.get_value();
        let newest = pressed.map_or(0, |pressed| pressed.newest);
        pending(&self.waited.read(), newest, &self.uploads())
    }

    /// Whether Generate waits; tracked.
    pub fn is_waiting(self) -> bool {
        !self.waited.read().is_empty()
    }

    /// Handles a press of Generate. Returns whether it has to wait, or can't submit because a file of a list was not uploaded. `is_valid`: whether the input is valid without these
    /// parameters; otherwise there is nothing to wait for.
    pub fn begin(self, is_valid: impl FnOnce(&[String]) -> bool) -> bool {
        self.cancel();
        let all = contexts();
        // The reason is shown instead of a wait.
        if untrack(|| all.session.credentials()).is_none() {
            return false;
        }
        let address = all.session.settings_untracked().address;
        self.model.with_value(|model| {
            self.draft.with_untracked(|draft| {
                uploads::renew_expired(all, address.as_str(), model, draft);
            });
        });
        match untrack(|| self.pending()) {
            Pending::Wait(ids, _) => {
                let parameters = uploads::parameters(&ids);
                if !is_valid(&parameters) {
                    return false;
                }
                let newest = newest(&untrack(|| self.uploads()));
                self.model.with_value(|model| set_mark(model, &parameters));
                let pressed = self
                    .draft
                    .with_untracked(|draft| Pressed::new(draft, parameters, newest));
                self.pressed.set_value(Some(pressed));
                self.waited.set(ids);
                true
            }
            Pending::Stop(message) => {
                self.stop(message);
                true
            }
            Pending::Submit => false,
        }
    }

    /// Ends the wait without a message: the user takes the press back, or clears the form.
    pub fn cancel(self) {
        self.outcome.set(None);
        self.waited.set(Vec::new());
        self.model.with_value(take_mark);
    }

    /// Submits the form, or shows why it is not submitted, when the uploads have ended.
    pub fn follow(self, form: NodeRef<Form>) {
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
            if self.waited.read().is_empty() {
                return;
            }
            match self.pending() {
                Pending::Wait(..) => {}
                Pending::Stop(message) => self.stop(message),
                Pending::Submit if self.has_changed() => self.stop(CHANGED.to_owned()),
                Pending::Submit => {
                    self.waited.set(Vec::new());
                    press::forget();
                    // Later, because signals that are created in an effect are disposed with it.
                    spawn(async move {
                        if let Some(form) = form.try_get_untracked().flatten() {
                            let _ = form.request_submit();
                        }
                    });
                }
            }
        });
    }

    /// Ends the wait without submitting.
    fn stop(self, message: String) {
        self.cancel();
        let pressed = self.pressed.get_value();
        let parameters = pressed.map(|pressed| pressed.parameters);
        let outcome = self
            .draft
            .with_untracked(|draft| Outcome::new(message, draft, parameters.unwrap_or_default()));
        self.outcome.set(Some(outcome));
    }

    /// Whether the account or other parameters have changed since Generate was pressed, or the file of an upload is not in
    /// its field.
    fn has_changed(self) -> bool {
        self.pressed.with_value(|pressed| {
            pressed.as_ref().is_none_or(|pressed| {
                let parameters = pressed.parameters.clone();
                let now = self
                    .draft
                    .with_untracked(|draft| Pressed::new(draft, parameters, pressed.newest));
                let waited = self.waited.read_untracked();
                let are_delivered = self
                    .draft
                    .with_untracked(|draft| uploads::are_delivered(&waited, draft));
                now != *pressed || !are_delivered
            })
        })
    }

    /// The message while Generate waits, with a button that takes the press back, and the reason why nothing was submitted.
    pub fn view(self) -> AnyView {
        let is_waiting = when(move || !self.waited.read().is_empty());
        let message = text(move || match is_waiting.get() {
            true => match self.pending() {
                Pending::Wait(_, message) => message,
                Pending::Submit | Pending::Stop(_) => String::new(),
            },
            false => {
                let outcome = self.outcome.get();
                let outcome = outcome.filter(|outcome| {
                    without(&self.draft.read(), &outcome.parameters) == outcome.draft
                });
                outcome.map(|outcome| outcome.message).unwrap_or_default()
            }
        });
        let cancel = move |_: leptos::ev::MouseEvent| {
            self.cancel();
            focus::when_lost(|| {
                focus::to_without_scrolling(".form-foot .primary");
            });
        };
        view! {
            <div class="upload-wait" class:visually-hidden=when(move || message.read().is_empty())>
                <p role="status" class:problem=when(move || !is_waiting.get()) prop:textContent=message></p>
                <button
                    class="button small"
                    type="button"
                    hidden=when(move || !is_waiting.get())
                    on:click=handler(cancel)
                >
                    "Cancel"
                </button>
            </div>
        }
        .into_any()
    }
}
