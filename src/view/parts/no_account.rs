//! The message that nothing was submitted because User ID and token are missing.

use atelier_engine::Idempotency;
use atelier_engine::outage::NoAccount;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::contexts;

/// Returns why tasks can't be submitted without credentials; tracked.
fn account_state() -> NoAccount {
    let session = contexts().session;
    let has_credentials = session.has_credentials();
    let missing = session.missing_credentials();
    match (has_credentials, missing, session.idempotency()) {
        (Some(false), Some(missing), _) => NoAccount::Needed(missing),
        (Some(_), ..) => NoAccount::TakesGuests,
        (None, _, Idempotency::Asked) => NoAccount::Asking,
        (None, ..) => NoAccount::Unreachable,
    }
}

/// Returns the message after a failed attempt to submit. It changes with the state of the service.
///
/// `stays`: a sentence about the input that is not lost.
pub fn no_account(stays: &'static str) -> AnyView {
    let account_state = memo(account_state);
    dynamic(move || {
        let settings = matches!(account_state.get(), NoAccount::Needed(_))
            .then(|| view! { " Go to " <a href="/settings">"Settings"</a> "." }.into_any());
        view! { {account_state.get().user_message()} {settings} " " {stays} }.into_any()
    })
}
