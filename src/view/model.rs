//! `/models/:category/:subcategory`: the input form, the result, the integration files.

mod draft;
mod head;
mod mode;
mod one;
mod result;

use crate::contexts::contexts;
use atelier_contract::ModelId;
use leptos::prelude::*;

use super::batch::batch;
use super::integrations::integrations;
use super::parts::failure::Failure;
use crate::boxed::dynamic;
use crate::catalog::Load;

/// Another model is another page: nothing of the form before is left over.
#[component]
pub fn ModelPage(model: ModelId) -> impl IntoView {
    let catalog = contexts().catalog;
    let one = draft::kept_draft(&model);
    let is_batch = mode::is_batch();
    let is_whole = RwSignal::new(true);
    let (form_model, retried) = (model.clone(), model.clone());
    let result_model = model.clone();
    view! {
        <div class="page model-page">
            <head::ModelHead model=model.clone() />
            {mode::modes(is_batch)}
            <div class="workbench" class:many=is_batch>
                {dynamic(move || match catalog.schema(&form_model) {
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
                    Load::Failed(error) => {
                        let model = retried.clone();
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
                    Load::Loaded(schema) if is_batch.get() => {
                        let model = form_model.clone();
                        batch(model, schema, one)
                    }
                    Load::Loaded(schema) => {
                        view! { <one::OneForm model=form_model.clone() schema draft=one is_whole /> }.into_any()
                    }
                })}
                {dynamic(move || {
                    let model = result_model.clone();
                    (!is_batch.get()).then(|| view! { <result::ResultRegion model /> }.into_any()).into_any()
                })}
            </div>
            {integrations(model, one, is_whole)}
        </div>
    }
}
