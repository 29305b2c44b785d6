//! The format of the models file. Editors show these doc comments.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value};
use toml::Spanned;

use crate::runner::addresses::Origin;

/// The remote models of an Atelier service.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Models of an Atelier service")]
pub struct ModelFile {
    /// Whether the procedural models are also offered.
    #[serde(default = "yes")]
    pub builtin: bool,
    /// The models, in the order of the list.
    #[serde(default)]
    #[schemars(with = "Vec<Entry>")]
    pub model: Vec<Spanned<Entry>>,
}

/// One model. It has exactly one of `command`, `openai`, `cog` and `comfyui`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The first half of the model's identity, e.g. `image`: letters, digits, `-`, `_` and `.`.
    pub category: Name,
    /// The second half of the model's identity, e.g. `sdxl`: letters, digits, `-`, `_` and `.`.
    pub subcategory: Name,
    /// The display name.
    pub name: String,
    /// Another name of the model for clients of OpenAI's images API, e.g. `gpt-image-1`.
    pub alias: Option<Name>,
    /// One or two sentences for the list of models.
    #[serde(default)]
    pub description: String,
    /// The medium of the files that the model makes. It decides the placeholder of a running task, and the output of the ComfyUI node.
    pub makes: Option<Makes>,
    /// The address of a picture or page with a preview.
    pub preview: Option<Address>,
    /// The number of tasks that run concurrently.
    #[serde(default = "one")]
    pub at_once: AtOnce,
    /// The time limit of a task, e.g. `90s`, `10m` or `2h`. A task that exceeds it fails.
    #[serde(default = "ten_minutes")]
    pub time_limit: Time,
    /// Pass all http(s) addresses of input files on to the model, which may fetch them. Without it, an
    /// input file must be an earlier output of this service.
    #[serde(default)]
    pub addresses: bool,
    /// The parameters of the model, in the order of the form.
    #[serde(default)]
    #[schemars(with = "Vec<ParameterEntry>")]
    pub parameter: Vec<Spanned<ParameterEntry>>,
    /// Runs as a program on this machine.
    pub command: Option<CommandEntry>,
    /// Runs on a server with OpenAI's images API.
    pub openai: Option<OpenAiEntry>,
    /// Runs in a cog container, which declares its parameters itself.
    pub cog: Option<CogEntry>,
    /// Runs as a workflow in ComfyUI.
    pub comfyui: Option<ComfyUiEntry>,
}

/// A parameter of a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterEntry {
    /// The name in requests.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// A description for users.
    #[serde(default)]
    pub description: String,
    /// Whether the parameter is required.
    #[serde(default)]
    pub required: bool,
    /// The value that is sent if the parameter is omitted.
    pub default: Option<Value>,
    /// The permitted values.
    pub values: Option<Vec<Value>>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    /// The maximum length of a text, in characters.
    pub max_length: Option<u64>,
    /// The maximum number of items of an `array`, or of `files`.
    pub max_items: Option<u64>,
    /// The value is a secret, such as a key at another provider: it is deleted when the task ends, and not
    /// written into logs, links and files. Only texts without `default` and `values` can be secret.
    #[serde(default)]
    pub secret: bool,
    /// With `comfyui`: the input of the workflow that the parameter sets, as node and input, e.g. `6.text`.
    pub input: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    String,
    Integer,
    Float,
    Boolean,
    Array,
    Object,
    /// The address of a file: an earlier output of this service.
    File,
    /// A list of addresses of files. It can't have `values`.
    Files,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Makes {
    Image,
    Video,
    Audio,
}

/// Your own program. It reads its input as JSON from standard input, writes its files to its working
/// directory, and reports progress on standard error.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandEntry {
    /// The program; a relative path is relative to this file.
    pub program: PathBuf,
    /// The arguments of the program, which are not passed through a shell.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The environment variables that the program inherits in addition to `PATH`, `HOME`, `LANG` and `TMPDIR`, e.g.
    /// `["CUDA_VISIBLE_DEVICES", "HF_HOME"]`. It inherits no others.
    #[serde(default)]
    pub environment: Vec<String>,
}

/// A server with OpenAI's images API.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAiEntry {
    /// The address of the API, including `/v1`.
    pub address: Address,
    /// The environment variable with the key.
    #[schemars(with = "Option<String>")]
    pub key_env: Option<Spanned<String>>,
    /// The model's name on the server.
    pub model: Option<String>,
    /// Additional fields of each request, e.g. `response_format = "b64_json"`.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// The server supports `Idempotency-Key`, so that a request can be retried. Without it, a task whose
    /// response was lost fails, because a retry might be charged twice.
    #[serde(default)]
    pub idempotent: bool,
    /// How pictures of the input are sent: as `files` of a form to `…/images/edits`, or as `data:` URIs in the JSON of
    /// `…/images/generations`.
    #[serde(default)]
    pub pictures: Pictures,
    /// The name of the form's field for pictures. By default, `image` for one picture and `image[]` for several.
    pub image_field: Option<ImageField>,
    /// How a form's mask marks the areas to change: with `alpha`, by transparency, as OpenAI requires. White areas become
    /// transparent, unless the mask has transparent areas already. With `unchanged`, the mask is sent as it is.
    #[serde(default)]
    pub mask: Mask,
    /// Additional origins that output files may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. The server's own origin and public addresses are always permitted.
    #[serde(default)]
    pub allow_fetch: Vec<FetchOrigin>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pictures {
    /// As files of a form to `…/images/edits`.
    #[default]
    Files,
    /// As `data:` URIs in the JSON of `…/images/generations`.
    Data,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mask {
    /// White areas become transparent.
    #[default]
    Alpha,
    /// The mask is sent as it is.
    Unchanged,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum ImageField {
    /// Also for several pictures.
    #[serde(rename = "image")]
    Image,
    /// Also for one picture.
    #[serde(rename = "image[]")]
    Images,
}

impl ImageField {
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Images => "image[]",
        }
    }
}

/// A running cog container, the format of Replicate's models.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CogEntry {
    /// The address of the container, e.g. `http://127.0.0.1:5000`.
    pub address: Address,
    /// The environment variable with a bearer token, if a proxy in front of the container requires one.
    #[schemars(with = "Option<String>")]
    pub key_env: Option<Spanned<String>>,
    /// The container's OpenAPI document as a file, if the container does not serve one. A relative path is relative to this file.
    #[schemars(with = "Option<PathBuf>")]
    pub schema: Option<Spanned<PathBuf>>,
    /// Additional origins that output files may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. The server's own origin and public addresses are always permitted.
    #[serde(default)]
    pub allow_fetch: Vec<FetchOrigin>,
}

/// A ComfyUI server and a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComfyUiEntry {
    /// The address of the server, e.g. `http://127.0.0.1:8188`.
    pub address: Address,
    /// The workflow in API format (Workflow, Export (API)); a relative path is relative to this file.
    #[schemars(with = "PathBuf")]
    pub workflow: Spanned<PathBuf>,
    /// Additional origins that output files may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. The server's own origin and public addresses are always permitted.
    #[serde(default)]
    pub allow_fetch: Vec<FetchOrigin>,
}

/// Letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
pub struct Name(pub String);

/// An absolute http(s) address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^https?://"))]
pub struct Address(pub String);

/// Scheme, host and port, such as `http://files.internal:9000`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^https?://[^/?#]+/?$"))]
pub struct FetchOrigin(pub Origin);

/// A number from 1 to 64.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
#[schemars(with = "u8", extend("minimum" = 1, "maximum" = 64))]
pub struct AtOnce(pub usize);

/// `90s`, `10m` or `2h`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9]+[smh]$"))]
pub struct Time(pub Duration);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if text.bytes().all(plain) && begins_well && text.len() <= 64 {
            return Ok(Self(text));
        }
        Err("must have 1 to 64 letters, digits, `-`, `_` or `.`, and begin with a letter or digit")
    }
}

impl TryFrom<String> for Address {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let uri: Option<axum::http::Uri> = text.parse().ok();
        let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
        if uri.is_some_and(|uri| uri.host().is_some()) {
            return Ok(Self(text.trim_end_matches('/').to_owned()));
        }
        Err("must be an absolute address, such as http://127.0.0.1:5000")
    }
}

impl TryFrom<String> for FetchOrigin {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let uri: Option<ureq::http::Uri> = text.parse().ok();
        let uri = uri.filter(|uri| uri.path() == "/" && uri.query().is_none());
        let origin = uri.as_ref().and_then(Origin::of);
        origin
            .map(Self)
            .ok_or("must be an origin without a path, such as http://files.internal:9000")
    }
}

impl TryFrom<i64> for AtOnce {
    type Error = &'static str;

    fn try_from(count: i64) -> Result<Self, Self::Error> {
        let count = usize::try_from(count).ok();
        let count = count.filter(|count| (1..=64).contains(count));
        count.map(Self).ok_or("must be a number from 1 to 64")
    }
}

impl TryFrom<String> for Time {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let seconds = [("s", 1), ("m", 60), ("h", 3600)]
            .iter()
            .find_map(|(unit, seconds)| {
                let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
                count.checked_mul(*seconds)
            });
        match seconds {
            Some(seconds @ 1..=86_400) => Ok(Self(Duration::from_secs(seconds))),
            _ => Err("must be a time up to a day, such as 90s, 10m or 2h"),
        }
    }
}

fn yes() -> bool {
    true
}

fn one() -> AtOnce {
    AtOnce(1)
}

fn ten_minutes() -> Time {
    Time(Duration::from_secs(600))
}
