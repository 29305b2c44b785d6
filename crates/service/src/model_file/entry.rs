//! What may stand in a file of models. The comments here are what editors show.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value};
use toml::Spanned;

use crate::runner::addresses::Origin;

/// The models of an Atelier service that run elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Models of an Atelier service")]
pub struct ModelFile {
    /// Whether the procedural models stay as well.
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
    /// First half of its identity, e.g. `image`: letters, digits, `-`, `_` and `.`.
    pub category: Name,
    /// Second half of its identity, e.g. `sdxl`: letters, digits, `-`, `_` and `.`.
    pub subcategory: Name,
    /// The name that people see.
    pub name: String,
    /// One or two sentences for the list.
    #[serde(default)]
    pub description: String,
    /// What its files are; decides how they are shown before they are there, and the ComfyUI node's output.
    pub makes: Option<Makes>,
    /// The address of a picture or page that shows what it makes.
    pub preview: Option<Address>,
    /// How many tasks it is given at the same time.
    #[serde(default = "one")]
    pub at_once: AtOnce,
    /// The longest a task may take, e.g. `90s`, `10m` or `2h`. It then fails.
    #[serde(default = "ten_minutes")]
    pub time_limit: Time,
    /// Pass any http(s) address that a client gives for a file on to where the model runs, which may
    /// then fetch it. Without, a file is an earlier output of this service.
    #[serde(default)]
    pub addresses: bool,
    /// What it takes, in the order of the form.
    #[serde(default)]
    #[schemars(with = "Vec<ParameterEntry>")]
    pub parameter: Vec<Spanned<ParameterEntry>>,
    /// Runs as a program on this machine.
    pub command: Option<CommandEntry>,
    /// Runs on a server with OpenAI's images interface.
    pub openai: Option<OpenAiEntry>,
    /// Runs in a cog container, which says itself what it takes.
    pub cog: Option<CogEntry>,
    /// Runs as a workflow in ComfyUI.
    pub comfyui: Option<ComfyUiEntry>,
}

/// A parameter of a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParameterEntry {
    /// The name that it is sent by.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// What it does, for people.
    #[serde(default)]
    pub description: String,
    /// It must be given.
    #[serde(default)]
    pub required: bool,
    /// What is sent when it is left out.
    pub default: Option<Value>,
    /// The values that it may have.
    pub values: Option<Vec<Value>>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    /// The most characters of a text.
    pub max_length: Option<u64>,
    /// Its value is a secret, such as a key at another provider: it is deleted when the task has ended, and not
    /// written into logs, links and files. Only texts without `default` and `values` can be secret.
    #[serde(default)]
    pub secret: bool,
    /// With `comfyui`: the input of the workflow that it sets, as node and input, e.g. `6.text`.
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
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Makes {
    Image,
    Video,
    Audio,
}

/// A program of your own. It gets its input as JSON on standard input, leaves its files in the folder
/// that it is started in, and says on standard error how far it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandEntry {
    /// The program; a path that is not absolute begins where this file lies.
    pub program: PathBuf,
    /// Its arguments, as they are: no shell reads them.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The environment variables of the service that it gets in addition to `PATH`, `HOME`, `LANG` and
    /// `TMPDIR`, e.g. `["CUDA_VISIBLE_DEVICES", "HF_HOME"]`. It gets no others.
    #[serde(default)]
    pub environment: Vec<String>,
}

/// A server with OpenAI's images interface.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAiEntry {
    /// Up to and with `/v1`.
    pub address: Address,
    /// The environment variable that holds the key.
    #[schemars(with = "Option<String>")]
    pub key_env: Option<Spanned<String>>,
    /// The model's name there.
    pub model: Option<String>,
    /// Further fields of each request, e.g. `response_format = "b64_json"`.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// The server pays heed to `Idempotency-Key`, so that a request may be sent again. Without it, a
    /// task whose answer was lost fails instead of being paid for twice.
    #[serde(default)]
    pub idempotent: bool,
    /// Origins that a file of its answers may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. Its own origin and public addresses need not be named.
    #[serde(default)]
    pub allow_fetch: Vec<FetchOrigin>,
}

/// A running cog container: a model as Replicate packages it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CogEntry {
    /// Of the container, e.g. `http://127.0.0.1:5000`.
    pub address: Address,
    /// The environment variable that holds a bearer token for it, if something before it asks for one.
    #[schemars(with = "Option<String>")]
    pub key_env: Option<Spanned<String>>,
    /// Its OpenAPI document as a file, if it does not serve one; a path that is not absolute begins
    /// where this file lies.
    #[schemars(with = "Option<PathBuf>")]
    pub schema: Option<Spanned<PathBuf>>,
    /// Origins that a file of its answers may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. Its own origin and public addresses need not be named.
    #[serde(default)]
    pub allow_fetch: Vec<FetchOrigin>,
}

/// A ComfyUI server and a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComfyUiEntry {
    /// Of the server, e.g. `http://127.0.0.1:8188`.
    pub address: Address,
    /// The workflow in API format (Workflow, Export (API)); a path that is not absolute begins where
    /// this file lies.
    #[schemars(with = "PathBuf")]
    pub workflow: Spanned<PathBuf>,
    /// Origins that a file of its answers may be fetched from although they are not public, e.g.
    /// `http://files.internal:9000`. Its own origin and public addresses need not be named.
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
