//! `GET /api/account`: the account of a token. Not part of INTERFACE.

use std::sync::Arc;

use atelier_contract::{AccountStatus, Envelope};
use axum::Json;
use axum::extract::{Request, State};

use super::call::{MAX_BODY, admit};
use super::run_blocking;
use crate::connections::Peer;
use crate::failure::Failure;
use crate::state::App;

/// Answers `GET /api/account`: the account of the token, its limits and its usage. Not part of INTERFACE.
///
/// # Errors
///
/// As for [`admit`]; also 500 or 503 if the store does not respond.
pub async fn status(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<AccountStatus>>, Failure> {
    let peer = request.extensions().get::<Peer>().cloned();
    let account = admit(&app, request.headers(), peer.as_ref(), MAX_BODY as u64)
        .await?
        .account;
    let status = run_blocking(move || status_of(&app, account)).await?;
    Ok(Json(Envelope::success(status)))
}

fn status_of(app: &App, account: Option<String>) -> Result<AccountStatus, Failure> {
    let Some(uid) = account else {
        let message = "This service has no accounts.";
        return Err(Failure::not_found("no_accounts", message));
    };
    let unfinished = app.pool.unfinished_of(&uid).map_err(Failure::store)?;
    let limits = app.pool.limits();
    Ok(AccountStatus {
        waiting: unfinished.waiting,
        running: unfinished.running,
        max_waiting: limits.waiting,
        max_running: limits.running,
        bytes: app.store.bytes_of(&uid).map_err(Failure::store)?,
        max_bytes: app.account_disk,
        uid,
    })
}
