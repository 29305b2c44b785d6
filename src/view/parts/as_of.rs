//! A line that shows the age of stale data, with a button that requests it again.

use atelier_engine::outage as words;
use leptos::prelude::*;

use crate::browser::{clock, dates};
use crate::reactive::boxed::{effect, handler, memo, text, when};
use crate::state::catalog::AsOf;
use crate::state::contexts::contexts;
use crate::state::outage;

/// Returns the line for the list of models.
pub fn models_as_of() -> AnyView {
    let catalog = contexts().catalog;
    let as_of = memo(move || catalog.models_as_of());
    let is_explained = is_explained();
    let message = text(move || stale_text(&as_of.read(), "These models are", is_explained.get()));
    let is_requesting = request_signal(as_of);
    let request = move || {
        is_requesting.set(true);
        catalog.load_models();
    };
    let label = text(move || match is_explained.get() {
        true => String::new(),
        false => retry_label(is_requesting),
    });
    line(message, label, request)
}

/// Returns whether the message at the top of the page already explains the outage and has a button to retry.
pub fn is_explained() -> Memo<bool> {
    let all = contexts();
    memo(move || outage::message(all).is_some())
}

/// Returns the text of the line, empty if the data is current. `what`: the subject of the sentence, for example
/// "These models are".
pub fn stale_text(as_of: &Option<AsOf>, what: &str, is_explained: bool) -> String {
    let message = as_of.as_ref().and_then(|AsOf { since, outage, .. }| {
        let when = dates::as_of(*since, clock::now());
        Some(words::stale_message(
            outage.as_ref()?,
            what,
            &when,
            is_explained,
        ))
    });
    message.unwrap_or_default()
}

/// Returns a signal that becomes false when a request has ended. The caller sets it to true at the start of the request.
pub fn request_signal(as_of: Memo<Option<AsOf>>) -> RwSignal<bool> {
    let is_requesting = RwSignal::new(false);
    effect(move || {
        // The request has succeeded or failed.
        as_of.track();
        is_requesting.set(false);
    });
    is_requesting
}

/// Returns the label of the button; tracked.
pub fn retry_label(is_requesting: RwSignal<bool>) -> String {
    match is_requesting.get() {
        true => "Asking…".into(),
        false => "Try again".into(),
    }
}

/// Returns the line, without a button if `label` is empty.
///
/// Once the line has been shown, its space remains, so that the content below doesn't shift under the pointer.
pub fn line(message: Signal<String>, label: Signal<String>, act: impl Fn() + 'static) -> AnyView {
    let message = memo(move || message.get());
    let keeps_space = RwSignal::new(false);
    effect(move || {
        if !message.read().is_empty() {
            keeps_space.set(true);
        }
    });
    let is_empty = when(move || message.read().is_empty());
    view! {
        <p
            class="as-of"
            class:over=is_empty
            role="status"
            hidden=when(move || is_empty.get() && !keeps_space.get())
        >
            <span prop:textContent=message></span>
            <button
                class="button quiet small"
                type="button"
                hidden=when(move || label.read().is_empty())
                on:click=handler(move |_| act())
                prop:textContent=label></button>
        </p>
    }
    .into_any()
}
