use icondata_lu::{LuCloudOff, LuRotateCcw};
use leptos::prelude::*;

use crate::app::contexts;
use crate::erased::{dynamic, handler};
use crate::later::State;
use crate::view::parts::glyph::Glyph;

/// Shows what lives in the later part of the program, once that is here.
pub fn later(view: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    let later = contexts().later;
    dynamic(move || {
        match later.state() {
        State::Here => view(),
        State::Coming => view! { <div class="skeleton tall" role="status" aria-label="Opening"></div> }.into_any(),
        State::Missing => view! {
            <div class="failure" role="alert">
                <Glyph icon=LuCloudOff />
                <div>
                    <p class="failure-what">"This page could not be opened."</p>
                    <p>
                        "A part of Atelier could not be fetched. If trying again does not help, reload \
                         this page: there may be a newer Atelier."
                    </p>
                    <button class="button" type="button" on:click=handler(move |_| later.load())>
                        <Glyph icon=LuRotateCcw />
                        "Try again"
                    </button>
                </div>
            </div>
        }
        .into_any(),
    }
    })
}
