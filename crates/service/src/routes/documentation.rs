//! A model's documentation page: `GET /api/docs/:category/:subcategory`.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::{Environment, context};
use serde_json::{Value, json};

use super::generate::unknown_model;
use super::{ModelPath, NOSNIFF};
use crate::failure::Failure;
use crate::models::sample_path;
use crate::state::App;

/// Permits only the preview, and no scripts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src http: https:; \
                      media-src http: https:; base-uri 'none'; form-action 'none'";

/// Names that end in `.html` are escaped as HTML.
static TEMPLATES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let page = include_str!("../../templates/documentation.html");
    templates.add_template("documentation.html", page)?;
    Ok(templates)
});

/// Answers with the documentation of a model, as a page (INTERFACE "Model entry", `documentation`).
///
/// # Errors
///
/// 404 if there is no such model; 500 if the template is wrong.
pub async fn page(
    State(app): State<Arc<App>>,
    ModelPath(id): ModelPath,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let model = app.models.find(&id).ok_or_else(|| unknown_model(&id))?;
    let remote = app.models.remote(&id);
    let about = model.about();
    let schema = model.schema();
    let parameters: Vec<Value> = schema
        .parameters()
        .map(|(parameter, required)| {
            json!({
                "name": parameter.name,
                "type": parameter.type_name,
                "required": required,
                "description": parameter.description,
                "default": parameter.default.as_ref().map(Value::to_string),
                "values": parameter.allowed_values.as_ref().map(|values| {
                    values.iter().map(Value::to_string).collect::<Vec<_>>()
                }),
                "minimum": parameter.minimum.as_ref().map(ToString::to_string),
                "maximum": parameter.maximum.as_ref().map(ToString::to_string),
                "max_length": parameter.max_length(),
            })
        })
        .collect();
    let mut example =
        json!({"uid": "YOUR_UID", "category": id.category, "subcategory": id.subcategory});
    if let (Some(example), Value::Object(sample)) = (example.as_object_mut(), model.sample()) {
        example.extend(sample);
    }
    let origin = app.access.origin(&headers);
    let html = TEMPLATES
        .as_ref()
        .map_err(Failure::internal)?
        .get_template("documentation.html")
        .and_then(|page| {
            page.render(context! {
                name => about.name,
                category => about.category,
                subcategory => about.subcategory,
                description => about.description,
                details => about.details,
                parameters => parameters,
                preview => match remote {
                    Some(remote) => remote.preview().map(str::to_owned),
                    None => Some(origin.url(&sample_path::preview(model))),
                },
                kind => remote.map_or(model.extension(), |_| "elsewhere"),
                origin => origin.as_str(),
                example => serde_json::to_string_pretty(&example).unwrap_or_default(),
            })
        })
        .map_err(Failure::internal)?;
    Ok((
        [(header::CONTENT_SECURITY_POLICY, POLICY)],
        [NOSNIFF],
        Html(html),
    )
        .into_response())
}
