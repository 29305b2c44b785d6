//! The form's input as a JSON text, kept in step with the form through the last text that was an object.

use std::sync::Arc;

use atelier_contract::{Draft, Schema};
use atelier_engine::input_json;
use leptos::prelude::*;

use crate::boxed::{dynamic, effect, handler, text, when};
use crate::browser::local::LocalStore;
use crate::view::parts::segment::segment;

/// How the input is written.
#[derive(Clone, Copy)]
pub struct InputJson {
    pub is_shown: RwSignal<bool>,
    text: RwSignal<String>,
    /// What is wrong with the text; what the form holds is the last that was right.
    problem: RwSignal<Option<String>>,
    /// What the text has given.
    read: RwSignal<Option<Draft>>,
    /// Where a text stands that is no object yet, for as long as the tab is open.
    place: StoredValue<String>,
}

impl InputJson {
    /// A text that was no object yet when its page went is there again.
    pub fn follow(schema: Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let place = format!("atelier.json.{}", schema.model);
        let unread = LocalStore::Tab.read(&place);
        let problem = unread
            .as_deref()
            .and_then(|text| input_json::read(text).err());
        let this = Self {
            is_shown: RwSignal::new(problem.is_some()),
            text: RwSignal::new(unread.unwrap_or_default()),
            problem: RwSignal::new(problem),
            read: RwSignal::new(None),
            place: StoredValue::new(place),
        };
        effect(move || {
            if !this.is_shown.get() {
                return;
            }
            let draft = draft.read();
            // What the person is writing is left as it is written.
            let is_writing = this.problem.read().is_some();
            if !is_writing && this.read.read_untracked().as_ref() != Some(&*draft) {
                this.text.set(input_json::write(&draft, &schema));
                this.read.set(Some(draft.clone()));
            }
        });
        this
    }

    /// What keeps this text from being sent, if it is what the person sees.
    pub fn problem_untracked(&self) -> Option<String> {
        let is_shown = self.is_shown.get_untracked();
        self.problem.get_untracked().filter(|_| is_shown)
    }

    /// The text is no longer one that can't be read.
    fn clear_problem(self) {
        LocalStore::Tab.remove(&self.place.get_value());
        self.problem.set(None);
    }

    /// The choice between the two ways.
    pub fn choice(self) -> AnyView {
        let way = |label: &'static str, is_json: bool| {
            let is_chosen = when(move || self.is_shown.get() == is_json);
            segment("input-as", label, is_chosen, move || {
                self.is_shown.set(is_json)
            })
        };
        view! {
            <div class="segments small" role="radiogroup" aria-label="Write the input as">
                {way("Form", false)}
                {way("JSON", true)}
            </div>
        }
        .into_any()
    }

    /// The text, while it is what the person sees.
    pub fn view(self, schema: &Schema, draft: RwSignal<Draft>) -> AnyView {
        let names: Vec<&str> = schema
            .parameters()
            .map(|(parameter, _)| parameter.name.as_str())
            .collect();
        let hint = match names.as_slice() {
            [] => "This model takes no parameters.".to_owned(),
            names => format!(
                "What is left out keeps its default. Parameters: {}.",
                names.join(", ")
            ),
        };
        dynamic(move || {
            if self.is_shown.get() {
                self.field(hint.clone(), draft)
            } else {
                ().into_any()
            }
        })
    }

    fn field(self, hint: String, draft: RwSignal<Draft>) -> AnyView {
        let write = move |event| {
            let typed = event_target_value(&event);
            match input_json::read(&typed) {
                Ok(read) => {
                    self.read.set(Some(read.clone()));
                    draft.set(read);
                    self.clear_problem();
                }
                Err(problem) => {
                    // Where it is not kept, it lasts until the page is left.
                    LocalStore::Tab.write(&self.place.get_value(), &typed);
                    self.problem.set(Some(problem));
                }
            }
            self.text.set(typed);
        };
        let back = move |_| {
            self.read.set(None);
            self.clear_problem();
        };
        view! {
            <div class="field">
                <label class="label" for="input-json">
                    "Input as JSON"
                </label>
                <textarea
                    id="input-json"
                    class="mono"
                    rows="12"
                    spellcheck="false"
                    aria-describedby="input-json-hint input-json-problem"
                    aria-invalid=text(move || self.problem.read().is_some().to_string())
                    prop:value=self.text
                    on:input=handler(write)
                ></textarea>
                <p class="hint" id="input-json-hint">
                    {hint}
                </p>
                <p class="problem" id="input-json-problem" role="status">
                    {text(move || self.problem.get().unwrap_or_default())}
                </p>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || self.problem.read().is_none())
                    on:click=handler(back)
                >
                    "Back to what the form holds"
                </button>
            </div>
        }
        .into_any()
    }
}
