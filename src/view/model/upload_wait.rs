//! Generate waits while a file for the form is uploaded, and submits once when it is done.

use atelier_contract::{Draft, ModelId};
use atelier_studio::form::upload::pending::{Pending, pending};
use leptos::html::Form;
use leptos::prelude::*;

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
    /// Why nothing was submitted after the wait, and the draft to which that applies.
    outcome: RwSignal<Option<(String, Draft)>>,
    draft: RwSignal<Draft>,
}

impl UploadWait {
    pub fn new(model: &ModelId, draft: RwSignal<Draft>) -> Self {
        Self {
            model: StoredValue::new(model.clone()),
            waited: RwSignal::new(Vec::new()),
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

    /// Handles a press of Generate. Returns whether it has to wait.
    pub fn begin(self) -> bool {
        self.outcome.set(None);
        self.waited.set(Vec::new());
        match untrack(|| self.pending()) {
            Pending::Wait(ids, _) => {
                self.waited.set(ids);
                true
            }
            Pending::Submit | Pending::Stop(_) => false,
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
                Pending::Stop(message) => {
                    self.waited.set(Vec::new());
                    let draft = self.draft.get_untracked();
                    self.outcome.set(Some((message, draft)));
                }
                Pending::Submit => {
                    self.waited.set(Vec::new());
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
