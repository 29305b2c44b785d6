//! `/models/:category/:subcategory`: the input form, the result, the integration files.

mod draft;
mod head;
mod one;
mod result;

use crate::app::contexts;
use atelier_contract::ModelId;
use leptos::prelude::*;

use super::integrations::integrations;
use super::parts::failure::Failure;
use super::parts::later::later;
use crate::catalog::Load;
use crate::erased::dynamic;

/// Another model is another page: nothing of the form before is left over.
#[component]
pub fn ModelPage(model: ModelId) -> impl IntoView {
    let catalog = contexts().catalog;
    let (form_model, retried) = (model.clone(), model.clone());
    view! {
        <div class="page model-page">
            <head::ModelHead model=model.clone() />
            <div class="workbench">
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
                    Load::Loaded(schema) => {
                        view! { <one::OneForm model=form_model.clone() schema /> }.into_any()
                    }
                })}
                <result::ResultRegion model=model.clone() />
            </div>
            {later("Integrations", move || integrations(model.clone()))}
        </div>
    }
}
