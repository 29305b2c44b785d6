//! A line about a form that is out of date: it comes from the cache, or the service has changed it since.

use atelier_contract::ModelId;
use leptos::prelude::*;

use super::shown_schema::ShownSchema;
use crate::reactive::boxed::{memo, text};
use crate::state::contexts::contexts;
use crate::view::parts::as_of;

/// Returns the line, which is empty while the form is current.
pub fn form_as_of(model: ModelId, shown: ShownSchema) -> AnyView {
    let catalog = contexts().catalog;
    let since = memo({
        let model = model.clone();
        move || catalog.schema_as_of(&model)
    });
    let is_requesting = as_of::request_signal(since);
    let is_explained = as_of::is_explained();
    let message = text(move || match shown.is_older.get() {
        true => "The service has changed this form.".into(),
        false => as_of::stale_text(&since.read(), "This form is", is_explained.get()),
    });
    let label = text(move || match shown.is_older.get() {
        true => "Show the new one".into(),
        false if is_explained.get() => String::new(),
        false => as_of::retry_label(is_requesting),
    });
    let act = move || {
        if shown.is_older.get_untracked() {
            return shown.show_newest(&model);
        }
        is_requesting.set(true);
        // The list of models shows whether the service is available again, and is requested again automatically.
        catalog.load_models();
        catalog.reload_schema(&model);
    };
    as_of::line(message, label, act)
}
