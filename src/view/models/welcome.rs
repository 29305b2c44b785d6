//! The introduction for users who have no tasks and no favorite models yet.

use atelier_contract::{Model, ModelList};
use leptos::prelude::*;

use crate::reactive::boxed::{handler, when};
use crate::state::contexts::contexts;
use crate::state::model_order;

/// Returns the introduction, or `None` if the user has tasks or favorites, or if the service has no model for images.
pub fn welcome(list: &ModelList) -> Option<AnyView> {
    let contexts = contexts();
    let makes_pictures = |model: &&Model| model.id.category.contains("image");
    let model = list.models.iter().find(makes_pictures)?.clone();
    let has_account = untrack(|| contexts.session.credentials()).is_some();
    if !model_order::first().is_empty() {
        return None;
    }
    let deferred = contexts.deferred;
    let make = move |_| {
        if let Some(program) = deferred.functions() {
            (program.first_picture)(
                contexts.catalog,
                contexts.navigation,
                contexts.runner,
                model.clone(),
            );
        }
    };
    let button = has_account.then(|| {
        view! {
            <button
                class="button primary"
                type="button"
                prop:disabled=when(move || deferred.functions().is_none())
                on:click=handler(make)
            >
                "Make a first picture"
            </button>
        }
        .into_any()
    });
    let panel = view! {
        <section class="panel welcome" aria-label="Welcome">
            <p class="welcome-what">
                "Describe what you want; a model generates it. Results are in Gallery, their history in Tasks."
            </p>
            <div class="row">
                {button} <span class="muted">
                    "Have an account at a service? " <a href="/settings">"Connect it in Settings"</a> "."
                </span>
            </div>
        </section>
    };
    Some(panel.into_any())
}
