//! Links to the parameters that the service refused.

use atelier_contract::Schema;
use atelier_engine::Task;
use atelier_studio::form::refused_input;
use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use super::edit;
use crate::browser::location;
use crate::reactive::boxed::{dynamic, handler};
use crate::state::contexts::contexts;
use crate::view::form::{Field, field};

/// Links to the parameters that the service named when it refused the input. If the form is on the page, a link focuses
/// the field.
pub fn links(task: &Task) -> AnyView {
    let all = contexts();
    let task = task.clone();
    dynamic(move || {
        let schema = all.catalog.schema(&task.model);
        let Some(schema) = schema.loaded() else {
            return ().into_any();
        };
        let named = refused_input::named_parameters(&task, schema);
        if named.is_empty() {
            return ().into_any();
        }
        let links = named.into_iter().map(|name| link(&task, schema, name));
        view! { <p class="row tight">"Change " {links.collect_view()}</p> }.into_any()
    })
}

fn link(task: &Task, schema: &Schema, name: &str) -> Option<AnyView> {
    let navigation = contexts().navigation;
    let at = schema.parameters().position(|(it, _)| it.name == name)?;
    let id = Field::id_of(at);
    let (href, here) = (edit::address(task), Route::Model(task.model.clone()));
    let press = move |event: web_sys::MouseEvent| {
        if !location::opens_elsewhere(&event) && untrack(|| navigation.route()) == here {
            event.prevent_default();
            field::focus(&id);
        }
    };
    let link = view! {
        <a href=href on:click=handler(press)>
            {name.to_owned()}
        </a>
    };
    Some(link.into_any())
}
