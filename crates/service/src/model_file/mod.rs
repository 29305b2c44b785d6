//! `--models FILE`: remote models, configured in TOML.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use atelier_contract::{Media, ModelId, Parameter, Parameters, RESERVED_NAMES};
use serde_json::{Map, Value, json};
use thiserror::Error;
use toml::Spanned;

use crate::runner::addresses::Origin;
use crate::runner::cog::{Container, inputs_of};
use crate::runner::comfyui::Workflow;
use crate::runner::command::Program;
use crate::runner::http::Client;
use crate::runner::openai::Images;
use crate::runner::{ModelInfo, Remote, Runner};

mod entry;
mod workflow;

use entry::{
    Address, CogEntry, ComfyUiEntry, CommandEntry, Entry, FetchOrigin, Makes, Mask, ModelFile,
    OpenAiEntry, ParameterEntry, ParameterType, Pictures,
};

/// An error in the models file.
#[derive(Debug, Error)]
pub enum ModelFileError {
    #[error("{0}: {1}")]
    Read(PathBuf, std::io::Error),
    #[error("{file}:{line}: {message}")]
    At {
        file: PathBuf,
        line: usize,
        message: String,
    },
}

/// The contents of a models file.
pub struct Loaded {
    /// Whether the procedural models are also offered.
    pub builtin: bool,
    pub remotes: Vec<Arc<Remote>>,
}

/// The defaults without a file.
impl Default for Loaded {
    fn default() -> Self {
        Self {
            builtin: true,
            remotes: Vec::new(),
        }
    }
}

/// Reads a models file. `data` is the service's data directory.
///
/// # Errors
///
/// [`ModelFileError::Read`] if the file can't be read; [`ModelFileError::At`], with the line, if it is not TOML, or
/// contains an invalid model, two models with the same name, or no models.
pub fn load(file: &Path, data: &Path) -> Result<Loaded, ModelFileError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| ModelFileError::Read(file.to_owned(), error))?;
    let context = Context {
        file,
        text: &text,
        data,
    };
    let read: ModelFile = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        context.error(at, context.with_key(at, error.message()))
    })?;
    let mut remotes: Vec<Arc<Remote>> = Vec::new();
    for entry in read.model {
        let at = entry.span().start;
        let remote = context.remote(entry.into_inner(), at)?;
        if remotes.iter().any(|other| other.id() == remote.id()) {
            return Err(context.error(at, format!("two models are named {}", remote.id())));
        }
        if let Some(alias) = remote.alias()
            && remotes.iter().any(|other| other.alias() == Some(alias))
        {
            return Err(context.error(at, format!("two models have the alias {alias}")));
        }
        remotes.push(Arc::new(remote));
    }
    if remotes.is_empty() && !read.builtin {
        return Err(context.error(0, "the file has no models: add a [[model]]".into()));
    }
    Ok(Loaded {
        builtin: read.builtin,
        remotes,
    })
}

/// Returns the JSON schema of the models file, for editors.
pub fn json_schema() -> Value {
    schemars::schema_for!(ModelFile).to_value()
}

struct Context<'a> {
    file: &'a Path,
    text: &'a str,
    data: &'a Path,
}

impl Context<'_> {
    fn error(&self, at: usize, message: String) -> ModelFileError {
        let before = self.text.get(..at).unwrap_or_default();
        ModelFileError::At {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            message,
        }
    }

    /// Prefixes the message with the TOML key in the line that contains position `at`, unless the message already
    /// contains the key.
    fn with_key(&self, at: usize, message: &str) -> String {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        match line.split_once('=') {
            Some((key, _)) if !message.contains(key.trim()) => {
                format!("{}: {message}", key.trim())
            }
            _ => message.to_owned(),
        }
    }

    fn remote(&self, entry: Entry, at: usize) -> Result<Remote, ModelFileError> {
        let id = ModelId::new(entry.category.0, entry.subcategory.0);
        let mut parameters = Parameters::default();
        let mut inputs = Vec::new();
        for parameter in entry.parameter {
            let at = parameter.span().start;
            let parameter = parameter.into_inner();
            let required = parameter.required;
            if let Some(input) = parameter.input.clone() {
                inputs.push((parameter.name.clone(), input, at));
            } else if entry.comfyui.is_some() {
                return Err(self.error(
                    at,
                    format!(
                        "input: parameter {} must name an input of the workflow",
                        parameter.name
                    ),
                ));
            }
            let parameter = self.parameter(parameter, at)?;
            let known = parameters.required.iter().chain(&parameters.optional);
            if known.into_iter().any(|known| known.name == parameter.name) {
                let message = format!("two parameters are named {}", parameter.name);
                return Err(self.error(at, message));
            }
            if required {
                parameters.required.push(parameter);
            } else {
                parameters.optional.push(parameter);
            }
        }
        if let (None, Some((_, _, at))) = (&entry.comfyui, inputs.first()) {
            return Err(self.error(
                *at,
                "input: only parameters of a ComfyUI workflow can have this key".into(),
            ));
        }
        if entry.cog.is_some() && parameters != Parameters::default() {
            let message = "parameter: a cog container declares its parameters itself";
            return Err(self.error(at, message.into()));
        }
        let runner: Box<dyn Runner> = match (entry.command, entry.openai, entry.cog, entry.comfyui)
        {
            (Some(entry), None, None, None) => Box::new(self.command(entry, parameters)),
            (None, Some(entry), None, None) => Box::new(self.openai(entry, parameters)?),
            (None, None, Some(entry), None) => Box::new(self.cog(entry, &id)?),
            (None, None, None, Some(entry)) => Box::new(self.comfyui(&entry, parameters, &inputs)?),
            _ => {
                let message = format!(
                    "{id} needs exactly one of [model.command], [model.openai], [model.cog] and [model.comfyui]"
                );
                return Err(self.error(at, message));
            }
        };
        let info = ModelInfo {
            name: entry.name,
            description: entry.description,
            makes: entry.makes.map(|makes| match makes {
                Makes::Image => Media::Image,
                Makes::Video => Media::Video,
                Makes::Audio => Media::Audio,
            }),
            preview: entry.preview.map(|address| address.0),
            addresses: entry.addresses,
            alias: entry.alias.map(|alias| alias.0),
        };
        let (max_concurrent, limit) = (entry.at_once, entry.time_limit);
        Ok(Remote::new(id, info, max_concurrent.0, limit.0, runner))
    }

    fn parameter(&self, entry: ParameterEntry, at: usize) -> Result<Parameter, ModelFileError> {
        if entry.name.trim().is_empty() || RESERVED_NAMES.contains(&entry.name.as_str()) {
            let message = format!("name: a parameter can't be called {:?}", entry.name);
            return Err(self.error(at, message));
        }
        let is_list = matches!(entry.kind, ParameterType::Array | ParameterType::Files);
        let type_name = match (entry.kind, &entry.values) {
            (ParameterType::Array | ParameterType::Files, _) => "array",
            (_, Some(_)) => "enum",
            (ParameterType::String | ParameterType::File, None) => "string",
            (ParameterType::Integer, None) => "integer",
            (ParameterType::Float, None) => "float",
            (ParameterType::Boolean, None) => "boolean",
            (ParameterType::Object, None) => "object",
        };
        let is_public = entry.default.is_some() || entry.values.is_some();
        if entry.secret && (!matches!(entry.kind, ParameterType::String) || is_public) {
            let message = format!(
                "secret: {} must be a string, and must have no default or values, because everyone can read those",
                entry.name
            );
            return Err(self.error(at, message));
        }
        if matches!(entry.kind, ParameterType::Files) && entry.values.is_some() {
            let message = format!("values: {} is a list of files", entry.name);
            return Err(self.error(at, message));
        }
        if entry.max_items.is_some() && !is_list {
            let message = format!(
                "max_items: {} must have the type array or files",
                entry.name
            );
            return Err(self.error(at, message));
        }
        let mut extra = Map::new();
        match entry.kind {
            ParameterType::File => {
                extra.insert("format".into(), "uri".into());
            }
            ParameterType::Files => {
                let items = json!({"type": "string", "format": "uri"});
                extra.insert("items".into(), items);
            }
            _ => {}
        }
        if entry.secret {
            extra.insert("format".into(), "password".into());
        }
        if let Some(most) = entry.max_length {
            extra.insert("maxLength".into(), most.into());
        }
        if let Some(most) = entry.max_items {
            extra.insert("maxItems".into(), most.into());
        }
        let parameter = Parameter {
            name: entry.name,
            type_name: type_name.into(),
            description: entry.description,
            default: entry.default,
            allowed_values: entry.values,
            minimum: entry.minimum,
            maximum: entry.maximum,
            extra,
        };
        if let Some(default) = parameter.default.clone() {
            let default = atelier_contract::Entry::Value(default);
            atelier_contract::check(&parameter, false, Some(&default))
                .map_err(|problem| self.error(at, format!("default: {}", problem.message)))?;
        }
        Ok(parameter)
    }

    fn command(&self, entry: CommandEntry, parameters: Parameters) -> Program {
        Program {
            program: self.resolve(&entry.program),
            arguments: entry.arguments,
            environment: entry.environment,
            parameters,
            work: self.data.join("work"),
        }
    }

    /// Returns the access key stored in the environment variable called `name`.
    fn key(&self, name: Option<Spanned<String>>) -> Result<Option<String>, ModelFileError> {
        let Some(name) = name else { return Ok(None) };
        let at = name.span().start;
        let name = name.into_inner();
        let key = std::env::var(&name).ok().filter(|key| !key.is_empty());
        let missing = || {
            self.error(
                at,
                format!("key_env: the environment variable {name} is not set"),
            )
        };
        let key = key.ok_or_else(missing)?;
        if ureq::http::HeaderValue::from_str(&key).is_err() {
            let message = format!("key_env: the value of {name} can't be sent in an HTTP header");
            return Err(self.error(at, message));
        }
        Ok(Some(key))
    }

    fn client(
        &self,
        address: &Address,
        key_env: Option<Spanned<String>>,
        allow_fetch: Vec<FetchOrigin>,
    ) -> Result<Client, ModelFileError> {
        let key = self.key(key_env)?;
        let allowed: Vec<Origin> = allow_fetch.into_iter().map(|origin| origin.0).collect();
        Ok(Client::new(&address.0, key.as_deref(), &allowed))
    }

    /// Reads a JSON file, relative to the models file.
    fn json(&self, key: &str, path: &Spanned<PathBuf>) -> Result<Value, ModelFileError> {
        let file = self.resolve(path.get_ref());
        let problem = |error: String| {
            let message = format!("{key}: {}: {error}", file.display());
            self.error(path.span().start, message)
        };
        let text = std::fs::read(&file).map_err(|error| problem(error.to_string()))?;
        serde_json::from_slice(&text).map_err(|error| problem(error.to_string()))
    }

    /// Resolves a path relative to the models file.
    fn resolve(&self, path: &Path) -> PathBuf {
        let path = self.file.parent().unwrap_or(Path::new("")).join(path);
        std::path::absolute(&path).unwrap_or(path)
    }

    fn openai(&self, entry: OpenAiEntry, parameters: Parameters) -> Result<Images, ModelFileError> {
        let parameters = if parameters == Parameters::default() {
            default_parameters()
        } else {
            parameters
        };
        Ok(Images {
            client: self.client(&entry.address, entry.key_env, entry.allow_fetch)?,
            address: entry.address.0,
            model: entry.model,
            fields: entry.fields,
            idempotent: entry.idempotent,
            sends_files: entry.pictures == Pictures::Files,
            has_transparent_masks: entry.mask == Mask::Alpha,
            image_field: entry.image_field.map(|field| field.name().to_owned()),
            parameters,
        })
    }

    fn cog(&self, entry: CogEntry, id: &ModelId) -> Result<Container, ModelFileError> {
        let given = entry.schema.as_ref();
        let given = given.map(|path| {
            let document = self.json("schema", path)?;
            match inputs_of(&document) {
                Some(_) => Ok(document),
                None => Err(self.error(
                    path.span().start,
                    "schema: the document has no Input schema".into(),
                )),
            }
        });
        let client = self.client(&entry.address, entry.key_env, entry.allow_fetch)?;
        // The names are valid in file names, because [`entry::Name`] permits no special characters.
        let name = format!("{}+{}.json", id.category, id.subcategory);
        let cache = self.data.join("schemas").join(name);
        let given = given.transpose()?;
        Ok(Container::new(
            client,
            entry.address.0,
            given.as_ref(),
            cache,
        ))
    }

    fn comfyui(
        &self,
        entry: &ComfyUiEntry,
        parameters: Parameters,
        inputs: &[(String, String, usize)],
    ) -> Result<Workflow, ModelFileError> {
        let file = &entry.workflow;
        let nodes = workflow::nodes(self.json("workflow", file)?).map_err(|problem| {
            let path = self.resolve(file.get_ref());
            let message = format!("workflow: {}: {problem}", path.display());
            self.error(file.span().start, message)
        })?;
        let (mut bindings, mut warnings) = (Vec::new(), Vec::new());
        for (name, input, at) in inputs {
            let (node, input) = workflow::target(&nodes, name, input)
                .map_err(|problem| self.error(*at, format!("input: {problem}")))?;
            warnings.extend(workflow::cut_connection(&nodes, name, &node, &input));
            bindings.push((name.clone(), node, input));
        }
        Ok(Workflow {
            warnings,
            client: self.client(&entry.address, None, entry.allow_fetch.clone())?,
            address: entry.address.0.clone(),
            graph: nodes.into(),
            bindings,
            parameters,
        })
    }
}

/// Returns the parameters that all servers with OpenAI's images API accept.
fn default_parameters() -> Parameters {
    let count: Vec<u64> = (1..=10).collect();
    Parameters {
        required: vec![Parameter::text("prompt", 32_000, "What to make.")],
        optional: vec![Parameter::number_choice(
            "n",
            &count,
            1,
            "How many pictures to make.",
        )],
    }
}

#[cfg(test)]
mod tests;
