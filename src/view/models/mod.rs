//! The page `/`, which lists all models of the service.

mod card;
pub mod card_extras;
pub mod card_keys;
pub mod first_picture;
pub mod list_note;
mod model_grid;
mod search;
mod welcome;

use std::sync::Arc;

use atelier_contract::ModelList;
use atelier_studio::navigation::categories::Categories;
use atelier_studio::navigation::model_order::order;
use atelier_studio::navigation::search::Query;
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use crate::boot::deferred::State;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::catalog::Load;
use crate::state::contexts::contexts;
use crate::state::model_order;
use crate::view::parts::failure::Failure;
use model_grid::ModelGrid;
use search::Index;
use welcome::welcome;

#[component]
pub fn ModelsPage() -> impl IntoView {
    let catalog = contexts().catalog;
    let deferred = contexts().deferred;
    // Whether the deferred part may still provide a cached list.
    let may_be_cached = move || {
        let will_look = !matches!(deferred.state(), State::Missing(_) | State::Reloading);
        will_look && !catalog.has_looked()
    };
    view! {
        <div class="page">
            {dynamic(move || match catalog.models() {
                Load::Loading => loading(),
                Load::Failed(error) if error.is_outage() && may_be_cached() => loading(),
                Load::Failed(error) => {
                    view! {
                        <h1>"Models"</h1>
                        <Failure what="The models" error retry=Box::new(move || catalog.load_models()) />
                    }
                        .into_any()
                }
                Load::Loaded(list) => view! { <ModelBrowser list /> }.into_any(),
            })}
        </div>
    }
}

fn loading() -> AnyView {
    view! {
        <h1>"Models"</h1>
        <div class="skeletons" role="status" aria-label="Loading models">
            {(0..6).map(|_| view! { <div class="skeleton"></div> }.into_any()).collect_view()}
        </div>
    }
    .into_any()
}

#[component]
fn ModelBrowser(list: Arc<ModelList>) -> impl IntoView {
    let navigation = contexts().navigation;
    let deferred = contexts().deferred;
    let url_text = memo(move || navigation.query("q").unwrap_or_default());
    let category = memo(move || navigation.query("category"));
    let typed = RwSignal::new(url_text.get_untracked());
    // Back and Forward change the URL: update the search field.
    effect(move || {
        let url = url_text.get();
        if url != typed.get_untracked().trim() {
            typed.set(url);
        }
    });
    let is_new = RwSignal::new(false);
    let delayed_text = search::delayed_text(typed, is_new);
    let is_searched = when(move || !delayed_text.read().trim().is_empty());

    let categories = list.models.iter().map(|model| model.id.category.as_str());
    let categories = Arc::new(Categories::of(categories));
    let index = Arc::new(Index::of(list.clone()));
    let found = memo({
        let order = order(&list.models, &model_order::first());
        let (index, categories) = (index.clone(), categories.clone());
        move || {
            let query = Query::new(&delayed_text.read());
            let chosen = category.get();
            if query.is_empty() {
                categories.group(chosen.as_deref(), order.iter().copied())
            } else {
                categories.group(chosen.as_deref(), query.find(index.items()))
            }
        }
    });
    let total = list.models.len();
    let unreadable = list.unreadable;
    let count = text(move || {
        let shown: usize = found.read().iter().map(|group| group.models.len()).sum();
        if shown == total {
            counted(total, "model")
        } else {
            format!("{shown} of {}", counted(total, "model"))
        }
    });
    let clear = move |_| {
        typed.set(String::new());
        navigation.set_query("q", None);
        navigation.set_query("category", None);
    };
    view! {
        <div class="page-head">
            <h1>"Models"</h1>
            {dynamic(move || deferred.functions().map(|program| (program.list_note)(is_searched)).into_any())}
            <p class="muted" role="status" translate="no">{count}</p>
        </div>
        {welcome(&list)}
        <div class="filters">
            {search::field(typed, index)}
            <CategoryFilter categories=categories.clone() category />
        </div>
        {(unreadable > 0)
            .then(|| {
                view! {
                    <p class="muted">
                        {unreadable} " entries of the service's list could not be read."
                    </p>
                }.into_any()
            })}
        <ModelGrid all=list categories found is_new />
        <div class="empty" hidden=when(move || !found.read().is_empty())>
            <p>
                {if total == 0 { "The service lists no models." } else { "No model matches." }}
            </p>
            <button class="button" type="button" hidden=total == 0 on:click=handler(clear)>
                "Show all models"
            </button>
        </div>
    }
}

#[component]
fn CategoryFilter(categories: Arc<Categories>, category: Memo<Option<String>>) -> impl IntoView {
    let navigation = contexts().navigation;
    let option = move |value: Option<String>| {
        let label = value.clone().unwrap_or_else(|| "All".into());
        let checked = {
            let value = value.clone();
            when(move || category.get() == value)
        };
        view! {
            <label class="chip">
                <input
                    type="radio"
                    name="category"
                    prop:checked=checked
                    on:change=handler(move |_| navigation.set_query("category", value.as_deref()))
                />
                <span>{label}</span>
            </label>
        }
    };
    view! {
        <fieldset class="chips">
            <legend class="visually-hidden">"Category"</legend>
            {option(None)}
            {categories.names().iter().map(|category| option(Some(category.clone()))).collect_view()}
        </fieldset>
    }
}
