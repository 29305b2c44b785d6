//! Tests whether the service replies and accepts the credentials.

use atelier_contract::{ApiError, ModelList, TaskId, TaskRequest, path};
use atelier_engine::{CallKind, MissingCredentials, ReplyLimits};
use atelier_studio::connection::account_status::user_message;
use atelier_studio::connection::verdict::verdict;
use atelier_studio::text::plural::counted;
use leptos::prelude::*;

use super::account;
use crate::browser::{http, location};
use crate::state::session::{Session, Settings};

/// The state of the test: running, or its result as a sentence.
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

/// Requests the models and then the account of the token, and returns a sentence with the result. `on_account` receives
/// the name of the account.
///
/// If the service has no accounts, requests the status of a task that can't exist: a service that accepts the credentials
/// replies that it doesn't know the task. Nothing is generated.
///
/// # Errors
///
/// A sentence: the service does not list its models, the credentials are missing or were not accepted.
pub async fn run(
    session: Session,
    settings: Settings,
    token: String,
    on_account: impl Fn(String),
) -> Result<String, String> {
    let address = &settings.address;
    let explain = |error: &ApiError| error.user_message_of(address, &location::origin());
    let list = http::get_models(&address.url(path::MODELS))
        .await
        .and_then(|body| ModelList::from_body(&body.bytes()))
        .map_err(|error| explain(&error))?;
    let models = counted(list.models.len(), "model");
    let found = format!("The service answers and lists {models}");
    let credentials = if settings.uid.is_empty() && token.is_empty() && list.guest.is_some() {
        session.set_guest(address.clone(), list.guest.clone());
        return Ok(format!("{found}; no account needed."));
    } else if list.has_accounts && !token.is_empty() {
        return test_account(&settings, token, &found, on_account).await;
    } else if token.is_empty() {
        let missing = match settings.uid.is_empty() {
            true => MissingCredentials::Both,
            false => MissingCredentials::Token,
        };
        return Err(format!("{found}. {}", missing.user_message()));
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
    let answer = http::post_json(
        CallKind::Status,
        ReplyLimits::of(CallKind::Status, 1),
        &address.url(path::STATUS),
        &request.to_body(),
        &credentials,
        None,
    )
    .await;
    let has_uid = !credentials.uid.is_empty();
    verdict(&found, has_uid, answer.map(drop), explain)
}

/// Tests whether the token belongs to the account in User ID.
async fn test_account(
    settings: &Settings,
    token: String,
    found: &str,
    on_account: impl Fn(String),
) -> Result<String, String> {
    let credentials = atelier_contract::Credentials::new(settings.uid.clone(), token);
    let status = account::request_account(&settings.address, &credentials)
        .await
        .map_err(|error| {
            let why = error.user_message_of(&settings.address, &location::origin());
            format!("{found}, but: {why}")
        })?;
    let (uid, account) = (&settings.uid, &status.uid);
    if !uid.is_empty() && uid != account {
        return Err(format!(
            "{found}, but the token belongs to the account {account}, not to {uid}. Set User ID to {account}."
        ));
    }
    on_account(account.clone());
    Ok(format!("{found}. {}", user_message(&status)))
}
