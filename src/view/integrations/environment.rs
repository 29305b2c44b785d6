//! The environment variables of the programs.

use leptos::prelude::*;

use crate::state::contexts::contexts;

/// A step of the instructions: the environment variables to set, and their values. `then`: further text of the step.
pub fn set_environment(then: &'static str) -> AnyView {
    match contexts().session.guest() {
        Some(guest) => view! {
            "Set " <code>{format!("SERVICE_UID={}", guest.uid)}</code> " and "
            <code>{format!("SERVICE_TOKEN={}", guest.token)}</code>
            " in the environment: the service needs no account"{then}"."
        }
        .into_any(),
        None => view! {
            "Set " <code>"SERVICE_UID"</code> " and " <code>"SERVICE_TOKEN"</code>
            " in the environment, to your User ID and Access token"{then}"."
        }
        .into_any(),
    }
}
