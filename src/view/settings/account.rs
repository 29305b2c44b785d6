use atelier_contract::{AccountStatus, ApiError, Credentials, Envelope, ServiceAddress, path};
use atelier_studio::connection::account_status::user_message;
use leptos::prelude::*;

use crate::browser::http;
use crate::reactive::boxed::{effect, memo, spawn, text};
use crate::state::contexts::contexts;

/// The hint at User ID. If the service has accounts, it shows the account of the credentials and how much of its limits is
/// used. This replaces another hint, so that the layout does not shift.
#[component]
pub fn AccountHint() -> AnyView {
    let session = contexts().session;
    let catalog = contexts().catalog;
    let line = RwSignal::new(String::new());
    let has_accounts = memo(move || {
        let models = catalog.models();
        let is_reported = models.loaded().is_some_and(|list| list.has_accounts);
        is_reported && catalog.models_as_of().is_none()
    });
    effect(move || {
        line.set(String::new());
        let address = session.settings().address;
        let Some(credentials) = session.credentials().filter(|_| has_accounts.get()) else {
            return;
        };
        let version = session.credentials_name();
        spawn(async move {
            // Errors are shown where they block something.
            if let Ok(status) = request_account(&address, &credentials).await
                && status.uid == credentials.uid
                && untrack(|| session.credentials_name()) == version
            {
                line.try_set(user_message(&status));
            }
        });
    });
    view! {
        <p class="hint" id="uid-hint" role="status" prop:textContent=text(move || match line.get() {
                line if !line.is_empty() => line,
                _ => {
                    "Some services get it from the token: leave it empty and press Test connection."
                        .to_owned()
                }
            })></p>
    }
    .into_any()
}

/// Requests the account that a token belongs to.
///
/// # Errors
/// [`ApiError`], also if the reply is not an account.
pub async fn request_account(
    address: &ServiceAddress,
    credentials: &Credentials,
) -> Result<AccountStatus, ApiError> {
    let body = http::get_with(&address.url(path::ACCOUNT), credentials).await?;
    let read = serde_json::from_value::<Envelope<AccountStatus>>(body);
    read.map(|reply| reply.data)
        .map_err(|_| ApiError::malformed("the reply is not an account"))
}
