//! Why nothing can be sent without User ID and token, as it stands now.

use atelier_engine::Idempotency;
use atelier_engine::outage::NoAccount;
use leptos::prelude::*;

use crate::boxed::{dynamic, memo};
use crate::contexts::contexts;

/// Tracked.
fn known() -> NoAccount {
    let session = contexts().session;
    match (session.has_credentials(), session.idempotency()) {
        (Some(true), _) => NoAccount::TakesGuests,
        (Some(false), _) => NoAccount::Needed,
        (None, Idempotency::Asked) => NoAccount::Asking,
        (None, _) => NoAccount::Unreachable,
    }
}

/// What is said after a press that sent nothing; it keeps up with what is known. `stays`: what does.
pub fn no_account(stays: &'static str) -> AnyView {
    let known = memo(known);
    dynamic(move || {
        let settings = (known.get() == NoAccount::Needed).then(|| {
            view! { " They are set in " <a href="/settings">"Settings"</a> "." }.into_any()
        });
        view! { {known.get().user_message()} {settings} " " {stays} }.into_any()
    })
}
