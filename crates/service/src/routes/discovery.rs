//! `GET /api/models` and `GET /api/schema/:category/:subcategory`. Public.

use std::sync::Arc;

use atelier_contract::{Envelope, Integration, ModelId, Schema, path};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::generate::unknown_model;
use super::{ModelPath, needs_account};
use crate::config::McpTools;
use crate::failure::Failure;
use crate::idempotency::TTL_SECONDS;
use crate::model::Model;
use crate::models::sample_path;
use crate::origin::Origin;
use crate::state::App;
use crate::uploads::{self, inspect};
use crate::webhooks::Event;

/// Answers `GET /api/models` (INTERFACE).
///
/// # Errors
///
/// As for [`needs_account`].
pub async fn models(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Value>, Failure> {
    let origin = app.access.origin(&headers);
    let entries: Vec<Value> = app
        .models
        .iter()
        .map(|model| entry(&app, model, &origin))
        .collect();
    let mut body = json!({
        "success": true,
        "count": entries.len(),
        "data": entries,
        "message": "Models retrieved",
        // Not part of INTERFACE: submissions can be repeated with the same key.
        "idempotency_key": {"ttl_seconds": TTL_SECONDS},
        // Not part of INTERFACE: tasks can be canceled.
        "cancel": true,
        // Not part of INTERFACE: the status contains the progress of running tasks.
        "progress": true,
        // Not part of INTERFACE: the stream of the changes of tasks.
        "events": path::EVENTS,
        // Not part of INTERFACE: the additional files.
        "integrations": [
            Integration::COMFYUI_NODES,
            Integration::OPENAI_FUNCTIONS,
            Integration::MCP,
        ],
        // Not part of INTERFACE: the base URL of OpenAI's images API for these models.
        "openai": origin.url("/v1"),
        // Not part of INTERFACE: a document for agents.
        "skill": origin.url(path::SKILL),
    });
    if app.mcp.tools != McpTools::Off {
        // Not part of INTERFACE: the MCP server.
        body["mcp"] = origin.url(path::MCP_ENDPOINT).into();
    }
    if let Some(max_bytes) = app.uploads.max_bytes {
        // Not part of INTERFACE: files for inputs can be uploaded.
        body["uploads"] = json!({
            "max_bytes": max_bytes,
            "types": inspect::types().collect::<Vec<_>>(),
            "ttl_seconds": uploads::TTL.as_secs(),
        });
    }
    if app.webhooks.is_some() {
        // Not part of INTERFACE: requests to generate can contain a webhook.
        body["webhooks"] = json!({"events": Event::ALL.map(Event::name)});
    }
    let needs_account = needs_account(&app).await?;
    if app.token.is_none() && !needs_account {
        // Any token is accepted, so the page can use this one, and the user need not enter one. It is not secret, and
        // not part of INTERFACE.
        body["guest"] = json!({"uid": "local", "token": "local"});
    }
    if needs_account {
        body["account"] = path::ACCOUNT.into();
    }
    Ok(Json(body))
}

fn entry(app: &App, model: &dyn Model, origin: &Origin) -> Value {
    let (about, id) = (model.about(), model.id());
    let documentation = origin.url(&documentation_path(&id));
    let mut entry = json!({
        "name": about.name,
        "category": id.category,
        "subcategory": id.subcategory,
        "description": about.description,
        "endpoint": {
            "generate": path::GENERATE,
            "status": path::STATUS,
            "response": path::RESPONSE,
        },
        "documentation": documentation,
    });
    match app.models.remote(&id) {
        None => {
            entry["preview"] = origin.url(&sample_path::preview(model)).into();
            entry["poster"] = origin.url(&sample_path::poster(model)).into();
        }
        Some(remote) => {
            // The service renders no sample of a remote model, because that would cost money.
            entry["preview"] = remote.preview().unwrap_or(&documentation).into();
            // Not part of INTERFACE: tasks are accepted and wait.
            if let Some(why) = remote.unavailable() {
                entry["away"] = why.into();
            }
        }
    }
    entry
}

/// Answers `GET /api/schema/:category/:subcategory` (INTERFACE).
///
/// # Errors
///
/// 404 if there is no such model.
pub async fn schema(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
) -> Result<Json<Envelope<Schema>>, Failure> {
    let model = app.models.find(&id).ok_or_else(|| unknown_model(&id))?;
    Ok(Json(Envelope {
        message: Some("Schema retrieved".to_owned()),
        ..Envelope::success(model.schema())
    }))
}

/// Returns the path of a model's documentation page.
pub fn documentation_path(id: &ModelId) -> String {
    format!("/api/docs/{}", path::model_segments(id))
}
