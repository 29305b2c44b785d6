//! That what is shown is as the service gave it some time ago, and the way to ask it again.

use atelier_engine::outage as words;
use leptos::prelude::*;

use crate::browser::{clock, dates};
use crate::reactive::boxed::{effect, handler, memo, text, when};
use crate::state::catalog::AsOf;
use crate::state::contexts::contexts;
use crate::state::outage;

/// Of the list of models.
pub fn models_as_of() -> AnyView {
    let catalog = contexts().catalog;
    let as_of = memo(move || catalog.models_as_of());
    let is_explained = is_explained();
    let said = text(move || said(&as_of.read(), "These models are", is_explained.get()));
    let is_asking = asking(as_of);
    let ask = move || {
        is_asking.set(true);
        catalog.load_models();
    };
    let label = text(move || match is_explained.get() {
        true => String::new(),
        false => try_again(is_asking),
    });
    line(said, label, ask)
}

/// Whether what stands above the page says why, and has the way to ask again.
pub fn is_explained() -> Memo<bool> {
    let all = contexts();
    memo(move || outage::message(all).is_some())
}

/// Nothing while the service gives what is asked for.
pub fn said(as_of: &Option<AsOf>, what: &str, is_explained: bool) -> String {
    let said = as_of.as_ref().and_then(|AsOf { since, outage, .. }| {
        let when = dates::as_of(*since, clock::now());
        Some(words::stale_message(
            outage.as_ref()?,
            what,
            &when,
            is_explained,
        ))
    });
    said.unwrap_or_default()
}

/// Whether it is being asked, for who sets it when that begins.
pub fn asking(as_of: Memo<Option<AsOf>>) -> RwSignal<bool> {
    let is_asking = RwSignal::new(false);
    effect(move || {
        // The call was answered, or has failed again.
        as_of.track();
        is_asking.set(false);
    });
    is_asking
}

/// Tracked.
pub fn try_again(is_asking: RwSignal<bool>) -> String {
    match is_asking.get() {
        true => "Asking…".into(),
        false => "Try again".into(),
    }
}

/// Without a `label` there is nothing to press. Once there was something to say its room stays: what is below may be about to be pressed.
pub fn line(said: Signal<String>, label: Signal<String>, act: impl Fn() + 'static) -> AnyView {
    let said = memo(move || said.get());
    let has_room = RwSignal::new(false);
    effect(move || {
        if !said.read().is_empty() {
            has_room.set(true);
        }
    });
    let is_over = when(move || said.read().is_empty());
    view! {
        <p
            class="as-of"
            class:over=is_over
            role="status"
            hidden=when(move || is_over.get() && !has_room.get())
        >
            <span prop:textContent=said></span>
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
