use atelier_studio::fault::release::MissingReason;
use icondata_lu::{LuCloudOff, LuRotateCcw};
use leptos::prelude::*;

use crate::boot::deferred::{Deferred, Functions, State};
use crate::reactive::boxed::{dynamic, handler};
use crate::view::parts::glyph::Glyph;

/// Returns a view from a deferred part of the program, or a placeholder until that part has loaded.
pub fn deferred<F: Functions>(
    part: Deferred<F>,
    view: impl Fn(F) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    part.want();
    dynamic(move || {
        if let Some(functions) = part.functions() {
            return view(functions);
        }
        let state = part.state();
        let act = move || match state {
            State::Missing(Some(MissingReason::Newer)) => part.reload(),
            _ => part.load(),
        };
        missing(state, Box::new(act))
    })
}

/// Returns the placeholder, or a message about why the part could not be loaded with a button.
fn missing(state: State, act: Box<dyn Fn()>) -> AnyView {
    let (what, why, button) = match state {
        State::Reloading => (
            "Atelier has been updated.",
            "This page reloads once its requests are answered. Your input is kept.",
            "",
        ),
        State::Missing(Some(MissingReason::Newer)) => (
            "Atelier has been updated.",
            "Reload the page to get the update. Your input is kept, except secrets.",
            "Reload",
        ),
        State::Missing(Some(MissingReason::Network)) => (
            "This page could not be opened.",
            "A part of Atelier could not be fetched: the network or its host has a problem.",
            "Try again",
        ),
        State::Missing(Some(MissingReason::Part)) => (
            "This page could not be opened.",
            "A part of Atelier could not be fetched, although its host answers.",
            "Try again",
        ),
        State::Here | State::Waiting | State::Loading | State::Missing(None) => {
            return view! { <div class="skeleton tall" role="status" aria-label="Opening"></div> }
                .into_any();
        }
    };
    let button = (!button.is_empty()).then(|| {
        view! {
            <button class="button" type="button" on:click=handler(move |_| act())>
                <Glyph icon=LuRotateCcw />
                {button}
            </button>
        }
        .into_any()
    });
    view! {
        <div class="failure" role="alert">
            <Glyph icon=LuCloudOff />
            <div>
                <p class="failure-what">{what}</p>
                <p>{why}</p>
                {button}
            </div>
        </div>
    }
    .into_any()
}
