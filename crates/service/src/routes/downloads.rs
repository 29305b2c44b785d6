//! The files for other programs: the two Python files of INTERFACE ("GET /api/openai-function",
//! "GET /api/comfyui-node"), and additional ones. Public.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema, python_file};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::generate::unknown_model;
use super::{ModelPath, NOSNIFF, run_blocking};
use crate::failure::Failure;
use crate::model::Model;
use crate::python::{self, ModelTexts};
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

/// Returns a rendered Python file of one model.
fn python(
    app: &App,
    id: &ModelId,
    headers: &HeaderMap,
    name: &str,
    render: impl FnOnce(&Schema, &ModelTexts, &str) -> Result<String, minijinja::Error>,
) -> Result<Response, Failure> {
    let (schema, texts) = schema_and_texts(find(app, id)?);
    let text = render(&schema, &texts, app.access.origin(headers).as_str());
    Ok(file(PYTHON, name, text.map_err(Failure::internal)?))
}

/// Answers with an archive of all ComfyUI nodes, with workflows and documentation. Not part of INTERFACE.
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
    let bytes = run_blocking(pack).await?;
    Ok(file("application/zip", python_file::NODES, bytes))
}

/// Answers with one file that has a function for each model. Not part of INTERFACE.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn openai_functions(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let models: Vec<_> = app.models.iter().map(schema_and_texts).collect();
    let text = python::render_openai_functions(&models, origin.as_str());
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, python_file::FUNCTIONS, text))
}

/// Answers with an MCP server for one model. Not part of INTERFACE.
///
/// # Errors
///
/// 404 if there is no such model; 500 if the template is wrong.
pub async fn mcp(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let models = [schema_and_texts(find(&app, &id)?)];
    let (origin, name) = (app.access.origin(&headers), python_file::mcp(&id));
    let text = python::render_mcp_server(&models, origin.as_str(), &name);
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, &name, text))
}

/// Answers with an MCP server that has a tool for each model. Not part of INTERFACE.
///
/// # Errors
///
/// 500 if the template is wrong.
pub async fn mcp_of_all(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let origin = app.access.origin(&headers);
    let models: Vec<_> = app.models.iter().map(schema_and_texts).collect();
    let text = python::render_mcp_server(&models, origin.as_str(), python_file::MCP);
    let text = text.map_err(Failure::internal)?;
    Ok(file(PYTHON, python_file::MCP, text))
}

fn find<'a>(app: &'a App, id: &ModelId) -> Result<&'a dyn Model, Failure> {
    app.models.find(id).ok_or_else(|| unknown_model(id))
}

fn schema_and_texts(model: &dyn Model) -> (Schema, ModelTexts) {
    (model.schema(), model.into())
}

/// Returns a response that browsers save as a file. `name` is not escaped: it must be the name of a module or a
/// constant.
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
