use std::sync::Arc;

use crate::contexts::contexts;
use atelier_contract::{Draft, ModelId, Problem, Schema};
use atelier_engine::TaskKey;
use atelier_engine::press::Presses;
use icondata_lu::LuSparkles;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use super::draft::rerun_of;
use crate::boxed::{dynamic, effect, handler, memo, when};
use crate::browser::clock;
use crate::catalog::Load;
use crate::view::form::{Fields, ProblemSummary};
use crate::view::parts::answer::Answer;
use crate::view::parts::glyph::Glyph;

/// The form for one generation.
#[component]
pub fn OneForm(
    model: ModelId,
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    is_whole: RwSignal<bool>,
) -> impl IntoView {
    let session = contexts().session;
    let runner = contexts().runner;
    let catalog = contexts().catalog;
    let navigation = contexts().navigation;
    let problems = RwSignal::new(Vec::<Problem>::new());
    let attempted = RwSignal::new(false);
    let refused = RwSignal::new(None::<String>);
    let changes = RwSignal::new(Vec::<String>::new());
    let is_missing = RwSignal::new(false);
    let answer = Answer::default();

    // Running an earlier task again: its input, as far as today's schema has it. Used once: what is
    // typed from then on is not overwritten by a reload.
    let known = memo(move || !runner.keys().is_empty());
    effect({
        let schema = schema.clone();
        move || {
            let Some(from) = navigation.query("from") else {
                return;
            };
            known.track();
            let is_open = runner.is_open();
            match rerun_of(runner, &TaskKey(from), &schema) {
                Some(rerun) => {
                    draft.set(rerun.draft);
                    let differences = rerun.differences.into_iter();
                    changes.set(differences.map(|difference| difference.message).collect());
                    is_missing.set(false);
                }
                // Storage may not have been read yet; then this runs once more.
                None if !is_open => return,
                None => is_missing.set(true),
            }
            navigation.set_query("from", None);
        }
    });

    let presses = StoredValue::new(Presses::default());
    let submit = {
        let (schema, model) = (schema.clone(), model.clone());
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            attempted.set(true);
            refused.set(None);
            answer.hush();
            let send_defaults = session.settings_untracked().send_defaults;
            match schema.validate(&draft.read_untracked(), send_defaults) {
                Err(found) => problems.set(found),
                Ok(_) if untrack(|| session.credentials()).is_none() => {
                    problems.set(Vec::new());
                    // A service that takes guests says so beside its list of models.
                    let is_asking = untrack(|| matches!(catalog.models(), Load::Loading));
                    refused.set(Some(if is_asking {
                        "The service has not said yet whether it takes guests without User ID and \
                         Access token; press Generate again in a moment."
                            .into()
                    } else {
                        "User ID and Access token are not set yet.".into()
                    }));
                }
                Ok(input) => {
                    problems.set(Vec::new());
                    attempted.set(false);
                    let what = input.to_value().to_string();
                    let counts =
                        presses.try_update_value(|presses| presses.counts(&what, clock::now()));
                    if counts != Some(true) {
                        answer.say("Sent. Press again for another one.".into());
                        return;
                    }
                    let name = untrack(|| catalog.model(&model)).map_or_else(
                        || model.subcategory.clone(),
                        |model| model.display_name().to_owned(),
                    );
                    runner.submit(input, &name);
                }
            }
        }
    };
    let reset = move |_| {
        draft.set(Draft::default());
        problems.set(Vec::new());
        attempted.set(false);
        changes.set(Vec::new());
        is_missing.set(false);
    };
    // A key that is held down is pressed once.
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        let target = event.target();
        let is_text = target.is_some_and(|target| target.has_type::<HtmlTextAreaElement>());
        if event.repeat() && event.key() == "Enter" && !is_text {
            event.prevent_default();
        }
    };
    view! {
        <form
            class="panel form"
            aria-label="Input"
            novalidate
            on:submit=handler(submit)
            on:keydown=handler(keydown)
        >
            <Changes changes />
            <p class="note" role="status" hidden=when(move || !is_missing.get())>
                "The task that was to be run again is not in this browser any more. The form is as you \
                 left it."
            </p>
            <ProblemSummary schema=schema.clone() problems />
            {dynamic(move || {
                refused
                    .get()
                    .map(|text| {
                        view! {
                            <div class="summary" role="alert">
                                <p>
                                    <strong>"Not sent yet. "</strong>
                                    {text}
                                    " They are set in "
                                    <a href="/settings">"Settings"</a>
                                    "; what you typed here stays."
                                </p>
                            </div>
                        }.into_any()
                    })
                    .into_any()
            })}
            <Fields schema draft attempted is_whole />
            <div class="form-foot">
                <button class="button primary" type="submit">
                    <Glyph icon=LuSparkles />
                    "Generate"
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || draft.read().is_empty())
                    on:click=handler(reset)
                >
                    "Clear form"
                </button>
                {answer.view()}
            </div>
        </form>
    }
}

/// What differs between an earlier input and today's schema.
#[component]
fn Changes(changes: RwSignal<Vec<String>>) -> impl IntoView {
    view! {
        <div class="note" role="status" hidden=when(move || changes.read().is_empty())>
            <p>"The model's input has changed since this task:"</p>
            <ul>
                {dynamic(move || {
                    changes
                        .get()
                        .into_iter()
                        .map(|change| view! { <li>{change}</li> }.into_any())
                        .collect_view()
                        .into_any()
                })}
            </ul>
        </div>
    }
}
