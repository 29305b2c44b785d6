use std::sync::Arc;

use crate::app::contexts;
use atelier_contract::{Draft, ModelId, Problem, Schema};
use atelier_engine::TaskKey;
use icondata_lu::LuSparkles;
use leptos::prelude::*;

use super::draft::rerun_of;
use crate::browser::clock;
use crate::catalog::Load;
use crate::erased::{dynamic, handler, memo, when};
use crate::view::form::{Fields, ProblemSummary};
use crate::view::parts::glyph::Glyph;

/// A second press within this many milliseconds is the same press: a double click is paid once.
const SAME_PRESS_MS: u64 = 800;

/// The form for one generation.
#[component]
pub fn OneForm(model: ModelId, schema: Arc<Schema>, draft: RwSignal<Draft>) -> impl IntoView {
    let session = contexts().session;
    let runner = contexts().runner;
    let catalog = contexts().catalog;
    let problems = RwSignal::new(Vec::<Problem>::new());
    let attempted = RwSignal::new(false);
    let refused = RwSignal::new(None::<String>);
    let changes = RwSignal::new(Vec::<String>::new());

    // Running an earlier task again: its input, as far as today's schema has it.
    let from = untrack(|| contexts().navigation.query("from"));
    let known = memo(move || !runner.keys().is_empty());
    Effect::new({
        let schema = schema.clone();
        move |done: Option<bool>| {
            known.track();
            if done == Some(true) {
                return true;
            }
            let Some(from) = from.clone() else {
                return true;
            };
            // Storage may not have been read yet; then this runs once more.
            match rerun_of(runner, &TaskKey(from), &schema) {
                Some(rerun) => {
                    draft.set(rerun.draft);
                    changes.set(
                        rerun
                            .differences
                            .into_iter()
                            .map(|difference| difference.message)
                            .collect(),
                    );
                    true
                }
                None => false,
            }
        }
    });

    let last_press = StoredValue::new(0_u64);
    let submit = {
        let (schema, model) = (schema.clone(), model.clone());
        move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            let now = clock::now();
            if now.saturating_sub(last_press.get_value()) < SAME_PRESS_MS {
                return;
            }
            attempted.set(true);
            refused.set(None);
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
                    last_press.set_value(now);
                    problems.set(Vec::new());
                    attempted.set(false);
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
    };
    view! {
        <form class="panel form" aria-label="Input" novalidate on:submit=handler(submit)>
            <Changes changes />
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
