//! The button "Generate": submits the form, or shows why it can't be submitted.

use std::sync::Arc;

use atelier_contract::{Draft, Input, ModelId, Problem, Schema};
use atelier_engine::recovery::SUPERSEDED_REFUSAL;
use atelier_engine::{BlockReason, MissingCredentials};
use atelier_studio::form::blocker;
use atelier_studio::form::seed::{self, Seeded};
use leptos::prelude::*;

use super::input_json::InputJson;
use super::submit_cooldown::SubmitCooldown;
use crate::browser::random;
use crate::reactive::boxed::{dynamic, effect, memo, text};
use crate::state::contexts::contexts;
use crate::state::secrets;
use crate::view::form::{Field, field};
use crate::view::parts::no_account::no_account;
use crate::view::parts::not_sent::not_sent;
use crate::view::parts::status_note::StatusNote;
use crate::view::parts::viewport;

/// The state of a form's submission.
#[derive(Clone, Copy)]
pub struct Submission {
    model: StoredValue<ModelId>,
    schema: StoredValue<Arc<Schema>>,
    draft: RwSignal<Draft>,
    json: InputJson,
    /// The problems found by the last attempt that are not corrected yet.
    pub problems: RwSignal<Vec<Problem>>,
    /// The names of all parameters for which the last attempt found problems.
    found: RwSignal<Vec<String>>,
    /// The number of attempts that found problems.
    pub refusals: RwSignal<u32>,
    /// Whether the user has tried to submit this input. Problems are shown at their fields from then on.
    pub attempted: RwSignal<bool>,
    pub refused: RwSignal<Option<Refusal>>,
    pub cooldown: SubmitCooldown,
    pub answer: StatusNote,
}

impl Submission {
    pub fn new(
        model: &ModelId,
        schema: &Arc<Schema>,
        draft: RwSignal<Draft>,
        json: InputJson,
    ) -> Self {
        let answer = StatusNote::default();
        let this = Self {
            model: StoredValue::new(model.clone()),
            schema: StoredValue::new(schema.clone()),
            draft,
            json,
            problems: RwSignal::new(Vec::new()),
            found: RwSignal::new(Vec::new()),
            refusals: RwSignal::new(0),
            attempted: RwSignal::new(false),
            refused: RwSignal::new(None),
            cooldown: SubmitCooldown::new(answer),
            answer,
        };
        // Clear the message about the last attempt when the draft changes.
        let answered_draft = StoredValue::new(draft.get_untracked());
        effect(move || {
            let draft = draft.get();
            if answered_draft.with_value(|before| *before != draft) {
                answered_draft.set_value(draft);
                answer.clear();
            }
        });
        // Corrected problems leave the list, and return if the value becomes invalid again: a half-typed value can be valid.
        // New problems are shown only at their fields.
        effect(move || {
            let found = this.found.read();
            if found.is_empty() {
                return;
            }
            let mut remaining = this.validate(&draft.read()).err().unwrap_or_default();
            remaining.retain(|problem| found.contains(&problem.parameter));
            if remaining != *this.problems.read_untracked() {
                this.problems.set(remaining);
            }
        });
        this
    }

    /// Sets the list of problems of the last attempt.
    fn set_problems(self, problems: Vec<Problem>) {
        let parameters = problems.iter().map(|problem| problem.parameter.clone());
        self.found.set(parameters.collect());
        self.problems.set(problems);
    }

    fn schema(self) -> Arc<Schema> {
        self.schema.get_value()
    }

    /// Validates a draft together with the secrets, as it would be submitted; tracks the secrets.
    fn validate(self, draft: &Draft) -> Result<Input, Vec<Problem>> {
        let schema = self.schema();
        let session = contexts().session;
        // Use the same setting as for submission: otherwise a refused value could count as corrected.
        let send_defaults = session.settings_untracked().send_defaults;
        let input = schema.validate(draft, send_defaults);
        let typed = secrets::typed(session, &schema);
        match schema.of_secrets().validate(&typed.read(), false) {
            Ok(_) => input,
            Err(missing) => {
                let problems = input.err().unwrap_or_default();
                Err([problems, missing].concat())
            }
        }
    }

    /// Returns whether the form can be submitted once these parameters have their values.
    pub fn is_valid_without(self, parameters: &[String]) -> bool {
        // The same draft as in `submit`, so that an input that is invalid here is not submitted there.
        let seeded =
            seed::with_drawn_seed(&self.draft.read_untracked(), &self.schema(), random::bits());
        let problems = untrack(|| self.validate(&seeded));
        let problems = problems.err().unwrap_or_default();
        let mut names = problems.iter().map(|problem| &problem.parameter);
        names.all(|name| parameters.contains(name)) && !untrack(|| self.json.has_message())
    }

    /// Returns whether the form shows why the last attempt failed: a list of problems, or a JSON text that can't be parsed.
    pub fn has_problems(self) -> bool {
        !self.problems.read_untracked().is_empty() || untrack(|| self.json.hides_invalid_text())
    }

    /// Submits the form, or shows why it can't be submitted. Returns whether it was submitted.
    pub fn submit(self) -> bool {
        self.attempted.set(true);
        self.refused.set(None);
        self.answer.clear();
        let all = contexts();
        self.json.show_problems();
        if untrack(|| self.json.has_message()) {
            self.set_problems(Vec::new());
            self.json.focus();
            return false;
        }
        if untrack(|| all.runner.is_superseded()) {
            self.set_problems(Vec::new());
            self.refused.set(Some(Refusal::Superseded));
            return false;
        }
        let schema = self.schema();
        // Draw a random seed here if none is set, so that it is known afterwards.
        let seeded = seed::with_drawn_seed(&self.draft.read_untracked(), &schema, random::bits());
        match untrack(|| self.validate(&seeded)) {
            Err(found) => {
                if let Some(id) = only_field_id(&found, &schema) {
                    self.json.choose(false);
                    request_animation_frame(move || field::focus(&id));
                }
                self.set_problems(found);
                self.refusals.update(|refusals| *refusals += 1);
            }
            Ok(_) if untrack(|| all.session.credentials()).is_none() => {
                self.set_problems(Vec::new());
                self.refused.set(Some(Refusal::Account));
            }
            Ok(input) => return self.send(input),
        }
        false
    }

    fn send(self, input: Input) -> bool {
        self.set_problems(Vec::new());
        self.attempted.set(false);
        let typed = self.draft.get_untracked();
        if !self.cooldown.counts(&typed) {
            return false;
        }
        let all = contexts();
        let model = self.model.get_value();
        let name = untrack(|| all.catalog.model(&model)).map_or_else(
            || model.subcategory.clone(),
            |model| model.display_name().to_owned(),
        );
        let is_chosen = seed::entry(&typed, &self.schema()).is_some();
        let task = all.runner.submit(Seeded { input, is_chosen }, &name);
        self.cooldown.set_created(task);
        scroll_to_result();
        true
    }

    /// Clears all problems after the form was cleared.
    pub fn reset(self) {
        self.set_problems(Vec::new());
        self.attempted.set(false);
        self.json.reset();
    }

    /// Returns the text next to "Generate": what is still missing, or how many tasks are running.
    pub fn status(self) -> AnyView {
        let all = contexts();
        let runner = all.runner;
        let active = memo(move || self.model.with_value(|model| runner.active_of(model)));
        // An account is needed if the service requires one, or if it has refused this guest.
        let missing = memo(move || {
            let is_refused =
                all.session.is_guest() && runner.block_reason() == Some(BlockReason::Unauthorized);
            let is_needed = all.session.has_credentials() == Some(false) || is_refused;
            all.session.missing_credentials().filter(|_| is_needed)
        });
        let message = text(move || {
            let schema = self.schema();
            match self.validate(&self.draft.read()) {
                Err(problems) => blocker::message(&problems, &self.draft.read(), &schema),
                // The note about a fixed seed is shown in the same place.
                Ok(_) if seed::fixed_seed(&self.draft.read(), &schema).is_some() => String::new(),
                Ok(_) => match active.get() {
                    0 => String::new(),
                    1 => "1 in progress".into(),
                    n => format!("{n} in progress"),
                },
            }
        });
        dynamic(move || {
            // The message is at the text, so only link to it.
            if self.json.has_message() {
                return self.json.link();
            }
            match missing.get() {
                Some(missing) => missing_account(missing),
                None => view! { {message} }.into_any(),
            }
        })
    }
}

/// Returns the text about missing credentials.
fn missing_account(missing: MissingCredentials) -> AnyView {
    view! {
        "Needs an account: " {missing.label()} " in "
        <a href="/settings">"Settings"</a>
    }
    .into_any()
}

/// Returns the element id of the field to focus if there is exactly one problem and its parameter has a field.
fn only_field_id(problems: &[Problem], schema: &Schema) -> Option<String> {
    let [
        Problem {
            parameter: name, ..
        },
    ] = problems
    else {
        return None;
    };
    schema.position_of(name).map(Field::id_of)
}

/// Why a valid form was not submitted.
#[derive(Clone)]
pub enum Refusal {
    /// User ID and token are missing, and the service is not known to accept guests.
    Account,
    /// A newer version of Atelier uses the storage, so this one can't save tasks.
    Superseded,
}

impl Refusal {
    pub fn view(self) -> AnyView {
        let why = match self {
            Self::Account => no_account("Your input is kept."),
            Self::Superseded => view! { {SUPERSEDED_REFUSAL} " Your input is kept." }.into_any(),
        };
        not_sent(why)
    }
}

/// Scrolls to the result if it is below the form.
fn scroll_to_result() {
    let result = document().query_selector("[data-mode=one] .result");
    if let (true, Ok(Some(result))) = (viewport::is_one_pane(), result) {
        request_animation_frame(move || result.scroll_into_view());
    }
}
