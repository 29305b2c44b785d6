//! The two Python files (INTERFACE "GET /api/openai-function", "GET /api/comfyui-node"). Public.

use std::sync::Arc;

use atelier_contract::{ModelId, Schema, python_file};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::generate::unknown_model;
use super::{ModelPath, NOSNIFF};
use crate::app::App;
use crate::failure::Failure;
use crate::models::About;
use crate::python;

type Render = fn(&Schema, About, &str) -> Result<String, minijinja::Error>;

pub async fn openai_function(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let name = python_file::function(&id);
    file(&app, &id, &headers, name, |schema, about, url| {
        python::render_openai_function(schema, &about.into(), url)
    })
}

pub async fn comfyui_node(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let name = python_file::node(&id);
    file(&app, &id, &headers, name, |schema, about, url| {
        python::render_comfyui_node(schema, &about.into(), url)
    })
}

fn file(
    app: &App,
    id: &ModelId,
    headers: &HeaderMap,
    name: String,
    render: Render,
) -> Result<Response, Failure> {
    let model = app.models.find(id).ok_or_else(|| unknown_model(id))?;
    let origin = app.access.origin(headers);
    let text =
        render(&model.schema(), model.about(), origin.as_str()).map_err(Failure::internal)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            "text/x-python; charset=utf-8".to_owned(),
        ),
        // A module name needs no escaping.
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, [NOSNIFF], text).into_response())
}
