//! The history of a browser as one file, to be kept or to go on with in another browser: every task
//! with its input, state, favorites and lineage, the batches, and what is known of kept outputs. The
//! file is an archive; this is its manifest.
//!
//! No credentials are in it, the User ID neither: only a random name of the account, by which the browser that exported
//! it knows a task as its own. In another browser the user confirms it. Nothing that is imported is ever sent.

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
use crate::text::plural::{agreeing, counted};
use atelier_contract::output::{OutputKind, SafeUrl};

/// The manifest's name in the archive.
pub const MANIFEST: &str = "history.json";

/// The version of the manifest. A reader takes every version up to its own; in version 1 a CRC-32 of the User ID stands
/// in the place of the account's name.
const VERSION: u64 = 2;

/// The field in which a manifest says its version. No other file has this field.
const MARK: &str = "atelier_history";

/// The services and people of tasks, as a file names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FiledAccount {
    /// The whole address: the one who reads it may be at another.
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<FiledUser>,
}

/// Whose a task is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum FiledUser {
    /// See [`AccountNames`].
    Name(String),
    /// In version 1: CRC-32 of the User ID.
    Sum(u32),
}

/// A kept output: what is known of it, and its file in the archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FiledOutput {
    /// The output's name, see [`atelier_engine::TaskKey::output`].
    pub output: String,
    pub file: String,
    pub url: String,
    /// The MIME type of the file.
    #[serde(default)]
    pub mime: String,
    /// When the copy was made, in ms since 1970.
    pub kept: Millis,
    /// When a person last had it before them, in ms since 1970.
    pub shown: Millis,
}

impl FiledOutput {
    /// The file of a copy: `number` counts from 1, `head` is its first bytes.
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

/// The addresses of the page and its service, and the account.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    pub account: &'a Account,
    /// The page's own origin, which an empty address means.
    pub origin: &'a str,
    /// The names of the accounts of this browser.
    pub names: &'a AccountNames,
    /// The time, in ms since 1970.
    pub now: Millis,
}

/// Whose the tasks in a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Those of the accounts that the file names.
    Named,
    /// The user who imports it, as they confirm: for all tasks of the service that is set here.
    Importer,
}

impl Here<'_> {
    fn whole(&self, address: &str) -> String {
        account_names::whole(address, self.origin)
    }

    /// The name of the account in this browser's files.
    fn name(&self, account: &Account) -> Option<&str> {
        self.names.get(account, self.origin)
    }
}

/// The manifest of what a browser has.
pub fn write(
    tasks: &[&Task],
    batches: &[Batch],
    outputs: &[FiledOutput],
    here: Here<'_>,
) -> String {
    // A task that was taken back stands in its table, and is no task any more.
    let tasks = tasks
        .iter()
        .filter(|task| task.removed.is_none() && !task.taken_back);
    let tasks: Vec<Value> = tasks.map(|task| filed(task, here)).collect();
    let batches: Vec<Value> = batches.iter().map(Batch::to_value).collect();
    let mut manifest = json::Record::new();
    manifest.put(MARK, VERSION.into());
    manifest.put("exported", here.now.into());
    manifest.put("tasks", tasks.into());
    manifest.put("batches", batches.into());
    manifest.put("outputs", json::encode(&outputs));
    manifest.into_value().to_string()
}

/// The outputs that a file holds and that came as data, each by its name and its reference.
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

/// How many of them there are, and how large their files are together, each counted once: `3 outputs that came as data,
/// 0.4 MB`. `None` where there are none.
pub fn stored_message(tasks: &[&Task]) -> Option<String> {
    let stored = stored_outputs(tasks);
    let files: HashSet<&str> = stored.iter().map(|(_, url)| url.as_str()).collect();
    let bytes = files.into_iter().map(stored_output::file_size).sum();
    let outputs = counted(stored.len(), "output");
    let size = output_cache::size(bytes);
    (!stored.is_empty()).then(|| format!("{outputs} that came as data, {size}"))
}

fn filed(task: &Task, here: Here<'_>) -> Value {
    let address = here.whole(&task.account.address);
    let mut task = task.clone();
    if let TaskState::Ready { outputs, .. } = &mut task.state {
        // An address from the root is one of this service, which may not be the reader's.
        for url in outputs {
            if let Some(whole) = SafeUrl::link(url, &address) {
                *url = whole.to_string();
            }
        }
    }
    let account = FiledAccount {
        address,
        user: here
            .name(&task.account)
            .map(|name| FiledUser::Name(name.to_owned())),
    };
    task.idempotency_key = None;
    task.token_version = None;
    task.key_first_sent = None;
    let mut value = task.to_value();
    value["account"] = json::encode(&account);
    value
}

/// In files of version 1.
fn sum(uid: &str) -> u32 {
    Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(uid.as_bytes())
}

/// The contents of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrivals {
    /// The tasks; none of them is to be sent.
    pub tasks: Vec<Task>,
    pub batches: Vec<Batch>,
    pub outputs: Vec<FiledOutput>,
    /// Of the tasks, those that go on at a service and can't be followed: it is another one, or
    /// another person's.
    pub unfollowed: usize,
    /// Records that can't be read.
    pub damaged: usize,
}

/// Reads a manifest.
///
/// # Errors
///
/// A sentence: it is damaged, none of ours, or a newer Atelier's.
pub fn read(text: &str, owner: Owner, here: Here<'_>) -> Result<Arrivals, String> {
    const DAMAGED: &str = "The file is damaged. Nothing was imported.";
    let manifest = json::read(text).ok_or(DAMAGED)?;
    let mut manifest = json::Record::read(manifest).ok_or(DAMAGED)?;
    let version = manifest
        .number(MARK)
        .ok_or("This isn't an Atelier history file. Nothing was imported.")?;
    if version > VERSION {
        return Err("A newer Atelier has made the file. Nothing was imported.".into());
    }
    let mut list = |name| match manifest.take(name) {
        Some(Value::Array(entries)) => Ok(entries),
        _ => Err(DAMAGED.to_owned()),
    };
    let (tasks, batches, outputs) = (list("tasks")?, list("batches")?, list("outputs")?);
    let mut arrivals = Arrivals::default();
    let total = tasks.len() + batches.len() + outputs.len();
    let mut known = HashSet::new();
    for task in tasks {
        let Some((task, is_unfollowed)) = arrival(task, owner, here) else {
            continue;
        };
        if known.insert(task.key.clone()) {
            arrivals.tasks.push(task);
            arrivals.unfollowed += usize::from(is_unfollowed);
        }
    }
    let batches = batches.into_iter().filter_map(Batch::from_value);
    arrivals.batches = batches.filter(|batch| is_key(&batch.key.0)).collect();
    for batch in &mut arrivals.batches {
        batch.created = batch.created.min(here.now);
        batch.removed = None;
    }
    let outputs = outputs.into_iter().filter_map(json::decode);
    let is_output = |output: &FiledOutput| {
        output_cache::place(&output.output).is_some_and(|(key, _)| is_key(&key.0))
    };
    arrivals.outputs = outputs.filter(is_output).collect();
    let read = arrivals.tasks.len() + arrivals.batches.len() + arrivals.outputs.len();
    arrivals.damaged = total - read;
    Ok(arrivals)
}

/// A task as it goes on here, and whether it goes on elsewhere alone.
fn arrival(mut value: Value, owner: Owner, here: Here<'_>) -> Option<(Task, bool)> {
    let account: FiledAccount = json::decode(value.get("account")?.clone())?;
    let is_same_service = here.whole(&account.address) == here.whole(&here.account.address);
    let uid = &here.account.uid;
    let is_known = match (&account.user, owner) {
        (Some(_), Owner::Importer) => true,
        (Some(FiledUser::Name(name)), Owner::Named) => here.name(here.account) == Some(name),
        (Some(FiledUser::Sum(filed)), Owner::Named) => *filed == sum(uid),
        (None, _) => false,
    };
    let is_mine = is_same_service && is_known && !uid.is_empty();
    let own = Account {
        address: match is_same_service {
            true => here.account.address.clone(),
            false => account.address,
        },
        uid: match is_mine {
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
    // A clock elsewhere may be ahead: what is made here from now on is newer.
    task.created = task.created.min(here.now);
    // The errors that another page was told of are not for this one.
    task.poll_error = None;
    task.not_before = None;
    task.waits_since = None;
    task.refreshed = None;
    task.removed = None;
    task.idempotency_key = None;
    task.token_version = None;
    task.key_first_sent = None;
    task.paused = false;
    task.taken_back = false;
    if matches!(task.state.phase(), Phase::Queued | Phase::Submitting) {
        // The browser that it comes from may have sent it since.
        let error = ApiError::Network {
            detail: ApiError::EXPORTED_UNSENT.into(),
        };
        task.state = TaskState::Unconfirmed { error };
    }
    let goes_on = matches!(task.state.phase(), Phase::Running | Phase::Fetching);
    task.watching &= is_mine || !goes_on;
    Some((task, goes_on && !is_mine))
}

/// Keys name records: one with a slash, or an empty one, would mean those of others.
fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&key.len()) && key.bytes().all(is_plain)
}

/// The result of taking in a file, for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// Tasks that were taken in.
    pub tasks: usize,
    /// Other tasks that were there before.
    pub known: usize,
    /// Tasks that were there before, which the file lets this browser follow.
    pub followed: usize,
    /// Copies of outputs that were taken in.
    pub outputs: usize,
    /// Copies for which there was no room.
    pub homeless: usize,
    /// See [`Arrivals::unfollowed`].
    pub unfollowed: usize,
    /// Records that could not be read.
    pub damaged: usize,
}

impl TakenIn {
    pub fn user_message(self) -> String {
        let mut said = match (self.tasks, self.known) {
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
            let rest = if said.is_empty() { "" } else { " " };
            said = format!("{followed} yours, and followed from now on.{rest}{said}");
        }
        let more = [
            (self.outputs, "output", "kept"),
            (
                self.homeless,
                "output",
                "not kept: there is no room for more copies",
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
                said.push_str(&format!(" {} {rest}.", are(count, what)));
            }
        }
        said
    }
}

fn are(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), agreeing(count, "is", "are"))
}

#[cfg(test)]
mod tests;
