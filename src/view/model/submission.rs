//! Generate: what stands in the form is sent, or it is said why not.

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

/// One form, and what became of the presses of its Generate.
#[derive(Clone, Copy)]
pub struct Submission {
    model: StoredValue<ModelId>,
    schema: StoredValue<Arc<Schema>>,
    draft: RwSignal<Draft>,
    json: InputJson,
    /// What is wrong with what was to be sent.
    pub problems: RwSignal<Vec<Problem>>,
    /// The parameters of those that the last press has found.
    found: RwSignal<Vec<String>>,
    /// Counts the presses of Generate that have found problems.
    pub refusals: RwSignal<u32>,
    /// It was to be sent: from then on what is wrong stands at its field.
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
        // What was said of a press is not said of what is written after it.
        let said_of = StoredValue::new(draft.get_untracked());
        effect(move || {
            let draft = draft.get();
            if said_of.with_value(|before| *before != draft) {
                said_of.set_value(draft);
                answer.clear();
            }
        });
        // What is mended is not listed, until it is wrong once more: what is typed may be right on its way. What is wrong since
        // the press stands only at its field.
        effect(move || {
            let found = this.found.read();
            if found.is_empty() {
                return;
            }
            let mut left = this.checked(&draft.read()).err().unwrap_or_default();
            left.retain(|problem| found.contains(&problem.parameter));
            if left != *this.problems.read_untracked() {
                this.problems.set(left);
            }
        });
        this
    }

    /// Lists what is wrong with what was to be sent.
    fn list(self, problems: Vec<Problem>) {
        let parameters = problems.iter().map(|problem| problem.parameter.clone());
        self.found.set(parameters.collect());
        self.problems.set(problems);
    }

    fn schema(self) -> Arc<Schema> {
        self.schema.get_value()
    }

    /// Checks what stands in the form as it is sent, with its secrets; tracks those.
    fn checked(self, draft: &Draft) -> Result<Input, Vec<Problem>> {
        let schema = self.schema();
        let session = contexts().session;
        // The same wherever it is asked: what is refused must not count as mended.
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

    /// Whether the form says why the last press has sent nothing: in a list of problems, or of a text that can't be read.
    pub fn has_problems(self) -> bool {
        !self.problems.read_untracked().is_empty() || untrack(|| self.json.is_hidden_unread())
    }

    /// Whether it was sent.
    pub fn submit(self) -> bool {
        self.attempted.set(true);
        self.refused.set(None);
        self.answer.clear();
        let all = contexts();
        self.json.judge();
        if untrack(|| self.json.says_why()) {
            self.list(Vec::new());
            self.json.focus();
            return false;
        }
        if untrack(|| all.runner.is_superseded()) {
            self.list(Vec::new());
            self.refused.set(Some(Refusal::Superseded));
            return false;
        }
        let schema = self.schema();
        // A seed that is left alone is drawn here, so that it is known afterwards.
        let settled = seed::with_drawn_seed(&self.draft.read_untracked(), &schema, random::bits());
        match untrack(|| self.checked(&settled)) {
            Err(found) => {
                if let Some(id) = only_field(&found, &schema) {
                    self.json.choose(false);
                    request_animation_frame(move || field::focus(&id));
                }
                self.list(found);
                self.refusals.update(|refusals| *refusals += 1);
            }
            Ok(_) if untrack(|| all.session.credentials()).is_none() => {
                self.list(Vec::new());
                self.refused.set(Some(Refusal::Account));
            }
            Ok(input) => return self.send(input),
        }
        false
    }

    fn send(self, input: Input) -> bool {
        self.list(Vec::new());
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
        self.cooldown.made(task);
        bring_into_view();
        true
    }

    /// The form was emptied: nothing is wrong with it yet.
    pub fn begin_anew(self) {
        self.list(Vec::new());
        self.attempted.set(false);
        self.json.begin_anew();
    }

    /// Beside Generate: what is still needed, or how many are on their way.
    pub fn why(self) -> AnyView {
        let all = contexts();
        let runner = all.runner;
        let active = memo(move || self.model.with_value(|model| runner.active_of(model)));
        // An account is what the service asks of everybody, or of who has come as its guest.
        let missing = memo(move || {
            let is_refused =
                all.session.is_guest() && runner.block_reason() == Some(BlockReason::Unauthorized);
            let is_needed = all.session.has_credentials() == Some(false) || is_refused;
            all.session.missing_credentials().filter(|_| is_needed)
        });
        let said = text(move || {
            let schema = self.schema();
            match self.checked(&self.draft.read()) {
                Err(problems) => blocker::message(&problems, &self.draft.read(), &schema),
                // That a seed is fixed is said in the same place.
                Ok(_) if seed::fixed_seed(&self.draft.read(), &schema).is_some() => String::new(),
                Ok(_) => match active.get() {
                    0 => String::new(),
                    1 => "1 on its way".into(),
                    n => format!("{n} on their way"),
                },
            }
        });
        dynamic(move || {
            // It stands there, and what the form holds is not what the person sees.
            if self.json.says_why() {
                return self.json.link();
            }
            match missing.get() {
                Some(missing) => needs_account(missing),
                None => view! { {said} }.into_any(),
            }
        })
    }
}

/// Before anything is sent in vain.
fn needs_account(missing: MissingCredentials) -> AnyView {
    view! {
        "Needs an account: " {missing.label()} " in "
        <a href="/settings">"Settings"</a>
    }
    .into_any()
}

/// The control of the only problem, if there is just one and it has a control: the words stand there.
fn only_field(problems: &[Problem], schema: &Schema) -> Option<String> {
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

/// Why nothing was sent, though the form itself could be.
#[derive(Clone)]
pub enum Refusal {
    /// User ID and token are missing, and the service takes no guests as far as is known.
    Account,
    /// A newer Atelier keeps the tasks.
    Superseded,
}

impl Refusal {
    pub fn view(self) -> AnyView {
        let why = match self {
            Self::Account => no_account("What you typed here stays."),
            Self::Superseded => {
                view! { {SUPERSEDED_REFUSAL} " What you typed here stays." }.into_any()
            }
        };
        not_sent(why)
    }
}

/// Where the result stands below the form, it comes into view.
fn bring_into_view() {
    let result = document().query_selector("[data-mode=one] .result");
    if let (true, Ok(Some(result))) = (viewport::is_one_pane(), result) {
        request_animation_frame(move || result.scroll_into_view());
    }
}
