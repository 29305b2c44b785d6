//! The form's input as a JSON text, kept in step with the form through the last text that was an object.

use std::sync::Arc;

use atelier_contract::{Draft, Schema};
use atelier_studio::form::input_json;
use atelier_studio::form::parameter_name::names_secret;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::browser::{editing, pointer};
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::secrets;
use crate::view::form::{field, unknown_names};
use crate::view::parts::focus;
use crate::view::parts::segment::segment;

/// How the input is written.
#[derive(Clone, Copy)]
pub struct InputJson {
    is_shown: RwSignal<bool>,
    text: RwSignal<String>,
    /// What is wrong with the text; what the form holds is the last that was right.
    problem: RwSignal<Option<String>>,
    /// The person has left the text: from now on what is wrong with its values shows.
    is_left: RwSignal<bool>,
    /// What is wrong with them, and said; empty if nothing is.
    mistakes: Memo<String>,
    /// What the text has given.
    read: RwSignal<Option<Draft>>,
    /// Where a text stands that is no object yet, for as long as the tab is open.
    place: StoredValue<String>,
    /// Where it stands, for as long, that the input is written as JSON.
    way_place: StoredValue<String>,
}

impl InputJson {
    /// A text that was no object yet when its page went is there again, until the form is changed. To be called before
    /// anything comes into the form from elsewhere.
    pub fn follow(schema: Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let place = format!("atelier.json.{}", schema.model);
        let way_place = format!("atelier.input_as.{}", schema.model);
        let unread = LocalStore::Tab.read(&place);
        let problem = unread
            .as_deref()
            .and_then(|text| input_json::read(text).err());
        let before = problem.is_some().then(|| draft.get_untracked());
        let is_left = RwSignal::new(false);
        let mistakes = memo({
            let schema = schema.clone();
            move || match is_left.get() {
                true => input_json::mistakes(&draft.read(), &schema).join(" "),
                false => String::new(),
            }
        });
        let this = Self {
            is_shown: RwSignal::new(LocalStore::Tab.read(&way_place).is_some()),
            text: RwSignal::new(unread.unwrap_or_default()),
            problem: RwSignal::new(problem),
            is_left,
            mistakes,
            read: RwSignal::new(before),
            place: StoredValue::new(place),
            way_place: StoredValue::new(way_place),
        };
        effect(move || {
            let is_shown = this.is_shown.get();
            let draft = draft.read();
            let is_broken = this.problem.read().is_some();
            // What the person is writing is left as it is written.
            if this.read.read_untracked().as_ref() == Some(&*draft) {
                return;
            }
            if is_broken {
                this.clear_problem();
            }
            this.read.set(is_shown.then(|| draft.clone()));
            if is_shown {
                this.text.set(input_json::write(&draft, &schema));
            }
        });
        this
    }

    /// Whether the text, which is what the person sees, can't be read; tracked.
    pub fn is_broken(self) -> bool {
        self.is_shown.get() && self.problem.read().is_some()
    }

    /// Whether it is said below the text, which is what the person sees, why it can't be sent; tracked.
    pub fn says_why(self) -> bool {
        self.is_broken() || self.is_shown.get() && !self.mistakes.read().is_empty()
    }

    /// It was to be sent: what is wrong with its values is said.
    pub fn judge(self) {
        if self.is_shown.get_untracked() {
            self.is_left.set(true);
        }
    }

    /// The form was emptied: nothing is wrong with its text yet.
    pub fn begin_anew(self) {
        self.is_left.set(false);
    }

    /// What is wrong with the text stands there, and nowhere else.
    pub fn focus(self) {
        field::focus(field::JSON_ID);
    }

    /// The way there, from beside what would send it.
    pub fn link(self) -> AnyView {
        let press = move |event: web_sys::MouseEvent| {
            event.prevent_default();
            self.focus();
        };
        view! {
            <a href=format!("#{}", field::JSON_ID) rel="external" on:click=handler(press)>
                "The JSON needs a look"
            </a>
        }
        .into_any()
    }

    /// The text is no longer one that can't be read.
    fn clear_problem(self) {
        LocalStore::Tab.remove(&self.place.get_value());
        self.problem.set(None);
    }

    /// The choice outlasts this page: nobody who chose the form is to meet a text there.
    pub fn choose(self, is_json: bool) {
        let place = self.way_place.get_value();
        // Where it is not kept, it lasts until the page is left.
        if is_json {
            LocalStore::Tab.write(&place, "json");
        } else {
            LocalStore::Tab.remove(&place);
        }
        self.is_shown.set(is_json);
    }

    /// Whether the person sees the text, and not the form; tracked.
    pub fn is_shown(self) -> bool {
        self.is_shown.get()
    }

    /// The choice between the two ways.
    pub fn choice(self) -> AnyView {
        let way = |label: &'static str, is_json: bool| {
            let is_chosen = when(move || self.is_shown.get() == is_json);
            segment("input-as", label, is_chosen, move || {
                self.choose(is_json);
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
    pub fn view(self, schema: &Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
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
        let schema = schema.clone();
        dynamic(move || {
            if self.is_shown.get() {
                let mending = self.mending(schema.clone(), draft);
                self.field(hint.clone(), schema.clone(), draft, mending)
            } else {
                ().into_any()
            }
        })
    }

    /// What becomes of names that the model does not know, each at one press.
    fn mending(self, schema: Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
        let unknown = memo({
            let schema = schema.clone();
            move || match self.is_left.get() && self.problem.read().is_none() {
                true => input_json::unknown(&draft.read(), &schema),
                false => Vec::new(),
            }
        });
        let mend = StoredValue::new(move |name: &str, to: Option<&str>| {
            let mended = input_json::renamed(&draft.get_untracked(), name, to);
            let text = input_json::write(&mended, &schema);
            // As typed it is read, too.
            if !field::element(field::JSON_ID).is_some_and(|area| editing::replace(&area, &text)) {
                self.read.set(Some(mended.clone()));
                self.text.set(text);
                draft.set(mended);
                focus::once_lost(move || self.focus());
            }
        });
        let mend = Callback::new(move |(name, to): (String, Option<String>)| {
            mend.with_value(|mend| mend(&name, to.as_deref()));
        });
        unknown_names(unknown, mend)
    }

    fn field(
        self,
        hint: String,
        schema: Arc<Schema>,
        draft: RwSignal<Draft>,
        mending: AnyView,
    ) -> AnyView {
        let wrong = text(move || self.problem.get().unwrap_or_else(|| self.mistakes.get()));
        let session = contexts().session;
        let write = move |event| {
            let typed = event_target_value(&event);
            match input_json::read(&typed) {
                Ok(mut read) => {
                    secrets::take_from(session, &mut read, &schema);
                    self.read.set(Some(read.clone()));
                    draft.set(read);
                    self.clear_problem();
                }
                Err(problem) => {
                    // Where it is not kept, it lasts until the page is left. One that names a secret may hold it.
                    if !names_secret(&typed, &schema) {
                        LocalStore::Tab.write(&self.place.get_value(), &typed);
                    }
                    self.problem.set(Some(problem));
                }
            }
            self.text.set(typed);
        };
        // The text may go with its page while it has the focus.
        // What is said then moves Generate, which may be what is being pressed.
        let leave = move |_: web_sys::FocusEvent| {
            pointer::once_up(move || {
                self.is_left.try_set(true);
            });
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
                    aria-invalid=text(move || (!wrong.read().is_empty()).to_string())
                    prop:value=self.text
                    on:input=handler(write)
                    on:blur=handler(leave)
                ></textarea>
                <p class="hint" id="input-json-hint">
                    {hint}
                </p>
                <p class="problem" id="input-json-problem" role="status">
                    {wrong}
                </p>
                {mending}
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
