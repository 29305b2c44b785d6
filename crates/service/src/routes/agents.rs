//! `GET /api/skill` and `GET /llms.txt`: documents for agents. Public, and not part of INTERFACE.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::call::MAX_BODY;
use super::{NOSNIFF, may_need_account};
use crate::agents::{self, Facts, Requirement};
use crate::failure::Failure;
use crate::state::App;
use crate::uploads::{self, inspect};

/// Answers `GET /api/skill`: a `SKILL.md`.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn skill(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Failure> {
    let requirement = match (may_need_account(&app).await, &app.token) {
        (true, _) => Requirement::Account,
        (false, Some(_)) => Requirement::Token,
        (false, None) => Requirement::Guest,
    };
    let facts = Facts {
        origin: app.access.origin(&headers).as_str().to_owned(),
        requirement,
        upload_bytes: app.uploads.max_bytes,
        upload_seconds: uploads::TTL.as_secs(),
        upload_types: inspect::types().collect(),
        body_bytes: MAX_BODY,
    };
    let text = agents::skill(&app.models, &facts).map_err(Failure::internal)?;
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"SKILL.md\""),
        NOSNIFF,
    ];
    Ok((headers, text).into_response())
}

/// Answers `GET /llms.txt`, as <https://llmstxt.org> describes it.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn llms(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let text = agents::llms(&app.models, origin.as_str()).map_err(Failure::internal)?;
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), NOSNIFF];
    Ok((headers, text).into_response())
}
