use crate::contexts::contexts;
use atelier_contract::{ApiError, ServiceAddress};
use icondata_lu::{LuCloudOff, LuRotateCcw};
use leptos::prelude::*;

use crate::boxed::handler;
use crate::browser::location;

use super::glyph::Glyph;

/// Whoever looks at the page has started its service.
fn is_on_this_machine(address: &ServiceAddress) -> bool {
    let origin = location::origin();
    address.is_same_origin()
        && ["//127.0.0.1", "//localhost", "//[::1]"]
            .iter()
            .any(|host| origin.contains(host))
}

/// A fetch that failed: what happened, what to do, and a button to try again.
#[component]
pub fn Failure(
    /// What could not be had, e.g. `The models`.
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
    let advice = match &error {
        ApiError::Network { .. } | ApiError::Timeout { .. } | ApiError::Server { .. } => {
            Some(match is_on_this_machine(&address) {
                true => {
                    "Is the service running? Start it with ./dev serve. Another service's address is set \
                     in Settings."
                }
                false => "Is the service running? Its address is set in Settings.",
            })
        }
        ApiError::Malformed { .. } | ApiError::NotFound { .. } => {
            Some("Check the service address in Settings.")
        }
        _ => None,
    };
    view! {
        <div class="failure" role="alert">
            <Glyph icon=LuCloudOff />
            <div>
                <p class="failure-what">{what} " could not be loaded from " {place} "."</p>
                <p>{error.user_message()}</p>
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
