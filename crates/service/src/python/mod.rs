//! Renders Python files from models' schemas: the two of INTERFACE ("GET /api/openai-function",
//! "GET /api/comfyui-node"), and additional ones for several models or other programs.
//!
//! Strings of a schema are data. A template gets them only as literals written by [`literal`], or as names reduced to
//! letters, digits and `_`.

mod comfyui_node;
pub mod literal;
pub(crate) mod media;
mod node_pack;
mod parameters;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use atelier_contract::function_schema::{function_name, function_schema};
use atelier_contract::python_file::FUNCTIONS;
use atelier_contract::{Media, NULL_WORDS, Schema, python_file};
use minijinja::value::Value as Safe;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Template, context};
use serde_json::{Map, Value, json};

use crate::model::Model;

pub use node_pack::node_pack;

/// The texts about a model that the files contain in addition to its schema.
#[derive(Debug, Clone)]
pub struct ModelTexts {
    /// The display name.
    pub name: String,
    pub description: String,
    /// The medium of its files, if known.
    pub makes: Option<Media>,
}

impl From<&dyn Model> for ModelTexts {
    fn from(model: &dyn Model) -> Self {
        let about = model.about();
        Self {
            name: about.name.to_owned(),
            description: about.description.to_owned(),
            makes: model.makes(),
        }
    }
}

/// The name of this service in files and menus.
const SERVICE_NAME: &str = "Atelier";

/// The number of task ids that a ComfyUI node stores.
const MAX_IDS: u32 = 1000;

/// Every `{{ value }}` that is not marked as safe is rendered as a Python literal, so that no template can emit a
/// string as code.
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
        ("files.py", include_str!("../../templates/files.py")),
        ("workflow.py", include_str!("../../templates/workflow.py")),
        (
            "openai_function.py",
            include_str!("../../templates/openai_function.py"),
        ),
        (
            "comfyui_node.py",
            include_str!("../../templates/comfyui_node.py"),
        ),
        ("inputs.js", include_str!("../../templates/inputs.js")),
        ("tools.py", include_str!("../../templates/tools.py")),
        (
            "openai_functions.py",
            include_str!("../../templates/openai_functions.py"),
        ),
        ("arguments.py", include_str!("../../templates/arguments.py")),
        (
            "mcp_server.py",
            include_str!("../../templates/mcp_server.py"),
        ),
        (
            "node_pack/__init__.py",
            include_str!("../../templates/node_pack/__init__.py"),
        ),
        (
            "node_pack/pyproject.toml",
            include_str!("../../templates/node_pack/pyproject.toml"),
        ),
        (
            "node_pack/README.md",
            include_str!("../../templates/node_pack/README.md"),
        ),
    ] {
        templates.add_template(name, source)?;
    }
    Ok(templates)
});

/// Renders the OpenAI function file: the function's JSON schema, an execution function, a usage example.
///
/// `base_url` is the address that the file calls unless `SERVICE_BASE_URL` is set.
///
/// # Errors
///
/// The template can't be parsed or rendered, which is a bug in this program.
pub fn render_openai_function(
    schema: &Schema,
    model: &ModelTexts,
    base_url: &str,
) -> Result<String, Error> {
    let function = function_schema(schema, &model.description);
    render(
        "openai_function.py",
        schema,
        model,
        base_url,
        json!({ "FUNCTION": function }),
    )
}

/// Renders the ComfyUI node file: a node whose inputs are the model's parameters.
///
/// `base_url` is the address that the file calls unless `SERVICE_BASE_URL` is set.
///
/// # Errors
///
/// As for [`render_openai_function`].
pub fn render_comfyui_node(
    schema: &Schema,
    model: &ModelTexts,
    base_url: &str,
) -> Result<String, Error> {
    let parts = comfyui_node::parts(schema);
    render("comfyui_node.py", schema, model, base_url, parts)
}

/// How ComfyUI handles a medium.
struct Medium {
    /// The noun for several values of the ComfyUI type.
    plural: &'static str,
    /// The ComfyUI node that saves the medium.
    saver: &'static str,
    /// The key of the files in the `ui` part of a node's result.
    shown_as: &'static str,
    /// The file extensions, the most common one first.
    endings: &'static [&'static str],
}

fn medium(media: Media) -> Medium {
    match media {
        Media::Image => Medium {
            plural: "IMAGEs",
            saver: "Save Image",
            shown_as: "images",
            endings: &[".png", ".jpg", ".jpeg", ".webp", ".gif"],
        },
        Media::Video => Medium {
            plural: "VIDEOs",
            saver: "Save Video",
            shown_as: "images",
            endings: &[".mp4", ".webm", ".mov", ".mkv"],
        },
        Media::Audio => Medium {
            plural: "AUDIOs",
            saver: "Save Audio",
            shown_as: "audio",
            endings: &[".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a"],
        },
    }
}

/// Renders the script for ComfyUI's editor that saves the values of these nodes by name. `extension` is its name.
fn editor_script(nodes: &[&str], extension: &str) -> Result<String, Error> {
    let json = |value: Value| Safe::from_safe_string(value.to_string());
    template("inputs.js")?.render(context! {
        nodes => json(json!(nodes)),
        extension => json(json!(extension)),
    })
}

/// Renders all models as functions of one module, with one dispatcher.
///
/// # Errors
///
/// As for [`render_openai_function`].
pub fn render_openai_functions(
    models: &[(Schema, ModelTexts)],
    base_url: &str,
) -> Result<String, Error> {
    render_many("openai_functions.py", models, base_url, FUNCTIONS)
}

/// Renders an MCP server with a tool for each model; `file` is its file name.
///
/// # Errors
///
/// As for [`render_openai_function`].
pub fn render_mcp_server(
    models: &[(Schema, ModelTexts)],
    base_url: &str,
    file: &str,
) -> Result<String, Error> {
    render_many("mcp_server.py", models, base_url, file)
}

fn render_many(
    name: &str,
    models: &[(Schema, ModelTexts)],
    base_url: &str,
    file: &str,
) -> Result<String, Error> {
    let table: Map<String, Value> = models
        .iter()
        .map(|(schema, model)| {
            let entry = json!({
                "name": model.name,
                "category": schema.model.category,
                "subcategory": schema.model.subcategory,
                "function": function_schema(schema, &model.description),
                "parameters": parameters::table(schema),
            });
            (function_name(&schema.model), entry)
        })
        .collect();
    let module = file.strip_suffix(".py").unwrap_or(file);
    let server_name = module.strip_suffix("_mcp").unwrap_or(module);
    template(name)?.render(context! {
        many => true,
        secrets => secret_lines(models.iter().map(|(schema, _)| schema)),
        fillers => NULL_WORDS,
        timeout => 600,
        base_url => base_url,
        models => Safe::from_safe_string(literal::block(&Value::Object(table), 0)),
        module => Safe::from_safe_string(module.to_owned()),
        server_name => Safe::from_safe_string(server_name.to_owned()),
        server_name_literal => server_name,
    })
}

/// Returns a line for each environment variable with a secret of these models, for the files' headers.
fn secret_lines<'a>(schemas: impl IntoIterator<Item = &'a Schema>) -> Safe {
    let variables = schemas.into_iter().flat_map(parameters::variables);
    let variables: BTreeSet<String> = variables.map(|(_, variable)| variable).collect();
    let line = |name: &String| {
        format!("\n    {name}   the secret parameter of that name: never in a chat or a workflow")
    };
    // The names contain no quotes.
    Safe::from_safe_string(variables.iter().map(line).collect())
}

fn template(name: &str) -> Result<Template<'static, 'static>, Error> {
    TEMPLATES
        .as_ref()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?
        .get_template(name)
}

/// Renders the template of one model. `parts` maps the names of additional constants to their values.
fn render(
    name: &str,
    schema: &Schema,
    model: &ModelTexts,
    base_url: &str,
    parts: Value,
) -> Result<String, Error> {
    let assignments: Vec<String> = parts
        .as_object()
        .into_iter()
        .flatten()
        .map(|(part, value)| format!("{part} = {}", literal::block(value, 0)))
        .collect();
    let module = python_file::module(&schema.model);
    let category = &schema.model.category;
    let medium = model.makes.map(medium);
    let node_key = comfyui_node::key(&schema.model);
    let extension = format!("atelier.inputs.{module}");
    let editor_script = editor_script(&[node_key.as_str()], &extension)?;
    template(name)?.render(context! {
        many => false,
        secrets => secret_lines([schema]),
        fillers => NULL_WORDS,
        model_name => model.name,
        description => model.description,
        category => schema.model.category,
        subcategory => schema.model.subcategory,
        base_url => base_url,
        service_name => SERVICE_NAME,
        menu => format!("{SERVICE_NAME}/{category}"),
        display_name => format!("{} ({SERVICE_NAME})", model.name),
        fetch_name => format!("Fetch result: {} ({SERVICE_NAME})", model.name),
        fetch_key => format!("{node_key}_fetch"),
        editor_script => editor_script,
        node_key => node_key,
        most_ids => MAX_IDS,
        makes => model.makes.map(comfyui_node::type_of),
        makes_words => medium.as_ref().map(|m| Safe::from_safe_string(m.plural.into())),
        saver => medium.as_ref().map(|m| Safe::from_safe_string(m.saver.into())),
        result_name => model.makes.map(|media| comfyui_node::output(media).0),
        shown_as => medium.as_ref().map(|m| m.shown_as),
        endings => medium.as_ref().map(|m| m.endings),
        module => Safe::from_safe_string(module),
        parameters => Safe::from_safe_string(literal::block(&parameters::table(schema), 0)),
        parts => Safe::from_safe_string(assignments.join("\n\n")),
    })
}

#[cfg(test)]
mod tests;
