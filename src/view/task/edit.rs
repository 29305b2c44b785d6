//! `Edit`: the form of a task's model, filled with the task's inputs.

use atelier_contract::Schema;
use atelier_engine::Task;
use atelier_studio::navigation::route::{Route, with_query_value};
use leptos::prelude::*;

use crate::reactive::boxed::handler;
use crate::state::contexts::{Contexts, contexts};
use crate::state::secrets;

/// The query parameter with the task whose inputs fill the form.
pub const FROM: &str = "from";

/// Returns the address of the form, filled with the task's inputs.
pub fn address(task: &Task) -> String {
    Route::Model(task.model.clone()).path() + &with_query_value("", FROM, Some(&task.key.0))
}

/// Opens the task's form and returns true if secrets must be entered before its input is submitted again. See
/// [`crate::runner::Runner::asks_for_secrets`].
pub fn open_form_for_secrets(
    all: Contexts,
    task: &Task,
    is_same: bool,
    schema: Option<&Schema>,
) -> bool {
    let is_needed = all.runner.asks_for_secrets(task, is_same)
        || schema.is_some_and(|schema| secrets::is_any_missing(all.session, schema));
    if is_needed {
        all.navigation.go(&address(task));
    }
    is_needed
}

pub fn button(task: &Task, class: &'static str, inner: AnyView) -> AnyView {
    let navigation = contexts().navigation;
    let address = address(task);
    view! {
        <button
            class=class
            type="button"
            on:click=handler(move |_| navigation.go(&address))
        >
            {inner}
        </button>
    }
    .into_any()
}
