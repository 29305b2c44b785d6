//! Why nothing can be sent without User ID and token, as it stands now.

use atelier_engine::Idempotency;
use atelier_engine::outage::NoAccount;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::contexts;

/// Tracked.
fn known() -> NoAccount {
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

/// What is said after a press that sent nothing; it keeps up with what is known. `stays`: what does.
pub fn no_account(stays: &'static str) -> AnyView {
    let known = memo(known);
    dynamic(move || {
        let settings = matches!(known.get(), NoAccount::Needed(_))
            .then(|| view! { " Go to " <a href="/settings">"Settings"</a> "." }.into_any());
        view! { {known.get().user_message()} {settings} " " {stays} }.into_any()
    })
}
