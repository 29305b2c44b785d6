//! `/models/:category/:subcategory`: the input form, the result, the integration files.

mod draft;
mod head;
mod input_json;
mod loaded;
pub mod mode;
mod one;
mod presets;
mod recall;
mod result;
mod submission;
mod submit_cooldown;

pub use draft::suggest;

use crate::contexts::contexts;
use atelier_contract::{ApiError, Draft, ModelId};
use leptos::prelude::*;

use super::batch::batch;
use super::integrations::{downloads, integrations};
use super::parts::failure::Failure;
use crate::boxed::{dynamic, text};
use crate::catalog::Load;
use mode::Mode;

/// Another model is another page: nothing of the form before is left over.
#[component]
pub fn ModelPage(model: ModelId) -> impl IntoView {
    let one = draft::kept_draft(&model);
    let mode = mode::mode();
    let page_model = model.clone();
    let content = dynamic(move || {
        let model = page_model.clone();
        match mode.get() {
            Mode::Integrations => integrations(model, one),
            mode => workbench(model, one, mode),
        }
    });
    view! {
        <div class="page model-page" data-mode=text(move || format!("{:?}", mode.get()).to_ascii_lowercase())>
            <div class="model-top">
                <head::ModelHead model=model.clone() />
                <div class="row model-bar">
                    {mode::modes(mode)}
                    {dynamic(move || match mode.get() {
                        // There they stand beside what they hold.
                        Mode::Integrations => ().into_any(),
                        _ => downloads(&model),
                    })}
                </div>
            </div>
            {content}
        </div>
    }
}

/// Whether the service lists its models, and not this one; tracked.
fn is_unknown(model: &ModelId) -> bool {
    let models = contexts().catalog.models();
    models
        .loaded()
        .is_some_and(|list| list.models.iter().all(|known| known.id != *model))
}

fn unknown(model: &ModelId) -> AnyView {
    view! {
        <div class="panel">
            <p>{format!("The service has no model {model}.")}</p>
            <a class="button" href="/">
                "All models"
            </a>
        </div>
    }
    .into_any()
}

/// The form, and what becomes of what it sends.
fn workbench(model: ModelId, one: RwSignal<Draft>, mode: Mode) -> AnyView {
    let catalog = contexts().catalog;
    let result_model = model.clone();
    let result = match mode {
        Mode::One => view! { <result::ResultRegion model=result_model /> }.into_any(),
        _ => ().into_any(),
    };
    view! {
        <div class="workbench" class:many=mode == Mode::Batch>
            {dynamic(move || match catalog.schema(&model) {
                Load::Loading => {
                    view! {
                        <div class="panel">
                            <div
                                class="skeleton tall"
                                role="status"
                                aria-label="Loading the input form"
                            ></div>
                        </div>
                    }
                        .into_any()
                }
                Load::Failed(ApiError::NotFound { .. }) if is_unknown(&model) => unknown(&model),
                Load::Failed(error) => {
                    let model = model.clone();
                    view! {
                        <div class="panel">
                            <Failure
                                what="The input form"
                                error
                                retry=Box::new(move || {
                                    catalog.load_schema(&model);
                                })
                            />
                        </div>
                    }
                        .into_any()
                }
                Load::Loaded(schema) if mode == Mode::Batch => batch(model.clone(), schema, one),
                Load::Loaded(schema) => {
                    view! { <one::OneForm model=model.clone() schema draft=one /> }.into_any()
                }
            })}
            {result}
        </div>
    }
    .into_any()
}
