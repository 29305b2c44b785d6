//! The files for other programs: the two Python files of INTERFACE ("GET /api/openai-function",
//! "GET /api/comfyui-node"), and additional ones. Public.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema, python_file};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::generate::unknown_model;
use super::{ModelPath, NOSNIFF, blocking};
use crate::failure::Failure;
use crate::model::Model;
use crate::python::{self, Words};
use crate::state::App;

const PYTHON: &str = "text/x-python; charset=utf-8";

/// Answers `GET /api/openai-function/:category/:subcategory` (INTERFACE).
///
/// # Errors
///
/// 404 if there is no such model; 500 if the template is wrong.
pub async fn openai_function(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let name = python_file::function(&id);
    python(&app, &id, &headers, &name, python::render_openai_function)
}

/// Answers `GET /api/comfyui-node/:category/:subcategory` (INTERFACE).
///
/// # Errors
///
/// 404 if there is no such model; 500 if the template is wrong.
pub async fn comfyui_node(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let name = python_file::node(&id);
    python(&app, &id, &headers, &name, python::render_comfyui_node)
}

/// Returns one model as a Python file.
fn python(
    app: &App,
    id: &ModelId,
    headers: &HeaderMap,
    name: &str,
    render: impl FnOnce(&Schema, &Words, &str) -> Result<String, minijinja::Error>,
) -> Result<Response, Failure> {
    let (schema, words) = described(find(app, id)?);
    let text = render(&schema, &words, app.access.origin(headers).as_str());
    Ok(file(PYTHON, name, text.map_err(Failure::internal)?))
}

/// Additional: every ComfyUI node, with workflows and documentation, as one folder.
///
/// # Errors
///
/// 500 if a template is wrong.
pub async fn comfyui_nodes(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let pack = move || python::node_pack(&app.models, origin.as_str()).map_err(Failure::internal);
    let bytes = blocking(pack).await?;
    Ok(file("application/zip", python_file::NODES, bytes))
}

/// Additional: every model as a function, in one file.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn openai_functions(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let models: Vec<_> = app.models.iter().map(described).collect();
    let text = python::render_openai_functions(&models, origin.as_str());
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, python_file::FUNCTIONS, text))
}

/// Additional: a model as an MCP server.
///
/// # Errors
///
/// 404 if there is no such model; 500 if the template is wrong.
pub async fn mcp(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let models = [described(find(&app, &id)?)];
    let (origin, name) = (app.access.origin(&headers), python_file::mcp(&id));
    let text = python::render_mcp_server(&models, origin.as_str(), &name);
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, &name, text))
}

/// Additional: every model as a tool of one MCP server.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn mcp_of_all(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let models: Vec<_> = app.models.iter().map(described).collect();
    let text = python::render_mcp_server(&models, origin.as_str(), python_file::MCP);
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, python_file::MCP, text))
}

fn find<'a>(app: &'a App, id: &ModelId) -> Result<&'a dyn Model, Failure> {
    app.models.find(id).ok_or_else(|| unknown_model(id))
}

fn described(model: &dyn Model) -> (Schema, Words) {
    (model.schema(), model.into())
}

/// `name` needs no escaping: it is the name of a module or a constant.
fn file(content_type: &'static str, name: &str, body: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    (headers, [NOSNIFF], body).into_response()
}
