//! What the programs read from the environment.

use leptos::prelude::*;

use crate::state::contexts::contexts;

/// Which variables have to be set, and to what; `then`: what follows in the same step.
pub fn set_environment(then: &'static str) -> AnyView {
    match contexts().session.guest() {
        Some(guest) => view! {
            "Set " <code>{format!("SERVICE_UID={}", guest.uid)}</code> " and "
            <code>{format!("SERVICE_TOKEN={}", guest.token)}</code>
            " in the environment: the service takes guests, and no account is needed"{then}"."
        }
        .into_any(),
        None => view! {
            "Set " <code>"SERVICE_UID"</code> " and " <code>"SERVICE_TOKEN"</code>
            " in the environment, to your User ID and Access token"{then}"."
        }
        .into_any(),
    }
}
