//! Exports and imports the history of a browser, as a backup or to continue in another browser: all tasks with their
//! inputs, states, favorites and lineage, the batches, and the cached outputs. The file is an archive; this module
//! reads and writes its manifest.
//!
//! The manifest contains no credentials and no User ID, but only a random name of the account, by which the exporting
//! browser recognizes its own tasks. In another browser, the user confirms that the tasks are theirs. Imported tasks
//! are never sent.

mod account_names;

use std::collections::HashSet;

pub use account_names::AccountNames;
use atelier_contract::{ApiError, json};
use crc::{CRC_32_ISO_HDLC, Crc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use atelier_engine::{Account, Millis, Phase, Task, TaskState, stored_output};

use crate::batch::Batch;
use crate::output::file_type;
use crate::output::output_cache::{self, CachedOutput};
use crate::output::upload_copy;
use crate::text::plural::{agreeing, counted};
use atelier_contract::output::{OutputKind, SafeUrl};

/// The manifest's name in the archive.
pub const MANIFEST: &str = "history.json";

/// The version of the manifest. A reader accepts all versions up to its own. Version 1 contains a CRC-32 of the User ID
/// instead of the account's name.
const VERSION: u64 = 2;

/// The name of the field with the version. A file with this field is a manifest.
const VERSION_FIELD: &str = "atelier_history";

/// The account of a task in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ExportedAccount {
    /// The absolute address of the service, because the importing page may have another origin.
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<ExportedUser>,
}

/// The user of a task in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum ExportedUser {
    /// See [`AccountNames`].
    Name(String),
    /// In version 1: CRC-32 of the User ID.
    Sum(u32),
}

/// A cached output with its file in the archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedOutput {
    /// The name of the output; see [`atelier_engine::TaskKey::output`].
    pub output: String,
    pub file: String,
    pub url: String,
    /// The MIME type of the file.
    #[serde(default)]
    pub mime: String,
    /// When it was cached, in ms since 1970-01-01 UTC.
    pub kept: Millis,
    /// When it was last shown, in ms since 1970-01-01 UTC.
    pub shown: Millis,
}

impl ExportedOutput {
    /// Returns the record for a cached output. `number`: the number of its file, from 1; `head`: the first bytes of the
    /// file.
    pub fn of(copy: &CachedOutput, number: usize, mime: &str, head: &[u8]) -> Self {
        let extension = file_type::extension(head, mime, &copy.url, OutputKind::Other);
        Self {
            output: copy.key.clone(),
            file: format!("outputs/{number:05}.{extension}"),
            url: copy.url.clone(),
            mime: mime.to_owned(),
            kept: copy.kept,
            shown: copy.shown,
        }
    }
}

/// The account, the page's origin and the time of the exporting or importing browser.
#[derive(Debug, Clone, Copy)]
pub struct LocalContext<'a> {
    pub account: &'a Account,
    /// The page's origin, which is the address of a service whose address is empty.
    pub origin: &'a str,
    /// The names of the accounts of this browser.
    pub names: &'a AccountNames,
    /// The current time, in ms since 1970-01-01 UTC.
    pub now: Millis,
}

/// The owner of the tasks in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The accounts named in the file.
    Named,
    /// The user who imports the file, after confirming that the tasks of the current service are theirs.
    Importer,
}

impl LocalContext<'_> {
    fn absolute(&self, address: &str) -> String {
        account_names::absolute(address, self.origin)
    }

    /// Returns the account's name in this browser's files.
    fn name(&self, account: &Account) -> Option<&str> {
        self.names.get(account, self.origin)
    }
}

/// Writes the manifest of a browser's history.
pub fn write(
    tasks: &[&Task],
    batches: &[Batch],
    outputs: &[ExportedOutput],
    here: LocalContext<'_>,
) -> String {
    // A task that was taken back is exported as a row of its table.
    let tasks = tasks
        .iter()
        .filter(|task| task.removed.is_none() && !task.taken_back);
    let tasks: Vec<Value> = tasks.map(|task| export_task(task, here)).collect();
    let batches: Vec<Value> = batches.iter().map(Batch::to_value).collect();
    let mut manifest = json::Record::new();
    manifest.put(VERSION_FIELD, VERSION.into());
    manifest.put("exported", here.now.into());
    manifest.put("tasks", tasks.into());
    manifest.put("batches", batches.into());
    manifest.put("outputs", json::encode(&outputs));
    manifest.into_value().to_string()
}

/// Returns the outputs that a service sent as data and that are stored in this browser, each with its name and
/// reference.
pub fn stored_outputs(tasks: &[&Task]) -> Vec<(String, String)> {
    let tasks = tasks.iter().filter(|task| task.removed.is_none());
    let outputs = tasks.flat_map(|task| {
        let named = task.outputs().iter().enumerate();
        named.map(|(at, url)| (task.key.output(at), url.clone()))
    });
    outputs
        .filter(|(_, url)| stored_output::is_reference(url))
        .collect()
}

/// Returns a message with the number of [`stored_outputs`] and the total size of their files, each counted once: `3
/// outputs that came as data, 0.4 MB`. `None` if there are none.
pub fn stored_message(tasks: &[&Task]) -> Option<String> {
    let stored = stored_outputs(tasks);
    let files: HashSet<&str> = stored.iter().map(|(_, url)| url.as_str()).collect();
    let bytes = files.into_iter().map(stored_output::file_size).sum();
    let outputs = counted(stored.len(), "output");
    let size = output_cache::size(bytes);
    (!stored.is_empty()).then(|| format!("{outputs} that came as data, {size}"))
}

fn export_task(task: &Task, here: LocalContext<'_>) -> Value {
    let address = here.absolute(&task.account.address);
    let mut task = task.clone();
    if let TaskState::Ready { outputs, .. } = &mut task.state {
        // Make paths absolute, because the importing page may use another service.
        for url in outputs {
            if let Some(whole) = SafeUrl::link(url, &address) {
                *url = whole.to_string();
            }
        }
    }
    let account = ExportedAccount {
        address,
        user: here
            .name(&task.account)
            .map(|name| ExportedUser::Name(name.to_owned())),
    };
    task.idempotency_key = None;
    task.token_version = None;
    task.key_first_sent = None;
    task.clear_progress();
    let mut value = task.to_value();
    value["account"] = json::encode(&account);
    value
}

/// Returns the checksum in files of version 1.
fn sum(uid: &str) -> u32 {
    Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(uid.as_bytes())
}

/// The content of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedHistory {
    /// The tasks; none of them will be sent.
    pub tasks: Vec<Task>,
    pub batches: Vec<Batch>,
    pub outputs: Vec<ExportedOutput>,
    /// The number of unfinished tasks that can't be polled, because they belong to another service or user.
    pub unfollowed: usize,
    /// The number of invalid records.
    pub damaged: usize,
}

/// Reads a manifest.
///
/// # Errors
///
/// A message: it is damaged, not a history file, or from a newer version.
pub fn read(text: &str, owner: Owner, here: LocalContext<'_>) -> Result<ImportedHistory, String> {
    const DAMAGED: &str = "The file is damaged. Nothing was imported.";
    let manifest = json::read(text).ok_or(DAMAGED)?;
    let mut manifest = json::Record::read(manifest).ok_or(DAMAGED)?;
    let version = manifest
        .number(VERSION_FIELD)
        .ok_or("This isn't an Atelier history file. Nothing was imported.")?;
    if version > VERSION {
        return Err("The file is from a newer version of Atelier. Nothing was imported.".into());
    }
    let mut list = |name| match manifest.take(name) {
        Some(Value::Array(entries)) => Ok(entries),
        _ => Err(DAMAGED.to_owned()),
    };
    let (tasks, batches, outputs) = (list("tasks")?, list("batches")?, list("outputs")?);
    let mut imported = ImportedHistory::default();
    let total = tasks.len() + batches.len() + outputs.len();
    let mut known = HashSet::new();
    for task in tasks {
        let Some((task, is_unfollowed)) = import_task(task, owner, here) else {
            continue;
        };
        if known.insert(task.key.clone()) {
            imported.tasks.push(task);
            imported.unfollowed += usize::from(is_unfollowed);
        }
    }
    let batches = batches.into_iter().filter_map(Batch::from_value);
    imported.batches = batches.filter(|batch| is_key(&batch.key.0)).collect();
    for batch in &mut imported.batches {
        batch.created = batch.created.min(here.now);
        batch.removed = None;
    }
    let outputs = outputs.into_iter().filter_map(json::decode);
    let is_output = |output: &ExportedOutput| {
        let task = output_cache::parse_name(&output.output);
        let task = task.or_else(|| upload_copy::parse_name(&output.output));
        task.is_some_and(|(key, _)| is_key(&key.0))
    };
    imported.outputs = outputs.filter(is_output).collect();
    let read = imported.tasks.len() + imported.batches.len() + imported.outputs.len();
    imported.damaged = total - read;
    Ok(imported)
}

/// Converts a task for this browser. Also returns whether the task is unfinished but can't be polled.
fn import_task(mut value: Value, owner: Owner, here: LocalContext<'_>) -> Option<(Task, bool)> {
    let account: ExportedAccount = json::decode(value.get("account")?.clone())?;
    let is_same_service = here.absolute(&account.address) == here.absolute(&here.account.address);
    let uid = &here.account.uid;
    let is_known = match (&account.user, owner) {
        (Some(_), Owner::Importer) => true,
        (Some(ExportedUser::Name(name)), Owner::Named) => here.name(here.account) == Some(name),
        (Some(ExportedUser::Sum(filed)), Owner::Named) => *filed == sum(uid),
        (None, _) => false,
    };
    let is_own = is_same_service && is_known && !uid.is_empty();
    let own = Account {
        address: match is_same_service {
            true => here.account.address.clone(),
            false => account.address,
        },
        uid: match is_own {
            true => here.account.uid.clone(),
            false => String::new(),
        },
    };
    value["account"] = json::encode(&own);
    let mut task = Task::from_value(value).filter(|task| is_key(&task.key.0))?;
    if task
        .batch
        .as_ref()
        .is_some_and(|place| !is_key(&place.batch.0))
    {
        return None;
    }
    // The other browser's clock may be ahead, but tasks created from now on must be newer.
    task.created = task.created.min(here.now);
    // Errors and waits of the other browser don't apply here.
    task.poll_error = None;
    task.not_before = None;
    task.waits_since = None;
    task.refreshed = None;
    task.removed = None;
    task.clear_progress();
    task.idempotency_key = None;
    task.token_version = None;
    task.key_first_sent = None;
    task.paused = false;
    task.taken_back = false;
    if matches!(task.state.phase(), Phase::Queued | Phase::Submitting) {
        // The other browser may have sent the task after the export.
        let error = ApiError::Network {
            detail: ApiError::EXPORTED_UNSENT.into(),
        };
        task.state = TaskState::Unconfirmed { error };
    }
    let is_unfinished = matches!(task.state.phase(), Phase::Running | Phase::Fetching);
    task.watching &= is_own || !is_unfinished;
    Some((task, is_unfinished && !is_own))
}

/// Whether the key is valid. An empty key or one with a slash would address other records.
fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&key.len()) && key.bytes().all(is_plain)
}

/// The result of importing a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// The number of imported tasks.
    pub tasks: usize,
    /// The number of other tasks in the file that existed already.
    pub known: usize,
    /// The number of existing tasks that this browser polls from now on, because of the file.
    pub followed: usize,
    /// The number of imported copies of outputs.
    pub outputs: usize,
    /// The number of imported copies of uploaded files.
    pub uploads: usize,
    /// The number of copies that were not imported for lack of space.
    pub out_of_space: usize,
    /// See [`ImportedHistory::unfollowed`].
    pub unfollowed: usize,
    /// The number of invalid records.
    pub damaged: usize,
}

impl ImportResult {
    /// Returns the message about the import.
    pub fn user_message(self) -> String {
        let mut message = match (self.tasks, self.known) {
            (0, 0) if self.followed > 0 => String::new(),
            (0, 0) => "There are no tasks in the file.".to_owned(),
            (0, known) if self.followed > 0 => {
                format!("{} there already.", are(known, "other task"))
            }
            (0, known) => format!("Nothing new: {} there already.", are(known, "task")),
            (new, 0) => format!("{} imported.", counted(new, "task")),
            (new, known) => format!(
                "{} imported; {} there already.",
                counted(new, "task"),
                are(known, "other")
            ),
        };
        if self.followed > 0 {
            let followed = are(self.followed, "task");
            let rest = if message.is_empty() { "" } else { " " };
            message = format!("{followed} yours, and followed from now on.{rest}{message}");
        }
        let more = [
            (self.outputs, "output", "kept"),
            (self.uploads, "uploaded file", "kept"),
            (
                self.out_of_space,
                "output",
                "not kept: there is no space for more copies",
            ),
            (
                self.unfollowed,
                "task",
                "under way elsewhere and not followed: set the same service and User ID here, tick \
                 Imported tasks are mine, and import once more",
            ),
            (self.damaged, "record", "damaged and left out"),
        ];
        for (count, what, rest) in more {
            if count > 0 {
                message.push_str(&format!(" {} {rest}.", are(count, what)));
            }
        }
        message
    }
}

fn are(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), agreeing(count, "is", "are"))
}

#[cfg(test)]
mod tests;
