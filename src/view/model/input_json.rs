//! The form's input as editable JSON. The form and the text are synchronized; while the text isn't a JSON object, the form
//! keeps the values of the last valid text.

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

/// Element id of the notice above the fields about a text that can't be parsed.
const NOTICE_ID: &str = "unread-json";

/// The JSON text of a form, and whether the user sees it instead of the fields.
#[derive(Clone, Copy)]
pub struct InputJson {
    is_shown: RwSignal<bool>,
    text: RwSignal<String>,
    /// The parse error of the text. Until the user repairs or discards the text, it is stored and can't be submitted.
    invalid: RwSignal<Option<InvalidText>>,
    /// The last discarded text that could not be parsed. Undo restores it.
    discarded: RwSignal<Option<Discarded>>,
    /// Whether the user has left the text field. Problems with the values are shown from then on.
    has_left: RwSignal<bool>,
    /// The message about problems with the values; empty if there are none.
    problems: Memo<String>,
    /// The draft parsed from the text, or the draft that the text was last compared with.
    parsed: RwSignal<Option<Draft>>,
    /// Session storage key of a text that can't be parsed.
    text_key: StoredValue<String>,
    /// Session storage key that is set if the form was changed after that text was written.
    newer_form_key: StoredValue<String>,
    /// Session storage key that is set if the user has chosen JSON instead of the form.
    choice_key: StoredValue<String>,
    draft: RwSignal<Draft>,
    schema: StoredValue<Arc<Schema>>,
}

/// A discarded text that could not be parsed.
#[derive(Clone)]
struct Discarded {
    text: String,
    invalid: InvalidText,
    /// The values of the form when the text was discarded.
    draft: Draft,
}

impl InputJson {
    /// Creates the JSON text of a form, and restores a stored text that could not be parsed.
    ///
    /// Must be called before a link, a preset or an earlier task changes the draft.
    pub fn follow(schema: Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let text_key = format!("atelier.json.{}", schema.model);
        let newer_form_key = format!("atelier.json_older_than_form.{}", schema.model);
        let choice_key = format!("atelier.input_as.{}", schema.model);
        let stored = LocalStore::Tab.read(&text_key);
        let problem = stored
            .as_deref()
            .and_then(|text| input_json::read(text).err());
        let invalid = problem.map(|problem| InvalidText {
            problem,
            is_form_newer: LocalStore::Tab.read(&newer_form_key).is_some(),
        });
        let before = invalid.is_some().then(|| draft.get_untracked());
        let has_left = RwSignal::new(false);
        let problems = memo({
            let schema = schema.clone();
            move || match has_left.get() {
                true => input_json::mistakes(&draft.read(), &schema).join(" "),
                false => String::new(),
            }
        });
        let this = Self {
            is_shown: RwSignal::new(LocalStore::Tab.read(&choice_key).is_some()),
            text: RwSignal::new(stored.unwrap_or_default()),
            invalid: RwSignal::new(invalid),
            discarded: RwSignal::new(None),
            has_left,
            problems,
            parsed: RwSignal::new(before),
            text_key: StoredValue::new(text_key),
            newer_form_key: StoredValue::new(newer_form_key),
            choice_key: StoredValue::new(choice_key),
            draft,
            schema: StoredValue::new(schema.clone()),
        };
        effect(move || {
            let is_shown = this.is_shown.get();
            let draft = draft.read();
            let is_invalid = this.invalid.read().is_some();
            // The change comes from the text itself: don't reformat what the user is typing.
            if this.parsed.read_untracked().as_ref() == Some(&*draft) {
                return;
            }
            // Don't overwrite a text that can't be parsed.
            if is_invalid && this.parsed.read_untracked().is_some() {
                this.parsed.set(Some(draft.clone()));
                this.mark_form_newer();
                return;
            }
            this.parsed.set(is_shown.then(|| draft.clone()));
            if is_shown {
                this.text.set(input_json::write(&draft, &schema));
            }
        });
        this
    }

    /// Returns whether the fields are shown although there is a text that can't be parsed; tracked.
    pub fn hides_invalid_text(self) -> bool {
        !self.is_shown.get() && self.invalid.read().is_some()
    }

    /// Returns whether a message about the text explains why the input can't be submitted; tracked.
    pub fn has_message(self) -> bool {
        self.invalid.read().is_some() || self.is_shown.get() && !self.problems.read().is_empty()
    }

    /// Shows the problems with the values of the text, because the user wants to submit it.
    pub fn show_problems(self) {
        if self.is_shown.get_untracked() {
            self.has_left.set(true);
        }
    }

    /// Clears the problems after the form was cleared. Also discards the text if it is shown.
    pub fn reset(self) {
        self.has_left.set(false);
        if self.is_shown.get_untracked() {
            self.discard();
        }
    }

    /// Moves the focus to the text or, if the fields are shown, to the notice about it.
    pub fn focus(self) {
        match self.is_shown.get_untracked() {
            true => field::focus(field::JSON_ID),
            // In the next frame, when a folded form has been opened.
            false => request_animation_frame(|| {
                focus::to(&format!("#{NOTICE_ID}"));
            }),
        }
    }

    /// Returns a link to the text, shown next to the button "Generate".
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

    /// Clears the parse error.
    fn clear_parse_error(self) {
        LocalStore::Tab.remove(&self.text_key.get_value());
        LocalStore::Tab.remove(&self.newer_form_key.get_value());
        self.invalid.set(None);
    }

    /// Replaces the text with the values of the form. [`Self::restore`] undoes this for a text that can't be parsed.
    fn discard(self) {
        if let Some(invalid) = self.invalid.get_untracked() {
            self.discarded.set(Some(Discarded {
                text: self.text.get_untracked(),
                invalid,
                draft: self.draft.get_untracked(),
            }));
        }
        self.parsed.set(None);
        self.clear_parse_error();
    }

    /// Restores the discarded text. The form keeps its values.
    fn restore(self) {
        let Some(discarded) = self.discarded.get_untracked() else {
            return;
        };
        let draft = self.draft.get_untracked();
        let is_changed = draft != discarded.draft;
        self.discarded.set(None);
        self.parsed.set(Some(draft));
        self.store(&discarded.text);
        self.text.set(discarded.text);
        self.invalid.set(Some(discarded.invalid));
        if is_changed {
            self.mark_form_newer();
        }
        self.choose(true);
        // In the next frame, when the text is rendered.
        request_animation_frame(move || self.focus());
    }

    /// Stores a text that can't be parsed, unless it may contain a secret. If storing fails, the text lasts until the page is
    /// left.
    fn store(self, text: &str) {
        if !self.schema.with_value(|schema| names_secret(text, schema)) {
            LocalStore::Tab.write(&self.text_key.get_value(), text);
        }
    }

    /// Marks the text as older than the form, whose values have changed since.
    fn mark_form_newer(self) {
        // If storing fails, the mark lasts until the page is left.
        LocalStore::Tab.write(&self.newer_form_key.get_value(), "newer");
        self.invalid.update(|invalid| {
            if let Some(invalid) = invalid {
                invalid.is_form_newer = true;
            }
        });
    }

    /// Returns the notice above the fields: they don't show the text, which can't be parsed and prevents submission.
    pub fn notice(self) -> AnyView {
        let back = move |_| {
            self.choose(true);
            // In the next frame, when the text is rendered.
            request_animation_frame(move || self.focus());
        };
        let discard = move |_| {
            self.discard();
            // The button disappears.
            focus::when_lost(|| {
                focus::to_without_scrolling(".model-page .form-scroll");
            });
        };
        view! {
            <div
                class="summary"
                id=NOTICE_ID
                role="alert"
                tabindex="-1"
                hidden=when(move || !self.hides_invalid_text())
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
            <div class="row" role="status" hidden=when(move || self.discarded.read().is_none())>
                {dynamic(move || self.discarded_note())}
            </div>
        }
        .into_any()
    }

    /// Returns the note that a text was discarded, with a button to restore it.
    fn discarded_note(self) -> AnyView {
        self.discarded
            .read()
            .is_some()
            .then(|| {
                view! {
                    <p class="muted">"The invalid JSON was discarded."</p>
                    <button
                        class="button quiet small"
                        type="button"
                        on:click=handler(move |_| self.restore())
                    >
                        "Undo"
                    </button>
                }
            })
            .into_any()
    }

    /// Switches between JSON and the form. The choice is stored for this tab.
    pub fn choose(self, is_json: bool) {
        let key = self.choice_key.get_value();
        // If storing fails, the choice lasts until the page is left.
        if is_json {
            LocalStore::Tab.write(&key, "json");
        } else {
            LocalStore::Tab.remove(&key);
        }
        self.is_shown.set(is_json);
    }

    /// Returns whether the text is shown instead of the form; tracked.
    pub fn is_shown(self) -> bool {
        self.is_shown.get()
    }

    /// Returns the control that switches between the form and JSON.
    pub fn choice(self) -> AnyView {
        let option = |label: &'static str, is_json: bool| {
            let is_chosen = when(move || self.is_shown.get() == is_json);
            segment("input-as", label, is_chosen, move || {
                self.choose(is_json);
            })
        };
        view! {
            <div class="segments small" role="radiogroup" aria-label="Write the input as">
                {option("Form", false)}
                {option("JSON", true)}
            </div>
        }
        .into_any()
    }

    /// Returns the text field, or nothing while the form is shown.
    pub fn view(self, schema: &Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
        let names: Vec<&str> = schema
            .parameters()
            .map(|(parameter, _)| parameter.name.as_str())
            .collect();
        let hint = match names.as_slice() {
            [] => "This model takes no parameters.".to_owned(),
            names => format!(
                "Omitted parameters keep their defaults. Parameters: {}.",
                names.join(", ")
            ),
        };
        let schema = schema.clone();
        dynamic(move || {
            if self.is_shown.get() {
                let rename_buttons = self.rename_buttons(schema.clone(), draft);
                self.field(hint.clone(), schema.clone(), draft, rename_buttons)
            } else {
                ().into_any()
            }
        })
    }

    /// Returns buttons that rename or remove names which are not parameters of the model.
    fn rename_buttons(self, schema: Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
        let unknown = memo({
            let schema = schema.clone();
            move || match self.has_left.get() && self.invalid.read().is_none() {
                true => input_json::unknown(&draft.read(), &schema),
                false => Vec::new(),
            }
        });
        let rename = StoredValue::new(move |name: &str, to: Option<&str>| {
            let renamed = input_json::renamed(&draft.get_untracked(), name, to);
            let text = input_json::write(&renamed, &schema);
            // If the text can be replaced as if typed, its `input` event updates the draft.
            if !field::element(field::JSON_ID).is_some_and(|area| editing::replace(&area, &text)) {
                self.parsed.set(Some(renamed.clone()));
                self.text.set(text);
                draft.set(renamed);
                focus::when_lost(move || self.focus());
            }
        });
        let rename = Callback::new(move |(name, to): (String, Option<String>)| {
            rename.with_value(|rename| rename(&name, to.as_deref()));
        });
        unknown_names(unknown, rename)
    }

    fn field(
        self,
        hint: String,
        schema: Arc<Schema>,
        draft: RwSignal<Draft>,
        rename_buttons: AnyView,
    ) -> AnyView {
        let message = text(move || match &*self.invalid.read() {
            Some(invalid) => invalid.message(),
            None => self.problems.get(),
        });
        let session = contexts().session;
        let input = move |event| {
            let typed = event_target_value(&event);
            self.discarded.set(None);
            match input_json::read(&typed) {
                Ok(mut read) => {
                    secrets::take_from(session, &mut read, &schema);
                    self.parsed.set(Some(read.clone()));
                    draft.set(read);
                    self.clear_parse_error();
                }
                Err(problem) => {
                    self.store(&typed);
                    let before = self.invalid.get_untracked();
                    self.invalid.set(Some(InvalidText {
                        problem,
                        is_form_newer: before.is_some_and(|it| it.is_form_newer),
                    }));
                }
            }
            self.text.set(typed);
        };
        // Wait until the pointer is released: the message moves the button "Generate", which may be the pressed element.
        // The page may be disposed by then.
        let blur = move |_: web_sys::FocusEvent| {
            pointer::when_released(move || {
                self.has_left.try_set(true);
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
                    aria-invalid=derived(move || (!message.read().is_empty()).then_some("true"))
                    prop:value=self.text
                    on:input=handler(input)
                    on:blur=handler(blur)
                ></textarea>
                <p class="hint" id="input-json-hint">
                    {hint}
                </p>
                <p class="problem" id="input-json-problem" role="status">
                    {message}
                </p>
                {rename_buttons}
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || self.invalid.read().is_none())
                    on:click=handler(back)
                >
                    "Back to what the form holds"
                </button>
            </div>
        }
        .into_any()
    }
}
