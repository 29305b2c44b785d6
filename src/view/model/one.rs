use std::sync::Arc;

use crate::contexts::contexts;
use atelier_contract::{Draft, ModelId, Problem, Schema};
use atelier_engine::seed::{self, Seeded};
use atelier_engine::{control, input_json, obstacle};
use icondata_lu::{LuSlidersHorizontal, LuSparkles};
use leptos::html::{Dialog, Div, Form};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use super::input_json::InputJson;
use super::loaded;
use super::presets;
use super::recall::recall;
use super::resting::Resting;
use crate::boxed::{derived, dynamic, effect, handler, memo, text, when};
use crate::browser::random;
use crate::catalog::Load;
use crate::view::form::{Field, Fields, ProblemSummary, field};
use crate::view::parts::answer::Answer;
use crate::view::parts::away::away_note;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::viewport;
use crate::view::task::inputs::copy_link;

/// The form for one generation.
#[component]
pub fn OneForm(model: ModelId, schema: Arc<Schema>, draft: RwSignal<Draft>) -> impl IntoView {
    let session = contexts().session;
    let runner = contexts().runner;
    let catalog = contexts().catalog;
    let problems = RwSignal::new(Vec::<Problem>::new());
    let attempted = RwSignal::new(false);
    let refused = RwSignal::new(None::<Refusal>);
    let loaded = loaded::follow(schema.clone(), draft);
    let answer = Answer::default();
    let json = InputJson::follow(schema.clone(), draft);
    let presets_dialog = NodeRef::<Dialog>::new();

    let form = NodeRef::<Form>::new();
    let fields = NodeRef::<Div>::new();
    let resting = Resting::new(answer);
    let submit = {
        let (schema, model) = (schema.clone(), model.clone());
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            attempted.set(true);
            refused.set(None);
            answer.hush();
            let send_defaults = session.settings_untracked().send_defaults;
            if let Some(problem) = json.problem_untracked() {
                refused.set(Some(Refusal::Json(problem)));
                return;
            }
            let typed = draft.get_untracked();
            // A seed that is left alone is drawn here, so that it is known afterwards.
            let settled = seed::settled(&typed, &schema, random::bits());
            match schema.validate(&settled, send_defaults) {
                Err(found) => {
                    if let Some(id) = only_field(&found, &schema) {
                        json.is_shown.set(false);
                        request_animation_frame(move || field::focus(&id));
                    }
                    problems.set(found);
                }
                Ok(_) if untrack(|| session.credentials()).is_none() => {
                    problems.set(Vec::new());
                    // A service that takes guests says so beside its list of models.
                    let is_asking = untrack(|| matches!(catalog.models(), Load::Loading));
                    refused.set(Some(Refusal::Account { is_asking }));
                }
                Ok(input) => {
                    problems.set(Vec::new());
                    attempted.set(false);
                    if !resting.counts(&typed) {
                        return;
                    }
                    let name = untrack(|| catalog.model(&model)).map_or_else(
                        || model.subcategory.clone(),
                        |model| model.display_name().to_owned(),
                    );
                    let is_chosen = seed::entry(&typed, &schema).is_some();
                    runner.submit(Seeded { input, is_chosen }, &name);
                    bring_into_view();
                }
            }
        }
    };
    // What is mended is no longer listed.
    effect({
        let schema = schema.clone();
        move || {
            if problems.read().is_empty() {
                return;
            }
            if schema.validate(&draft.read(), false).is_ok() {
                problems.set(Vec::new());
            }
        }
    });
    let reset = move |_| {
        loaded::put(loaded, draft, Draft::default(), Vec::new());
        problems.set(Vec::new());
        attempted.set(false);
    };
    let recall = recall(model.clone(), schema.clone(), draft);
    // A key that is held down is pressed once.
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        let target = event.target();
        let is_text = target.is_some_and(|target| target.has_type::<HtmlTextAreaElement>());
        if recall(&event) || event.key() != "Enter" {
            return;
        }
        let is_sending = event.ctrl_key() || event.meta_key();
        if is_sending || (event.repeat() && !is_text) {
            event.prevent_default();
        }
        if let (true, false, Some(form)) = (is_sending, event.repeat(), form.get_untracked()) {
            let _ = form.request_submit();
        }
    };
    let link = {
        let (schema, model) = (schema.clone(), model.clone());
        copy_link(model, move || {
            input_json::values(&draft.read_untracked(), &schema)
        })
    };
    focus_first(&schema);
    let why = {
        let (schema, model) = (schema.clone(), model.clone());
        let active = memo(move || runner.active_of(&model));
        text(move || match schema.validate(&draft.read(), false) {
            // From the press on it stands at the field.
            Err(_) if attempted.get() => String::new(),
            Err(problems) => obstacle::said(&problems, &draft.read(), &schema),
            Ok(_) => match active.get() {
                0 => String::new(),
                1 => "1 on its way".into(),
                n => format!("{n} on their way"),
            },
        })
    };
    let away = away_note(model.clone());
    let rests = resting.is_resting(draft);
    let rests = derived(move || rests.get().then_some("true"));
    let fixed_seed = fixed_seed(schema.clone(), draft);
    let dialog = presets::dialog(presets_dialog, &model, draft, move |preset| {
        loaded::put(loaded, draft, preset, Vec::new());
    });
    view! {
        <form
            class="panel form"
            aria-label="Input"
            node_ref=form
            novalidate
            on:submit=handler(submit)
            on:keydown=handler(keydown)
        >
            <div class="form-scroll" tabindex="-1" node_ref=fields>
            <div class="row form-tools">{json.choice()} {presets::button(presets_dialog)} {link}</div>
            {loaded::note(loaded, draft)}
            <ProblemSummary schema=schema.clone() problems reveal=move |()| json.is_shown.set(false) />
            {dynamic(move || refused.get().map(Refusal::view).into_any())}
            {json.view(&schema, draft)}
            <div class="form-fields" hidden=when(move || json.is_shown.get())>
                <Fields schema draft attempted />
            </div>
            </div>
            // On phones. The focus is what keeps the form open; with it here the form would open under the
            // finger, before the press is one. At the keyboard the prompt opens it.
            <button
                class="icon-button unfold"
                type="button"
                aria-label="Show the form"
                title="Show the form"
                tabindex="-1"
                on:mousedown=handler(|event: leptos::ev::MouseEvent| event.prevent_default())
                on:click=handler(move |_| {
                    if let Some(fields) = fields.get_untracked() {
                        let _ = fields.focus();
                    }
                })
            >
                <Glyph icon=LuSlidersHorizontal />
            </button>
            <div class="form-foot">
                <button
                    class="button primary"
                    type="submit"
                    aria-disabled=rests
                    aria-keyshortcuts="Control+Enter Meta+Enter"
                >
                    <Glyph icon=LuSparkles />
                    "Generate"
                </button>
                <kbd class="keys" aria-hidden="true">
                    {control::send_keys(&platform())}
                </kbd>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || draft.read().is_empty())
                    on:click=handler(reset)
                >
                    "Clear form"
                </button>
                <p class="muted why">{why}</p>
                {away}
                {answer.view()}
                {fixed_seed}
            </div>
        </form>
        {dialog}
    }
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
    let at = schema.parameters().position(|(it, _)| it.name == *name)?;
    Some(Field::id_of(at))
}

/// That each result would have the same seed, and the way back to another one each time.
fn fixed_seed(schema: Arc<Schema>, draft: RwSignal<Draft>) -> AnyView {
    let fixed = {
        let schema = schema.clone();
        memo(move || seed::fixed(&draft.read(), &schema))
    };
    let release = move |_| {
        draft.update(|draft| {
            seed::release(draft, &schema);
        });
    };
    view! {
        <p class="fixed-seed" hidden=when(move || fixed.read().is_none())>
            <span role="status">
                {text(move || match &*fixed.read() {
                    Some(seed) => format!("Seed {seed} fixed"),
                    None => String::new(),
                })}
            </span>
            <button
                class="button quiet small"
                type="button"
                title="Another seed for each result"
                on:click=handler(release)
            >
                "Draw it anew"
            </button>
        </p>
    }
    .into_any()
}

fn platform() -> String {
    window().navigator().platform().unwrap_or_default()
}

/// Why nothing was sent, though the form itself could be.
#[derive(Clone)]
enum Refusal {
    /// User ID and token are missing; `is_asking`: the service may yet say that it takes guests.
    Account { is_asking: bool },
    /// What is wrong with the text.
    Json(String),
}

impl Refusal {
    fn view(self) -> AnyView {
        let why = match self {
            Self::Json(problem) => {
                view! { {problem} " The form holds what was read last." }.into_any()
            }
            Self::Account { is_asking } => {
                let why = if is_asking {
                    "It is not known yet whether this service needs an account; press Generate again in a \
                     moment."
                } else {
                    "User ID and Access token are not set yet."
                };
                view! {
                    {why}
                    " They are set in "
                    <a href="/settings">"Settings"</a>
                    "; what you typed here stays."
                }
                .into_any()
            }
        };
        view! {
            <div class="summary" role="alert">
                <p>
                    <strong>"Not sent yet. "</strong>
                    {why}
                </p>
            </div>
        }
        .into_any()
    }
}

/// A person comes to write: the first text has the focus. Not where that opens a keyboard over the page,
/// and not where something else has the focus by now.
fn focus_first(schema: &Schema) {
    let first = schema
        .parameters()
        .position(|(parameter, _)| parameter.is_long_text());
    let Some(id) = first.map(Field::id_of).filter(|_| !viewport::is_one_pane()) else {
        return;
    };
    request_animation_frame(move || {
        let focused = document().active_element();
        let is_free = focused.is_none_or(|element| matches!(&*element.tag_name(), "BODY" | "MAIN"));
        if is_free {
            field::focus_in_place(&id);
        }
    });
}

/// Where the result stands below the form, it comes into view.
fn bring_into_view() {
    let result = document().query_selector("[data-mode=one] .result");
    if let (true, Ok(Some(result))) = (viewport::is_one_pane(), result) {
        request_animation_frame(move || result.scroll_into_view());
    }
}
