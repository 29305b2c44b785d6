//! The page of a model, `/models/:category/:subcategory`: the input form, the result and the integration files.

pub mod draft;
mod form_as_of;
mod form_undo;
pub mod from_file;
mod head;
mod input_json;
pub mod loaded;
pub mod mode;
mod newest_single;
mod one;
mod presets;
mod recall;
mod refused;
mod result;
mod shown_schema;
mod submission;
mod submit_cooldown;
mod upload_delivery;
mod upload_wait;

pub use draft::suggest;

use crate::state::contexts::{contexts, more_pages};
use atelier_contract::{ApiError, Draft, ModelId};
use atelier_studio::output::expected_output;
use icondata_lu::LuSearchX;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, dynamic, memo, text};
use crate::state::catalog::Load;
use crate::state::outage;
use crate::view::integrations::downloads;
use crate::view::parts::deferred::deferred;
use crate::view::parts::failure::Failure;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::root_mark::RootMark;
use crate::view::parts::viewport;
use form_as_of::form_as_of;
use mode::Mode;
use shown_schema::ShownSchema;

/// The page of a model. It is rendered again for each model, so that no state of another model's form remains.
#[component]
pub fn ModelPage(model: ModelId) -> impl IntoView {
    let draft = draft::stored_draft(&model);
    let is_recipe = RwSignal::new(loaded::has_recipe());
    let mode = mode::mode();
    let page_model = model.clone();
    let shown = ShownSchema::follow(model.clone());
    upload_delivery::follow(model.clone(), shown, draft, mode);
    outage::retry_schema(contexts(), model.clone());
    let as_of = form_as_of(model.clone(), shown);
    let is_missing = {
        let model = model.clone();
        memo(move || {
            let is_refused = matches!(shown.get(), Load::Failed(ApiError::NotFound { .. }));
            is_refused && is_unknown(&model)
        })
    };
    let content = dynamic(move || {
        let model = page_model.clone();
        if is_missing.get() {
            return missing_model(&model);
        }
        match mode.get() {
            Mode::Integrations => deferred(more_pages(), move |more| {
                (more.integrations)(model.clone(), draft)
            }),
            mode => workbench(model, shown, draft, is_recipe, mode),
        }
    });
    view! {
        <div
            class="page model-page"
            data-mode=text(move || match is_missing.get() {
                // A missing model has neither form nor result.
                true => "missing".to_owned(),
                false => format!("{:?}", mode.get()).to_ascii_lowercase(),
            })
        >
            <div class="model-top">
                <head::ModelHead model=model.clone() />
                <div class="row model-bar" hidden=is_missing>
                    {mode::mode_choice(mode)}
                    {dynamic(move || match mode.get() {
                        // The integrations page has its own download buttons.
                        Mode::Integrations => ().into_any(),
                        _ => downloads(&model),
                    })}
                </div>
                {as_of}
            </div>
            {content}
        </div>
    }
}

/// Returns whether the service has listed its models and this one isn't among them; tracked.
fn is_unknown(model: &ModelId) -> bool {
    let catalog = contexts().catalog;
    // A cached list may be older than the model.
    let models = catalog.models();
    let listed = models.loaded().filter(|_| catalog.models_as_of().is_none());
    listed.is_some_and(|list| list.models.iter().all(|known| known.id != *model))
}

fn missing_model(model: &ModelId) -> AnyView {
    view! {
        <div class="empty">
            <Glyph icon=LuSearchX />
            <p>{format!("The service has no model {model}.")}</p>
            <a class="button" href="/">
                "Show all models"
            </a>
        </div>
    }
    .into_any()
}

/// Returns the placeholder that is shown until the form has loaded.
fn skeleton() -> AnyView {
    view! {
        <div class="panel">
            <div class="skeleton tall" role="status" aria-label="Loading the input form"></div>
        </div>
    }
    .into_any()
}

/// Returns the form and the result of its last task.
fn workbench(
    model: ModelId,
    shown: ShownSchema,
    draft: RwSignal<Draft>,
    is_recipe: RwSignal<bool>,
    mode: Mode,
) -> AnyView {
    let (catalog, runner) = (contexts().catalog, contexts().runner);
    match mode {
        Mode::Batch => RootMark::BatchForm.hold(),
        _ => RootMark::OneForm.hold(),
    }
    // In a window with one pane, the layout of the form depends on whether there is a result: wait until the tasks are read,
    // so that the form doesn't shift.
    let is_waiting_for_tasks =
        memo(move || mode == Mode::One && viewport::is_one_pane() && !runner.is_open());
    let result_model = model.clone();
    let result = match mode {
        Mode::One => {
            let outputs = derived(move || {
                let schema = shown.get();
                let count = |schema| expected_output::count_of_draft(&draft.read(), schema);
                schema.loaded().map(|schema| count(schema))
            });
            view! { <result::ResultRegion model=result_model outputs is_recipe /> }.into_any()
        }
        _ => ().into_any(),
    };
    view! {
        <div class="workbench" class:many=mode == Mode::Batch>
            {dynamic(move || match shown.get() {
                Load::Loading => skeleton(),
                Load::Loaded(_) if is_waiting_for_tasks.get() => skeleton(),
                Load::Failed(error) => {
                    let model = model.clone();
                    view! {
                        <div class="panel">
                            <Failure
                                what="The input form"
                                error
                                retry=Box::new(move || {
                                    catalog.reload_schema(&model);
                                })
                            />
                        </div>
                    }
                        .into_any()
                }
                Load::Loaded(schema) if mode == Mode::Batch => {
                    let model = model.clone();
                    deferred(more_pages(), move |more| {
                        (more.batch)(model.clone(), schema.clone(), draft)
                    })
                }
                Load::Loaded(schema) => {
                    view! { <one::OneForm model=model.clone() schema draft is_recipe /> }.into_any()
                }
            })}
            {result}
        </div>
    }
    .into_any()
}
