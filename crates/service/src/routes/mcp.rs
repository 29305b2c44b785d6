//! `POST /mcp`: the models as tools for assistants, over the Model Context Protocol (streamable HTTP without sessions). Not
//! part of INTERFACE.
//!
//! Access, host names, origins, rate limits and bodies are checked as for the other routes, before `rmcp` reads the message.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;

use super::Call;
use super::call::MAX_BODY;
use crate::config::McpTools;
use crate::failure::Failure;
use crate::state::App;
use delivery::Delivery;
use handler::Handler;

mod answer;
mod delivery;
mod handler;
mod submit;

/// The code of JSON-RPC errors for refused requests. The specification leaves it to servers.
const REFUSED: i32 = -32000;

/// The maximum length of a text of the library, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// Answers `POST /mcp`.
pub async fn call(State(app): State<Arc<App>>, request: Request) -> Response {
    if app.mcp.tools == McpTools::Off {
        let message = "This service has no MCP server: it was started with --mcp-tools off.";
        return to_response(Failure::not_found("not_found", message));
    }
    respond(&app, request).await.unwrap_or_else(to_response)
}

async fn respond(app: &Arc<App>, request: Request) -> Result<Response, Failure> {
    let uri = request.uri().clone();
    let (call, bytes) = Call::with_bytes(app, request).await?;
    let mut message = Request::new(Body::from(bytes));
    *message.method_mut() = Method::POST;
    *message.uri_mut() = uri;
    *message.headers_mut() = call.headers.clone();
    // The library must not see or log the token.
    message.headers_mut().remove(header::AUTHORIZATION);
    let delivery = Arc::new(Delivery::new());
    let handler = Handler {
        app: app.clone(),
        call: Arc::new(call),
        delivery: delivery.clone(),
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        // `Access` checks both.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let response = service.handle(message).await.map(Body::new);
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_text = content_type.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let status = response.status();
    if is_text && (status.is_client_error() || status.is_server_error()) {
        // The library answers with a text if a request is not a message.
        let text = axum::body::to_bytes(response.into_body(), MAX_TEXT).await;
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        return Err(Failure::new(status, "bad_request", text));
    }
    Ok(delivery::track(app.clone(), delivery, response))
}

/// Returns the response to a refused request: a JSON-RPC error without the id of a message.
fn to_response(failure: Failure) -> Response {
    let is_unauthorized = failure.status == StatusCode::UNAUTHORIZED;
    let error = json!({
        "jsonrpc": "2.0",
        "error": {"code": REFUSED, "message": failure.body.message, "data": {"error": failure.body.error}},
    });
    // The headers and the record for metrics and log.
    let (mut parts, _) = failure.into_response().into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    if is_unauthorized {
        let scheme = HeaderValue::from_static("Bearer realm=\"atelier\"");
        parts.headers.insert(header::WWW_AUTHENTICATE, scheme);
    }
    Response::from_parts(parts, Body::from(error.to_string()))
}
