//! `Edit`: the form of a task's model, filled with the task's inputs.

use atelier_engine::Task;
use atelier_engine::route::{Route, with_query_value};
use leptos::prelude::*;

use crate::boxed::handler;
use crate::contexts::contexts;

/// In the address: the task whose inputs fill the form.
pub const FROM: &str = "from";

/// Where the form is filled.
pub fn address(task: &Task) -> String {
    Route::Model(task.model.clone()).path() + &with_query_value("", FROM, Some(&task.key.0))
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
