//! The tools of the MCP server.

use atelier_contract::Schema;
use atelier_contract::function_schema::{function_name, function_schema};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::delivered::KEEP;
use crate::agents::one_line;
use crate::model::Model;
use crate::models::Models;

pub const LIST_MODELS: &str = "list_models";
pub const DESCRIBE_MODEL: &str = "describe_model";
pub const GENERATE: &str = "generate";
pub const GET_TASK: &str = "get_task";
pub const CANCEL_TASK: &str = "cancel_task";

const GENERAL: [&str; 5] = [LIST_MODELS, DESCRIBE_MODEL, GENERATE, GET_TASK, CANCEL_TASK];

pub const WAIT_SECONDS: &str = "wait_seconds";
pub const REQUEST_ID: &str = "request_id";

/// The default and the maximum of `wait_seconds`. The default is shorter than the timeout of most clients.
pub const DEFAULT_WAIT: u32 = 20;
pub const MAX_WAIT: u32 = 300;

/// The maximum length of a `request_id` and of a search text, in characters.
pub const MAX_REQUEST_ID: usize = 100;
pub const MAX_SEARCH: usize = 200;

/// The default and the maximum number of models in the result of `list_models`.
pub const DEFAULT_MODELS: u32 = 20;
pub const MAX_MODELS: u32 = 50;

/// The maximum length of the description of a parameter, in characters.
const MAX_DESCRIPTION: usize = 1000;

/// The maximum number of tools for single models.
const MAX_TYPED: usize = 100;

/// Returns the general tools.
pub fn general() -> Vec<Tool> {
    let model = json!({"type": "string", "description": "category/subcategory, as list_models returns it."});
    let task_id = json!({"type": "string", "description": "The task_id that generate returned."});
    vec![
        tool(
            LIST_MODELS,
            "List models",
            "Lists generation models with their descriptions. Free.",
            json!({
                "search": {
                    "type": "string", "maxLength": MAX_SEARCH,
                    "description": "Words that the name, the description or the kind of output (image, video, audio) contains.",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_MODELS, "default": DEFAULT_MODELS},
            }),
            &[],
            read_only(),
        ),
        tool(
            DESCRIBE_MODEL,
            "Describe a model",
            "Returns the input parameters of a model. Call it before generate. Free.",
            json!({"model": model}),
            &["model"],
            read_only(),
        ),
        tool(
            GENERATE,
            "Generate",
            &format!("Runs a model, which may cost money. {}", generate_note()),
            json!({
                "model": model,
                "input": {
                    "type": "object", "additionalProperties": true,
                    "description": "The parameters of the model, as describe_model returns them.",
                },
                WAIT_SECONDS: wait_schema(DEFAULT_WAIT),
                REQUEST_ID: request_id_schema(),
            }),
            &["model", "input"],
            generating(),
        ),
        tool(
            GET_TASK,
            "Get a task",
            "Returns the status of a task, and its files when it is completed. Free.",
            json!({"task_id": task_id, WAIT_SECONDS: wait_schema(0)}),
            &["task_id"],
            read_only(),
        ),
        tool(
            CANCEL_TASK,
            "Cancel a task",
            "Cancels a task that has not ended. What was computed until then may be charged.",
            json!({"task_id": task_id}),
            &["task_id"],
            ToolAnnotations::new()
                .read_only(false)
                .destructive(true)
                .idempotent(true)
                .open_world(true),
        ),
    ]
}

fn generate_note() -> String {
    format!(
        "If the task has not ended after {WAIT_SECONDS}, the result has the status processing: call get_task with its task_id, \
         don't generate again. An equal call while the task runs, or up to {} minutes later if its result may have been lost, \
         joins that task; a new {REQUEST_ID} makes another task.",
        KEEP.as_secs() / 60
    )
}

fn wait_schema(default: u32) -> Value {
    json!({
        "type": "number", "minimum": 0, "maximum": MAX_WAIT, "default": default,
        "description": "How long to wait for the end of the task.",
    })
}

fn request_id_schema() -> Value {
    json!({
        "type": "string", "maxLength": MAX_REQUEST_ID,
        "description": "Only to generate again with equal arguments: a new random text for each further result. \
             The same text with equal arguments returns the same task for a day, unless that was canceled.",
    })
}

/// Returns the tools of single models: of the first [`MAX_TYPED`] that need no secrets.
pub fn typed(models: &Models) -> Vec<Tool> {
    typed_models(models)
        .map(|(name, model)| {
            let (about, schema) = (model.about(), model.schema());
            let function = function_schema(&schema, &one_line(about.description, 400));
            let description = format!(
                "{} {}",
                function["description"].as_str().unwrap_or_default(),
                generate_note()
            );
            let mut input = function["parameters"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            if let Some(Value::Object(properties)) = input.get_mut("properties") {
                for property in properties.values_mut().filter_map(Value::as_object_mut) {
                    shorten_description(property);
                }
                // The names of the model's own parameters take precedence.
                for (name, schema) in [
                    (WAIT_SECONDS, wait_schema(DEFAULT_WAIT)),
                    (REQUEST_ID, request_id_schema()),
                ] {
                    properties.entry(name).or_insert(schema);
                }
            }
            Tool::new(name, description, input)
                .with_title(one_line(about.name, 100))
                .with_annotations(generating())
        })
        .collect()
}

/// Reduces the description of a parameter, which may come from another server, to one line.
pub fn shorten_description(parameter: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = parameter.get_mut("description") {
        *text = one_line(text, MAX_DESCRIPTION);
    }
}

/// Returns the model of a tool for a single model.
pub fn typed_model<'a>(models: &'a Models, tool: &str) -> Option<&'a dyn Model> {
    typed_models(models)
        .find(|(name, _)| name == tool)
        .map(|(_, model)| model)
}

fn typed_models(models: &Models) -> impl Iterator<Item = (String, &dyn Model)> {
    let mut names: Vec<String> = GENERAL.map(str::to_owned).into();
    let named = move |model| {
        let name = function_name(&<dyn Model>::id(model));
        let is_free = !names.contains(&name);
        names.push(name.clone());
        is_free.then_some((name, model))
    };
    models
        .iter()
        .filter(|model| !needs_secret(&model.schema()))
        .filter_map(named)
        .take(MAX_TYPED)
}

/// Returns whether a model has a required secret parameter. A chat model must not be asked for it.
pub fn needs_secret(schema: &Schema) -> bool {
    schema
        .parameters()
        .any(|(parameter, is_required)| is_required && parameter.is_secret())
}

fn tool(
    name: &'static str,
    title: &str,
    description: &str,
    properties: Value,
    required: &[&str],
    annotations: ToolAnnotations,
) -> Tool {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description.to_owned(), schema)
        .with_title(title)
        .with_annotations(annotations)
}

fn read_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

fn generating() -> ToolAnnotations {
    // An equal call joins the same task only for some minutes.
    ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_a_tool_with_its_parameters() {
        let models = Models::built_in();
        let tools = typed(&models);
        assert_eq!(tools.len(), models.iter().count());
        let strata = tools
            .iter()
            .find(|tool| tool.name == "image_strata")
            .unwrap();
        let properties = strata.input_schema["properties"].as_object().unwrap();
        assert!(
            ["prompt", WAIT_SECONDS, REQUEST_ID]
                .iter()
                .all(|name| properties.contains_key(*name))
        );
        let model = typed_model(&models, "image_strata").unwrap();
        assert_eq!(model.id().to_string(), "image/strata");
        assert!(typed_model(&models, GENERATE).is_none());
    }

    /// Guards against hidden instructions in the description of a parameter.
    #[test]
    fn descriptions_of_parameters_are_one_visible_line() {
        let mut parameter =
            Map::from_iter([("description".into(), json!("a\n\n# b\u{200b}\u{fe01}"))]);
        shorten_description(&mut parameter);
        assert_eq!(json!(parameter), json!({"description": "a # b"}));
    }
}
