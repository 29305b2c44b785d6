//! `GET /api/openapi.json`: the whole interface as an OpenAPI document, for other programs.
//!
//! The fixed parts are in `templates/openapi.json`; the parts that depend on models are generated from the schemas
//! that inputs are validated against.

use std::sync::Arc;

use atelier_contract::{IDEMPOTENCY_FIELD, Schema, function_schema};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::state::App;
use crate::webhooks::{EVENTS_FIELD, URL_FIELD};

pub const PATH: &str = "/api/openapi.json";

/// The JSON pointer to the models' inputs in the document.
const INPUT: &str = "/components/schemas/GenerateRequest";

/// Answers `GET /api/openapi.json`: the OpenAPI document of all endpoints.
///
/// # Errors
///
/// 500 if the template is not JSON.
pub async fn document(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Value>, Failure> {
    let mut document: Value = template().map_err(Failure::internal)?;
    document["servers"] = json!([{"url": app.access.origin(&headers).as_str()}]);
    let has_webhooks = app.webhooks.is_some();
    if !has_webhooks && let Some(document) = document.as_object_mut() {
        document.remove("webhooks");
    }
    if let Some(input) = document.pointer_mut(INPUT) {
        let schemas = app.models.iter();
        let schemas: Vec<Value> = schemas
            .map(|model| request(&model.schema(), has_webhooks))
            .collect();
        input["oneOf"] = schemas.into();
    }
    Ok(Json(document))
}

fn template() -> serde_json::Result<Value> {
    serde_json::from_str(include_str!("../../templates/openapi.json"))
}

/// Returns the schema of a generate request of one model.
fn request(schema: &Schema, has_webhooks: bool) -> Value {
    let mut properties = Map::new();
    let common = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    properties.insert("uid".into(), common("Uid"));
    properties.insert("category".into(), json!({"const": schema.model.category}));
    properties.insert(
        "subcategory".into(),
        json!({"const": schema.model.subcategory}),
    );
    properties.insert(IDEMPOTENCY_FIELD.into(), common("IdempotencyKey"));
    // A parameter of the model with this name stays one.
    if has_webhooks && schema.parameter(URL_FIELD).is_none() {
        properties.insert(URL_FIELD.into(), common("Webhook"));
        properties.insert(EVENTS_FIELD.into(), common("WebhookEvents"));
    }
    let mut required = vec!["uid", "category", "subcategory"];
    for (parameter, is_required) in schema.parameters() {
        let mut property = function_schema::property(parameter, is_required);
        if is_required {
            required.push(&parameter.name);
        } else {
            permit_null(&mut property);
        }
        properties.insert(parameter.name.clone(), property);
    }
    json!({
        "title": schema.model.to_string(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Permits `null`, which omits an optional parameter.
fn permit_null(property: &mut Value) {
    if let Some(Value::String(name)) = property.get("type").cloned() {
        property["type"] = json!([name, "null"]);
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Guards against a document that differs from the routes.
    #[test]
    fn every_endpoint_is_in_the_document_and_nothing_else() {
        let document = template().unwrap();
        let routes: BTreeSet<String> = super::super::endpoints()
            .into_iter()
            .map(|(path, method, _)| format!("{method} {path}"))
            // Outputs are served by the fallback, not by a route.
            .chain(["GET /outputs/{folder}/{file}".into()])
            .collect();
        let documented: BTreeSet<String> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().keys();
                methods.map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect();
        assert_eq!(documented, routes);
    }

    #[test]
    fn every_reference_exists() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(reference)) = fields.get("$ref") {
                        found.push(reference.clone());
                    }
                    fields.values().for_each(|value| references(value, found));
                }
                Value::Array(values) => values.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document = template().unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 20);
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        assert!(document.pointer(INPUT).is_some());
    }
}
