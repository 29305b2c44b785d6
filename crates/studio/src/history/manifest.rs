//! Exports a batch and its results as a file with the inputs, ids, states, errors, output addresses and times of all
//! items. The file never contains a token.

use atelier_contract::{Entry, ModelId, json};
use atelier_engine::{Task, TaskState, stored_output};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::batch::{Batch, Items};
use crate::compose::csv;
use crate::text::timestamp;
use atelier_contract::output::OutputAddress;

pub mod recipes;

pub(crate) const FORMAT: &str = "atelier-manifest";
const VERSION: u32 = 1;

/// The prefix of the columns of [`Manifest::to_csv`] with inputs.
pub(crate) const INPUT_PREFIX: &str = "input.";

/// The content of `manifest.json`. Users have such files, so names and types of its fields must not change. Missing or
/// invalid fields are read as empty, except for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    #[serde(flatten)]
    pub model: ModelId,
    /// The address of the service that generated the outputs; empty for the page's own service.
    #[serde(default, deserialize_with = "or_default")]
    pub service: String,
    /// The time in the format of [`crate::text::timestamp::iso`].
    #[serde(default, deserialize_with = "or_default")]
    pub created: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub items: Vec<ManifestItem>,
}

/// The format and version of the file, with its content.
#[derive(Serialize)]
struct File<'a> {
    format: &'a str,
    version: u32,
    #[serde(flatten)]
    manifest: &'a Manifest,
}

/// One item of the batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestItem {
    /// The item's number, from 1, as in the names of its files.
    #[serde(deserialize_with = "or_default")]
    pub index: usize,
    /// The state of the item in the words of the page.
    #[serde(deserialize_with = "or_default")]
    pub state: String,
    /// The service's id of the latest attempt.
    #[serde(deserialize_with = "or_default")]
    pub id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub error: Option<String>,
    /// The times in the format of [`crate::text::timestamp::iso`].
    #[serde(deserialize_with = "or_default")]
    pub submitted: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub finished: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub input: Map<String, Value>,
    #[serde(deserialize_with = "list")]
    pub outputs: Vec<ManifestOutput>,
}

/// An output of an item, with its file next to the manifest or the reason why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestOutput {
    /// The address of the output. A `data:` URL is truncated before its data if there is a file with the data.
    #[serde(deserialize_with = "or_default")]
    pub url: String,
    #[serde(deserialize_with = "or_default")]
    pub file: Option<String>,
    /// Why the file is missing, as a complete sentence.
    #[serde(deserialize_with = "or_default")]
    pub missing: Option<String>,
}

fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(json::decode(value).unwrap_or_default())
}

/// Reads a list. Invalid entries are read as empty, so that the others keep their positions.
fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let entries: Vec<Value> = or_default(deserializer)?;
    let read = |entry| json::decode(entry).unwrap_or_default();
    Ok(entries.into_iter().map(read).collect())
}

/// The reason why an output that a service sent as data has no file, if only the manifest is exported.
const WITHOUT_DATA: &str = "It came as data, which is only in the ZIP archive of the batch.";

/// Truncates a reference to a stored file after its type, because the rest is valid only in this browser.
fn without_reference(url: &str) -> &str {
    match stored_output::is_reference(url) {
        true => &url[..url.find(';').unwrap_or(url.len())],
        false => url,
    }
}

impl ManifestOutput {
    /// Returns an output without a file.
    pub fn of(url: &str) -> Self {
        let missing = stored_output::is_reference(url).then(|| WITHOUT_DATA.to_owned());
        Self {
            url: without_reference(url).to_owned(),
            missing,
            ..Self::default()
        }
    }

    /// Returns an output whose content is in `file`.
    pub fn fetched(url: &str, file: String) -> Self {
        let url = without_reference(url);
        let is_data = matches!(OutputAddress::of(url), OutputAddress::Data(_));
        let end = if is_data { url.find(',') } else { None };
        Self {
            url: url[..end.unwrap_or(url.len())].to_owned(),
            file: Some(file),
            ..Self::default()
        }
    }

    /// Returns an output that could not be fetched.
    pub fn missing(url: &str, reason: String) -> Self {
        Self {
            url: without_reference(url).to_owned(),
            missing: Some(reason),
            ..Self::default()
        }
    }
}

impl ManifestItem {
    /// Returns the item with this index, from 0, without outputs. `task`: its latest attempt.
    fn new(index: usize, task: Option<&Task>) -> Self {
        let index = index + 1;
        let Some(task) = task else {
            return Self {
                index,
                state: "Removed".into(),
                ..Self::default()
            };
        };
        Self {
            index,
            state: task.label().to_owned(),
            id: task.state.id().map(ToString::to_string),
            error: match &task.state {
                TaskState::Failed { message, .. } => Some(message.clone()),
                TaskState::Unconfirmed { error } => Some(error.user_message()),
                _ => None,
            },
            submitted: task.submitted.map(timestamp::iso),
            finished: task.finished.map(timestamp::iso),
            input: task.input.values().clone(),
            ..Self::default()
        }
    }
}

impl Manifest {
    /// Returns the manifest of a batch in its current state. Outputs are added as they are fetched: see
    /// [`ManifestOutput::fetched`] and [`ManifestOutput::missing`].
    pub fn of(batch: &Batch, items: &Items) -> Self {
        let service = items.latest().flatten().next();
        let mut manifest = Self::new(
            batch.name.clone(),
            batch.model.clone(),
            service.map_or_else(String::new, |task| task.account.address.clone()),
            Some(timestamp::iso(batch.created)),
        );
        let attempts = items.latest().enumerate();
        let sent = attempts.filter(|(index, task)| task.is_some() || !items.is_left_out(*index));
        manifest.items = sent
            .map(|(index, task)| ManifestItem::new(index, task))
            .collect();
        manifest
    }

    pub fn new(name: String, model: ModelId, service: String, created: Option<String>) -> Self {
        Self {
            name,
            model,
            service,
            created,
            items: Vec::new(),
        }
    }

    /// Reads a `manifest.json` of this or a later version.
    ///
    /// # Errors
    ///
    /// A message: the text is not JSON, not a manifest, or does not name a model.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let value = json::parse(text.as_bytes());
        let value = value.map_err(|error| format!("This is not valid JSON: {error}."))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err("This is not an Atelier manifest.".into());
        }
        let manifest: Option<Self> = json::decode(value);
        let mut manifest = manifest.ok_or("The manifest does not name its model.")?;
        for (item, number) in manifest.items.iter_mut().zip(1..) {
            if item.index == 0 {
                item.index = number;
            }
        }
        Ok(manifest)
    }

    /// Returns the content of the file.
    pub fn to_json(&self) -> String {
        let file = json::encode(&File {
            format: FORMAT,
            version: VERSION,
            manifest: self,
        });
        format!("{file:#}")
    }

    /// Returns the manifest as a CSV table with a row per item. [`crate::compose::import`] can read the inputs.
    pub fn to_csv(&self) -> String {
        // The byte order mark tells spreadsheets that the encoding is UTF-8.
        let mut out = String::from('\u{feff}');
        let mut names: Vec<&str> = Vec::new();
        for name in self.items.iter().flat_map(|item| item.input.keys()) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let inputs: Vec<String> = names
            .iter()
            .map(|name| format!("{INPUT_PREFIX}{name}"))
            .collect();
        let own = [
            "index",
            "state",
            "id",
            "error",
            "submitted",
            "finished",
            "urls",
            "files",
            "missing",
        ];
        csv::write(
            &mut out,
            own.into_iter().chain(inputs.iter().map(String::as_str)),
        );
        for item in &self.items {
            let each = |field: fn(&ManifestOutput) -> Option<&str>| {
                let found: Vec<&str> = item.outputs.iter().filter_map(field).collect();
                escaped(&found.join("\n"))
            };
            let text = |text: &Option<String>| escaped(text.as_deref().unwrap_or_default());
            let mut fields = vec![
                item.index.to_string(),
                escaped(&item.state),
                text(&item.id),
                text(&item.error),
                text(&item.submitted),
                text(&item.finished),
                each(|output| Some(&output.url)),
                each(|output| output.file.as_deref()),
                each(|output| output.missing.as_deref()),
            ];
            fields.extend(names.iter().map(|name| match item.input.get(*name) {
                None | Some(Value::Null) => String::new(),
                Some(value) => Entry::Value(value.clone()).to_text(),
            }));
            csv::write(&mut out, fields.iter().map(String::as_str));
        }
        out
    }
}

/// Escapes a text of the service, so that spreadsheets don't evaluate it as a formula. Inputs come from the user. They
/// are not escaped, so that they can be imported.
fn escaped(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
