//! Whether the service answers, and takes the credentials.

use atelier_contract::{ApiError, ModelList, TaskId, TaskRequest, path};
use atelier_engine::NO_CREDENTIALS;
use atelier_engine::account_status::user_message;
use leptos::prelude::*;

use super::account;
use crate::browser::{http, location};
use crate::session::{Session, Settings};

/// How the last one ended.
#[derive(Clone)]
pub enum Test {
    Running,
    Done(Result<String, String>),
}

impl Test {
    pub fn into_view(self) -> AnyView {
        match self {
            Test::Running => view! { <p class="muted">"Asking the service…"</p> }.into_any(),
            Test::Done(Ok(text)) => view! { <p class="good">{text}</p> }.into_any(),
            Test::Done(Err(text)) => view! { <p class="problem">{text}</p> }.into_any(),
        }
    }
}

/// Asks for the models, then whose the token is. A service without accounts is asked for the status
/// of a task that cannot exist: one that knows the credentials says that it does not know the task.
/// Nothing is generated. `name` is told the account.
pub async fn run(
    session: Session,
    settings: Settings,
    token: String,
    name: impl Fn(String),
) -> Result<String, String> {
    let address = &settings.address;
    let said = |error: &ApiError| error.user_message_of(address, &location::origin());
    let list = http::get_models(&address.url(path::MODELS))
        .await
        .and_then(|body| ModelList::from_body(&body.bytes()))
        .map_err(|error| said(&error))?;
    let found = format!("The service answers and lists {} models", list.models.len());
    let credentials = if settings.uid.is_empty() && token.is_empty() && list.guest.is_some() {
        session.set_guest(address.clone(), list.guest.clone());
        return Ok(format!("{found}; no account needed."));
    } else if list.has_accounts && !token.is_empty() {
        return test_account(&settings, token, &found, name).await;
    } else if settings.uid.is_empty() || token.is_empty() {
        return Err(format!("{found}. {NO_CREDENTIALS}"));
    } else {
        atelier_contract::Credentials::new(settings.uid.clone(), token)
    };
    let Some(model) = list.models.first() else {
        return Ok(format!("{found}."));
    };
    let request = TaskRequest {
        id: &TaskId("connection-test".into()),
        uid: &credentials.uid,
        model: &model.id,
    };
    match http::post_json(
        &address.url(path::STATUS),
        &request.to_body(),
        &credentials,
        None,
    )
    .await
    {
        Err(error @ (ApiError::Unauthorized { .. } | ApiError::Network { .. })) => {
            Err(format!("{found}, but: {}", said(&error)))
        }
        Ok(_)
        | Err(ApiError::NotFound { .. } | ApiError::Invalid { .. } | ApiError::Refused { .. }) => {
            Ok(format!("{found}. The credentials were accepted."))
        }
        Err(error) => Ok(format!(
            "{found}. The credentials could not be checked: {}",
            said(&error)
        )),
    }
}

/// Whether the token is of the account that the User ID names.
async fn test_account(
    settings: &Settings,
    token: String,
    found: &str,
    name: impl Fn(String),
) -> Result<String, String> {
    let credentials = atelier_contract::Credentials::new(settings.uid.clone(), token);
    let status = account::ask(&settings.address, &credentials)
        .await
        .map_err(|error| {
            let why = error.user_message_of(&settings.address, &location::origin());
            format!("{found}, but: {why}")
        })?;
    let (uid, account) = (&settings.uid, &status.uid);
    if !uid.is_empty() && uid != account {
        return Err(format!(
            "{found}, but the token is of the account {account}, not of {uid}. User ID is to be {account}."
        ));
    }
    name(account.clone());
    Ok(format!("{found}. {}", user_message(&status)))
}
