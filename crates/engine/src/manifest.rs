//! What a batch was and what became of it, as a file: inputs, ids, states, errors, addresses and
//! times of every item. Never a token.

use atelier_contract::json::{Record, parse};
use atelier_contract::{Entry, ModelId};
use serde_json::{Map, Value};

use crate::batch::{Batch, Items};
use crate::compose::{csv, import::INPUT_PREFIX};
use crate::{Task, TaskState, duration};

pub(crate) const FORMAT: &str = "atelier-manifest";
const VERSION: u32 = 1;

/// `manifest.json`.
///
/// Written and read by hand: derived code for these nested records weighs ten times as much in
/// the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    pub name: String,
    pub model: ModelId,
    /// The address of the service that made the outputs; may be empty.
    pub service: String,
    /// As [`crate::duration::iso`] writes it.
    pub created: Option<String>,
    pub items: Vec<Item>,
}

/// One item of the batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    /// Its number, from 1, as in the names of its files.
    pub index: usize,
    /// Its state as the page names it.
    pub state: String,
    /// The service's id of its latest attempt.
    pub id: Option<String>,
    pub error: Option<String>,
    /// As [`crate::duration::iso`] writes them.
    pub submitted: Option<String>,
    pub finished: Option<String>,
    pub input: Map<String, Value>,
    pub outputs: Vec<ManifestOutput>,
}

/// One output of an item: a file beside the manifest, or why there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestOutput {
    /// Of a `data:` address whose file is there, the beginning: the file has the rest.
    pub url: String,
    pub file: Option<String>,
    /// Why the file is missing, a whole sentence.
    pub missing: Option<String>,
}

impl ManifestOutput {
    /// An output whose bytes are in `file`.
    pub fn kept(url: &str, file: String) -> Self {
        let is_data = url
            .get(..5)
            .is_some_and(|s| s.eq_ignore_ascii_case("data:"));
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
            url: url.to_owned(),
            missing: Some(why),
            ..Self::default()
        }
    }
}

impl Item {
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
            submitted: task.submitted.map(duration::iso),
            finished: task.finished.map(duration::iso),
            input: task.input.values().clone(),
            ..Self::default()
        }
    }
}

impl Item {
    fn read((value, number): (&Value, usize)) -> Self {
        let index = value.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        Self {
            index: index.unwrap_or(number),
            state: text_at(value, "state").unwrap_or_default(),
            id: text_at(value, "id"),
            error: text_at(value, "error"),
            submitted: text_at(value, "submitted"),
            finished: text_at(value, "finished"),
            input: value
                .get("input")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
            outputs: list_at(value, "outputs")
                .iter()
                .map(ManifestOutput::read)
                .collect(),
        }
    }

    fn to_value(&self) -> Value {
        let outputs: Vec<Value> = self.outputs.iter().map(ManifestOutput::to_value).collect();
        let mut record = Record::new();
        record.put("index", self.index.into());
        record.put("state", self.state.clone().into());
        record.put("id", self.id.clone().into());
        record.put("error", self.error.clone().into());
        record.put("submitted", self.submitted.clone().into());
        record.put("finished", self.finished.clone().into());
        record.put("input", self.input.clone().into());
        record.put("outputs", outputs.into());
        record.into_value()
    }
}

impl ManifestOutput {
    fn read(value: &Value) -> Self {
        Self {
            url: text_at(value, "url").unwrap_or_default(),
            file: text_at(value, "file"),
            missing: text_at(value, "missing"),
        }
    }

    fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("url", self.url.clone().into());
        record.put("file", self.file.clone().into());
        record.put("missing", self.missing.clone().into());
        record.into_value()
    }
}

fn text_at(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn list_at<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
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
            Some(duration::iso(batch.created)),
        );
        let attempts = items.latest().enumerate();
        manifest.items = attempts
            .map(|(index, task)| Item::new(index, task))
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

    /// Reads a `manifest.json`, of this version or a later one; the error is a sentence. Whatever
    /// is absent or of another type reads as empty.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let value = parse(text.as_bytes()).map_err(|error| format!("This is no JSON: {error}."))?;
        if text_at(&value, "format").as_deref() != Some(FORMAT) {
            return Err("This is no manifest of Atelier.".into());
        }
        let (Some(category), Some(subcategory)) =
            (text_at(&value, "category"), text_at(&value, "subcategory"))
        else {
            return Err("The manifest does not say of which model it is.".into());
        };
        Ok(Self {
            name: text_at(&value, "name").unwrap_or_default(),
            model: ModelId::new(category, subcategory),
            service: text_at(&value, "service").unwrap_or_default(),
            created: text_at(&value, "created"),
            items: list_at(&value, "items")
                .iter()
                .zip(1..)
                .map(Item::read)
                .collect(),
        })
    }

    pub fn to_json(&self) -> String {
        let items: Vec<Value> = self.items.iter().map(Item::to_value).collect();
        let mut record = Record::new();
        record.put("format", FORMAT.into());
        record.put("version", VERSION.into());
        record.put("name", self.name.clone().into());
        record.put("category", self.model.category.clone().into());
        record.put("subcategory", self.model.subcategory.clone().into());
        record.put("service", self.service.clone().into());
        record.put("created", self.created.clone().into());
        record.put("items", items.into());
        format!("{:#}", record.into_value())
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
