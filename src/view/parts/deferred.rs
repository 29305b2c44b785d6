use atelier_engine::release::MissingReason;
use icondata_lu::{LuCloudOff, LuRotateCcw};
use leptos::prelude::*;

use crate::boxed::{dynamic, handler};
use crate::browser::location;
use crate::contexts::contexts;
use crate::deferred::{Program, State};
use crate::view::parts::glyph::Glyph;

/// Shows a page that lives in the deferred part of the program, once that is here.
pub fn deferred(view: impl Fn(Program) -> AnyView + Send + Sync + 'static) -> AnyView {
    let deferred = contexts().deferred;
    deferred.want();
    dynamic(move || match deferred.state() {
        State::Here => deferred.program().map(&view).into_any(),
        State::Waiting | State::Coming | State::Missing(None) => {
            view! { <div class="skeleton tall" role="status" aria-label="Opening"></div> }
                .into_any()
        }
        State::Leaving => missing(
            "There is a newer Atelier.",
            "This page loads itself anew to open it. What you have typed is kept.",
            None,
        ),
        State::Missing(Some(MissingReason::Network)) => missing(
            "This page could not be opened.",
            "A part of Atelier could not be fetched: the network, or the host that it comes from, \
             does not answer as it should.",
            Some(("Try again", Box::new(move || deferred.load()))),
        ),
        State::Missing(Some(MissingReason::Part)) => missing(
            "This page could not be opened.",
            "A part of Atelier could not be fetched, though the host that it comes from answers.",
            Some(("Try again", Box::new(move || deferred.load()))),
        ),
        State::Missing(Some(MissingReason::Newer)) => missing(
            "There is a newer Atelier.",
            "This page needs it, but loading the page anew has not led to it yet. What you have typed \
             is kept.",
            Some(("Reload", Box::new(location::reload))),
        ),
    })
}

/// What it says, and what pressing it does.
type Button = (&'static str, Box<dyn Fn()>);

fn missing(what: &'static str, why: &'static str, button: Option<Button>) -> AnyView {
    let button = button.map(|(label, act)| {
        view! {
            <button class="button" type="button" on:click=handler(move |_| act())>
                <Glyph icon=LuRotateCcw />
                {label}
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
