use crate::state::contexts::contexts;
use atelier_contract::ApiError;
use atelier_engine::outage;
use icondata_lu::{LuCloudOff, LuRotateCcw};
use leptos::prelude::*;

use crate::browser::location;
use crate::reactive::boxed::handler;

use super::glyph::Glyph;

/// The message for a failed request: what happened, what to do, and a button to try again.
#[component]
pub fn Failure(
    /// The resource that could not be loaded, for example `The models`.
    what: &'static str,
    error: ApiError,
    retry: Box<dyn Fn()>,
) -> impl IntoView {
    let session = contexts().session;
    let address = session.settings_untracked().address;
    let place = if address.is_same_origin() {
        "the address that served this page".to_owned()
    } else {
        address.to_string()
    };
    let origin = location::origin();
    let advice = outage::advice(&error, &address, &origin);
    let message = error.user_message_of(&address, &origin);
    view! {
        <div class="failure" role="alert">
            <Glyph icon=LuCloudOff />
            <div>
                <p class="failure-what">{what} " could not be loaded from " {place} "."</p>
                <p>{message}</p>
                {advice.map(|advice| view! { <p class="muted">{advice}</p> }.into_any())}
                <div class="row">
                    <button class="button" on:click=handler(move |_| retry())>
                        <Glyph icon=LuRotateCcw />
                        "Try again"
                    </button>
                    <a class="button quiet" href="/settings">"Settings"</a>
                </div>
            </div>
        </div>
    }
}
