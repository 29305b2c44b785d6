//! The form's input as a JSON text, kept in step with the form through the last text that was an object.

use std::sync::Arc;

use atelier_contract::{Draft, Schema};
use atelier_studio::form::input_json::{self, InvalidText};
use atelier_studio::form::parameter_name::names_secret;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::browser::{editing, pointer};
use crate::reactive::boxed::{derived, dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::secrets;
use crate::view::form::{field, unknown_names};
use crate::view::parts::focus;
use crate::view::parts::segment::segment;

/// The element id of what is said above the fields while the text can't be read.
const NOTICE_ID: &str = "unread-json";

/// How the input is written.
#[derive(Clone, Copy)]
pub struct InputJson {
    is_shown: RwSignal<bool>,
    text: RwSignal<String>,
    /// The text can't be read. It is kept, and nothing is sent, until the person repairs or discards it.
    unread: RwSignal<Option<InvalidText>>,
    /// The person has left the text: from now on what is wrong with its values shows.
    is_left: RwSignal<bool>,
    /// What is wrong with them, and said; empty if nothing is.
    mistakes: Memo<String>,
    /// What the text has given, or what the form held when the text was last compared with it.
    read: RwSignal<Option<Draft>>,
    /// Where a text stands that is no object yet, for as long as the tab is open.
    place: StoredValue<String>,
    /// Where it stands, for as long, that the form was changed since.
    newer_place: StoredValue<String>,
    /// Where it stands, for as long, that the input is written as JSON.
    way_place: StoredValue<String>,
}

impl InputJson {
    /// A text that was no object yet when its page went is there again. To be called before anything comes into the form
    /// from elsewhere.
    pub fn follow(schema: Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let place = format!("atelier.json.{}", schema.model);
        let newer_place = format!("atelier.json_older_than_form.{}", schema.model);
        let way_place = format!("atelier.input_as.{}", schema.model);
        let kept = LocalStore::Tab.read(&place);
        let problem = kept
            .as_deref()
            .and_then(|text| input_json::read(text).err());
        let unread = problem.map(|problem| InvalidText {
            problem,
            is_form_newer: LocalStore::Tab.read(&newer_place).is_some(),
        });
        let before = unread.is_some().then(|| draft.get_untracked());
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
            text: RwSignal::new(kept.unwrap_or_default()),
            unread: RwSignal::new(unread),
            is_left,
            mistakes,
            read: RwSignal::new(before),
            place: StoredValue::new(place),
            newer_place: StoredValue::new(newer_place),
            way_place: StoredValue::new(way_place),
        };
        effect(move || {
            let is_shown = this.is_shown.get();
            let draft = draft.read();
            let is_unread = this.unread.read().is_some();
            // What the person is writing is left as it is written.
            if this.read.read_untracked().as_ref() == Some(&*draft) {
                return;
            }
            // So is what can't be read.
            if is_unread && this.read.read_untracked().is_some() {
                this.read.set(Some(draft.clone()));
                this.note_newer_form();
                return;
            }
            this.read.set(is_shown.then(|| draft.clone()));
            if is_shown {
                this.text.set(input_json::write(&draft, &schema));
            }
        });
        this
    }

    /// Whether the form shows values other than those of the text, which can't be read; tracked.
    pub fn is_hidden_unread(self) -> bool {
        !self.is_shown.get() && self.unread.read().is_some()
    }

    /// Whether it is said below the text or above the fields why the input can't be sent; tracked.
    pub fn says_why(self) -> bool {
        self.unread.read().is_some() || self.is_shown.get() && !self.mistakes.read().is_empty()
    }

    /// It was to be sent: what is wrong with its values is said.
    pub fn judge(self) {
        if self.is_shown.get_untracked() {
            self.is_left.set(true);
        }
    }

    /// The form was emptied, and with it the text if that is what the person sees: nothing is wrong with it yet.
    pub fn begin_anew(self) {
        self.is_left.set(false);
        if self.is_shown.get_untracked() {
            self.discard();
        }
    }

    /// What is wrong with the text stands there, and nowhere else.
    pub fn focus(self) {
        match self.is_shown.get_untracked() {
            true => field::focus(field::JSON_ID),
            // A folded form opens first.
            false => request_animation_frame(|| {
                focus::to(&format!("#{NOTICE_ID}"));
            }),
        }
    }

    /// The way there, from beside what would send it.
    pub fn link(self) -> AnyView {
        let press = move |event: web_sys::MouseEvent| {
            event.prevent_default();
            self.focus();
        };
        view! {
            <a
                href=text(move || {
                    format!("#{}", if self.is_shown.get() { field::JSON_ID } else { NOTICE_ID })
                })
                rel="external"
                on:click=handler(press)
            >
                "The JSON needs a look"
            </a>
        }
        .into_any()
    }

    /// The text is no longer one that can't be read.
    fn clear_unread(self) {
        LocalStore::Tab.remove(&self.place.get_value());
        LocalStore::Tab.remove(&self.newer_place.get_value());
        self.unread.set(None);
    }

    /// What the form holds takes the place of the text.
    fn discard(self) {
        self.read.set(None);
        self.clear_unread();
    }

    /// Other values have come into the form than those that the text was written over.
    fn note_newer_form(self) {
        // Where it is not kept, it lasts until the page is left.
        LocalStore::Tab.write(&self.newer_place.get_value(), "newer");
        self.unread.update(|unread| {
            if let Some(unread) = unread {
                unread.is_form_newer = true;
            }
        });
    }

    /// Above the fields: they are not what the person has written, and nothing is sent.
    pub fn notice(self) -> AnyView {
        let back = move |_| {
            self.choose(true);
            // Built by then.
            request_animation_frame(move || self.focus());
        };
        let discard = move |_| {
            self.discard();
            // The button goes.
            focus::once_lost(|| {
                focus::in_place_to(".model-page .form-scroll");
            });
        };
        view! {
            <div
                class="summary"
                id=NOTICE_ID
                role="alert"
                tabindex="-1"
                hidden=when(move || !self.is_hidden_unread())
            >
                <p>{input_json::INVALID_TEXT_MESSAGE}</p>
                <div class="row">
                    <button class="button small" type="button" on:click=handler(back)>
                        "Back to the JSON"
                    </button>
                    <button class="button quiet small" type="button" on:click=handler(discard)>
                        "Discard the JSON"
                    </button>
                </div>
            </div>
        }
        .into_any()
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
            move || match self.is_left.get() && self.unread.read().is_none() {
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
        let wrong = text(move || match &*self.unread.read() {
            Some(unread) => unread.message(),
            None => self.mistakes.get(),
        });
        let session = contexts().session;
        let write = move |event| {
            let typed = event_target_value(&event);
            match input_json::read(&typed) {
                Ok(mut read) => {
                    secrets::take_from(session, &mut read, &schema);
                    self.read.set(Some(read.clone()));
                    draft.set(read);
                    self.clear_unread();
                }
                Err(problem) => {
                    // Where it is not kept, it lasts until the page is left. One that names a secret may hold it.
                    if !names_secret(&typed, &schema) {
                        LocalStore::Tab.write(&self.place.get_value(), &typed);
                    }
                    let before = self.unread.get_untracked();
                    self.unread.set(Some(InvalidText {
                        problem,
                        is_form_newer: before.is_some_and(|it| it.is_form_newer),
                    }));
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
        let back = move |_| self.discard();
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
                    aria-invalid=derived(move || (!wrong.read().is_empty()).then_some("true"))
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
                    hidden=when(move || self.unread.read().is_none())
                    on:click=handler(back)
                >
                    "Back to what the form holds"
                </button>
            </div>
        }
        .into_any()
    }
}
