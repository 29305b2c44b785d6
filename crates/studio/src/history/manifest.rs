//! Writes a batch and its results as a file: inputs, ids, states, errors, addresses and times of every item. It never
//! writes a token.

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

/// Columns of [`Manifest::to_csv`] that hold an input begin with this.
pub(crate) const INPUT_PREFIX: &str = "input.";

/// `manifest.json`, which lies on disks: names and shapes do not change. Whatever is absent or of another
/// type reads as empty, but for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(default, deserialize_with = "or_empty")]
    pub name: String,
    #[serde(flatten)]
    pub model: ModelId,
    /// The address of the service that made the outputs; may be empty.
    #[serde(default, deserialize_with = "or_empty")]
    pub service: String,
    /// The time, as [`crate::text::timestamp::iso`] writes it.
    #[serde(default, deserialize_with = "or_empty")]
    pub created: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub items: Vec<ManifestItem>,
}

/// The facts in the file next to the items.
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
    #[serde(deserialize_with = "or_empty")]
    pub index: usize,
    /// The item's state as the page names it.
    #[serde(deserialize_with = "or_empty")]
    pub state: String,
    /// The service's id of its latest attempt.
    #[serde(deserialize_with = "or_empty")]
    pub id: Option<String>,
    #[serde(deserialize_with = "or_empty")]
    pub error: Option<String>,
    /// The times, as [`crate::text::timestamp::iso`] writes them.
    #[serde(deserialize_with = "or_empty")]
    pub submitted: Option<String>,
    #[serde(deserialize_with = "or_empty")]
    pub finished: Option<String>,
    #[serde(deserialize_with = "or_empty")]
    pub input: Map<String, Value>,
    #[serde(deserialize_with = "list")]
    pub outputs: Vec<ManifestOutput>,
}

/// One output of an item: a file next to the manifest, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestOutput {
    /// The output's address; of a `data:` address whose file is there only the beginning, because the file has the
    /// rest.
    #[serde(deserialize_with = "or_empty")]
    pub url: String,
    #[serde(deserialize_with = "or_empty")]
    pub file: Option<String>,
    /// Why the file is missing, a whole sentence.
    #[serde(deserialize_with = "or_empty")]
    pub missing: Option<String>,
}

fn or_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(json::decode(value).unwrap_or_default())
}

/// An entry that can't be read is an empty one: the others keep their places.
fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let entries: Vec<Value> = or_empty(deserializer)?;
    let read = |entry| json::decode(entry).unwrap_or_default();
    Ok(entries.into_iter().map(read).collect())
}

/// Why an output that came as data has no file next to a manifest alone.
const WITHOUT_DATA: &str = "It came as data, which is only in the ZIP archive of the batch.";

/// A reference to a stored file says nothing outside this browser, but for its type.
fn without_reference(url: &str) -> &str {
    match stored_output::is_reference(url) {
        true => &url[..url.find(';').unwrap_or(url.len())],
        false => url,
    }
}

impl ManifestOutput {
    /// An output, without its file.
    pub fn of(url: &str) -> Self {
        let missing = stored_output::is_reference(url).then(|| WITHOUT_DATA.to_owned());
        Self {
            url: without_reference(url).to_owned(),
            missing,
            ..Self::default()
        }
    }

    /// An output whose bytes are in `file`.
    pub fn kept(url: &str, file: String) -> Self {
        let url = without_reference(url);
        let is_data = matches!(OutputAddress::of(url), OutputAddress::Data(_));
        let end = if is_data { url.find(',') } else { None };
        Self {
            url: url[..end.unwrap_or(url.len())].to_owned(),
            file: Some(file),
            ..Self::default()
        }
    }

    /// An output that could not be fetched.
    pub fn missing(url: &str, why: String) -> Self {
        Self {
            url: without_reference(url).to_owned(),
            missing: Some(why),
            ..Self::default()
        }
    }
}

impl ManifestItem {
    /// The item with its latest attempt, its outputs still to be filled in; `index` from 0.
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
    /// The manifest of a batch as it now stands. Outputs are filled in as their files are fetched,
    /// or are not: [`ManifestOutput::kept`], [`ManifestOutput::missing`].
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

    /// Reads a `manifest.json`, of this version or a later one.
    ///
    /// # Errors
    ///
    /// A sentence for a person: the text is no JSON, or no manifest, or does not name a model.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let value = json::parse(text.as_bytes());
        let value = value.map_err(|error| format!("This is no JSON: {error}."))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err("This is no manifest of Atelier.".into());
        }
        let manifest: Option<Self> = json::decode(value);
        let mut manifest = manifest.ok_or("The manifest does not say of which model it is.")?;
        for (item, number) in manifest.items.iter_mut().zip(1..) {
            if item.index == 0 {
                item.index = number;
            }
        }
        Ok(manifest)
    }

    pub fn to_json(&self) -> String {
        let file = json::encode(&File {
            format: FORMAT,
            version: VERSION,
            manifest: self,
        });
        format!("{file:#}")
    }

    /// The manifest as a table, a row per item, for spreadsheets. [`crate::compose::import`] reads
    /// the inputs back.
    pub fn to_csv(&self) -> String {
        // The mark tells spreadsheets that this is UTF-8.
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
                inert(&found.join("\n"))
            };
            let text = |text: &Option<String>| inert(text.as_deref().unwrap_or_default());
            let mut fields = vec![
                item.index.to_string(),
                inert(&item.state),
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

/// The service's words as spreadsheets should take them: text, never a formula. Inputs are a
/// person's own and stay as they are, so that they can be imported again.
fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
