//! The two Python files (INTERFACE "GET /api/openai-function", "GET /api/comfyui-node"), rendered
//! from a model's schema.
//!
//! Strings of a schema are data. They reach a template in two ways only: as a literal written by
//! [`literal`], or as a name that [`names`] has reduced to letters, digits and `_`.

mod comfyui_node;
mod function_schema;
pub mod literal;
pub mod names;
mod parameters;

use std::sync::LazyLock;

use atelier_contract::{Schema, python_file};
use minijinja::value::Value as Safe;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, context};
use serde_json::{Value, json};

use crate::models::About;

pub use function_schema::{function_schema, property};
pub use names::function_name;

/// What the files say of a model beside its schema.
#[derive(Debug, Clone)]
pub struct Words {
    /// Display name.
    pub name: String,
    pub description: String,
}

impl From<About> for Words {
    fn from(about: About) -> Self {
        Self {
            name: about.name.to_owned(),
            description: about.description.to_owned(),
        }
    }
}

/// Every `{{ value }}` that is not marked as safe is written as a Python literal, so that no
/// template can let a string out as code.
static TEMPLATES: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_keep_trailing_newline(true);
    templates.set_auto_escape_callback(|_| AutoEscape::Custom("python"));
    templates.set_formatter(|out, _, value| {
        if value.is_safe() {
            return out
                .write_str(value.as_str().unwrap_or_default())
                .map_err(Error::from);
        }
        let value = serde_json::to_value(value)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
        out.write_str(&literal::inline(&value)).map_err(Error::from)
    });
    for (name, source) in [
        ("workflow.py", include_str!("../../templates/workflow.py")),
        (
            "openai_function.py",
            include_str!("../../templates/openai_function.py"),
        ),
        (
            "comfyui_node.py",
            include_str!("../../templates/comfyui_node.py"),
        ),
    ] {
        templates.add_template(name, source)?;
    }
    Ok(templates)
});

/// The OpenAI function file: the function's JSON schema, an execution function, a usage example.
///
/// `base_url` is the address that the file calls unless `SERVICE_BASE_URL` is set.
pub fn render_openai_function(
    schema: &Schema,
    model: &Words,
    base_url: &str,
) -> Result<String, Error> {
    let function = function_schema(schema, model);
    render(
        "openai_function.py",
        schema,
        model,
        base_url,
        json!({ "FUNCTION": function }),
    )
}

/// The ComfyUI node file: a node whose inputs are the model's parameters.
///
/// `base_url` is the address that the file calls unless `SERVICE_BASE_URL` is set.
pub fn render_comfyui_node(
    schema: &Schema,
    model: &Words,
    base_url: &str,
) -> Result<String, Error> {
    let parts = comfyui_node::parts(schema);
    render("comfyui_node.py", schema, model, base_url, parts)
}

/// `parts` are assignments of their own: a name and what it is.
fn render(
    template: &str,
    schema: &Schema,
    model: &Words,
    base_url: &str,
    parts: Value,
) -> Result<String, Error> {
    let assignments: Vec<String> = parts
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name} = {}", literal::block(value, 0)))
        .collect();
    let module = python_file::module(&schema.model);
    TEMPLATES
        .as_ref()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?
        .get_template(template)?
        .render(context! {
            model_name => model.name,
            description => model.description,
            category => schema.model.category,
            subcategory => schema.model.subcategory,
            base_url => base_url,
            node_key => format!("{}_{}", schema.model.category, schema.model.subcategory),
            left_out => comfyui_node::LEFT_OUT,
            module => Safe::from_safe_string(module),
            parameters => Safe::from_safe_string(literal::block(&parameters::table(schema), 0)),
            parts => Safe::from_safe_string(assignments.join("\n\n")),
        })
}

#[cfg(test)]
mod tests;
