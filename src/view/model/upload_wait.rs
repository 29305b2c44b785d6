//! Generate waits while a file for the form is uploaded, and submits once when it is done.

use atelier_contract::{Draft, ModelId};
use atelier_engine::Account;
use atelier_studio::form::upload::pending::{Pending, pending};
use leptos::html::Form;
use leptos::prelude::*;

use crate::browser::press;
use crate::reactive::boxed::{effect, handler, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::uploads;
use crate::view::parts::focus;

/// The state of a press of Generate while uploads run.
#[derive(Clone, Copy)]
pub struct UploadWait {
    model: StoredValue<ModelId>,
    /// The ids of the uploads that Generate waits for; empty if it doesn't wait.
    waited: RwSignal<Vec<u32>>,
    /// What Generate was pressed for.
    pressed: StoredValue<Option<Pressed>>,
    /// Why nothing was submitted after the wait, and the draft to which that applies.
    outcome: RwSignal<Option<(String, Draft)>>,
    draft: RwSignal<Draft>,
}

/// The conditions under which Generate was pressed. If they change during the wait, nothing is submitted.
#[derive(Clone, PartialEq)]
struct Pressed {
    account: Account,
    /// The draft without the parameters that are uploaded.
    draft: Draft,
    /// The parameters that are uploaded.
    parameters: Vec<String>,
}

impl Pressed {
    fn new(draft: &Draft, parameters: Vec<String>) -> Self {
        let mut draft = draft.clone();
        for parameter in &parameters {
            draft.reset(parameter);
        }
        Self {
            account: untrack(|| contexts().session.account()),
            draft,
            parameters,
        }
    }
}

impl UploadWait {
    pub fn new(model: &ModelId, draft: RwSignal<Draft>) -> Self {
        Self {
            model: StoredValue::new(model.clone()),
            waited: RwSignal::new(Vec::new()),
            pressed: StoredValue::new(None),
            outcome: RwSignal::new(None),
            draft,
        }
    }

    /// Decides about Generate; tracked.
    fn pending(self) -> Pending {
        let address = contexts().session.settings_untracked().address;
        let uploads = self
            .model
            .with_value(|model| uploads::of_form(address.as_str(), model));
        pending(&self.waited.read(), &uploads)
    }

    /// Handles a press of Generate. Returns whether it has to wait, or can't submit because of a failed upload.
    pub fn begin(self) -> bool {
        self.outcome.set(None);
        self.waited.set(Vec::new());
        match untrack(|| self.pending()) {
            Pending::Wait(ids, _) => {
                let parameters = uploads::parameters(&ids);
                let pressed = self
                    .draft
                    .with_untracked(|draft| Pressed::new(draft, parameters));
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

    /// Submits the form, or shows why it is not submitted, when the uploads have ended.
    pub fn follow(self, form: NodeRef<Form>) {
        effect(move || {
            if self.waited.read().is_empty() {
                return;
            }
            match self.pending() {
                Pending::Wait(ids, _) => {
                    if ids != *self.waited.read_untracked() {
                        self.waited.set(ids);
                    }
                }
                Pending::Stop(message) => self.stop(message),
                Pending::Submit if self.has_changed() => self.stop(
                    "Not sent: the form or the account changed during the upload. Press Generate again."
                        .to_owned(),
                ),
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
        self.waited.set(Vec::new());
        let draft = self.draft.get_untracked();
        self.outcome.set(Some((message, draft)));
    }

    /// Whether the account or other parameters have changed since Generate was pressed.
    fn has_changed(self) -> bool {
        self.pressed.with_value(|pressed| {
            pressed.as_ref().is_none_or(|pressed| {
                let parameters = pressed.parameters.clone();
                let now = self
                    .draft
                    .with_untracked(|draft| Pressed::new(draft, parameters));
                now != *pressed
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
                let outcome = outcome.filter(|(_, draft)| *self.draft.read() == *draft);
                outcome.map(|(message, _)| message).unwrap_or_default()
            }
        });
        let cancel = move |_: leptos::ev::MouseEvent| {
            self.waited.set(Vec::new());
            focus::when_lost(|| {
                focus::to_without_scrolling(".form-foot .primary");
            });
        };
        view! {
            <div class="upload-wait" hidden=when(move || message.read().is_empty())>
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
