use std::sync::Arc;

use crate::app::contexts;
use atelier_contract::{Draft, ModelId, Problem, Schema};
use atelier_engine::press::Presses;
use atelier_engine::seed;
use icondata_lu::LuSparkles;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;

use super::loaded::{self, Loaded};
use crate::browser::{clock, random};
use crate::catalog::Load;
use crate::erased::{dynamic, handler, when};
use crate::view::form::{Fields, ProblemSummary};
use crate::view::parts::answer::Answer;
use crate::view::parts::glyph::Glyph;

/// The form for one generation.
#[component]
pub fn OneForm(model: ModelId, schema: Arc<Schema>, draft: RwSignal<Draft>) -> impl IntoView {
    let session = contexts().session;
    let runner = contexts().runner;
    let catalog = contexts().catalog;
    let problems = RwSignal::new(Vec::<Problem>::new());
    let attempted = RwSignal::new(false);
    let refused = RwSignal::new(None::<String>);
    let loaded = loaded::follow(schema.clone(), draft);
    let answer = Answer::default();

    let presses = StoredValue::new(Presses::default());
    let submit = {
        let (schema, model) = (schema.clone(), model.clone());
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            attempted.set(true);
            refused.set(None);
            answer.hush();
            let send_defaults = session.settings_untracked().send_defaults;
            let typed = draft.get_untracked();
            // A seed that is left alone is drawn here, so that it is known afterwards.
            let settled = seed::settled(&typed, &schema, random::bits());
            match schema.validate(&settled, send_defaults) {
                Err(found) => problems.set(found),
                Ok(_) if untrack(|| session.credentials()).is_none() => {
                    problems.set(Vec::new());
                    // A service that takes guests says so beside its list of models.
                    let is_asking = untrack(|| matches!(catalog.models(), Load::Loading));
                    refused.set(Some(if is_asking {
                        "It is not known yet whether this service needs an account; press Generate \
                         again in a moment."
                            .into()
                    } else {
                        "User ID and Access token are not set yet.".into()
                    }));
                }
                Ok(input) => {
                    problems.set(Vec::new());
                    attempted.set(false);
                    // Not the input: its seed may be another one each time.
                    let what = typed.to_value().to_string();
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
        loaded.set(Loaded::Nothing);
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
            {loaded::note(loaded, draft)}
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
            <Fields schema draft attempted />
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
