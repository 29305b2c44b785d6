//! Exports the history of this browser as a file, and imports such files.

use std::collections::{HashMap, HashSet};

use atelier_contract::output::OutputKind;
use atelier_engine::{Action, Task, TaskKey, stored_output};
use atelier_studio::history::history_file::{
    self, AccountNames, ExportedOutput, ImportResult, ImportedHistory, LocalContext, MANIFEST,
    Owner,
};
use atelier_studio::output::name_pattern::{NamePattern, NameValues, TakenNames};
use atelier_studio::output::output_cache::{self, CachedOutput};
use atelier_studio::output::upload_copy;
use atelier_studio::text::plural::counted;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::{GetUntracked, WithUntracked, untrack};
use web_sys::Blob;

use crate::browser::archive::{ArchiveReader, ArchiveWriter};
use crate::browser::local::LocalStore;
use crate::browser::{clock, file, location, peek, random};
use crate::files::batch_archive::made_at;
use crate::reactive::until::until;
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::state::contexts::Contexts;
use crate::state::file_settings::FileSettings;

/// The maximum size of a manifest in bytes. It is read as a whole, and a larger one would not fit into the page's memory.
const MAX_MANIFEST: u64 = 256 << 20;

/// The storage key of the names of accounts, as JSON.
const NAMES_KEY: &str = "atelier.account-names";

/// The progress of an export or import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Started,
    /// This many tasks are being stored.
    Storing(usize),
    /// The number of outputs done, and their total.
    Outputs(usize, usize),
}

impl Progress {
    pub fn user_message(self) -> String {
        match self {
            Self::Started | Self::Outputs(0, _) => "One moment…".to_owned(),
            Self::Storing(tasks) => format!("Storing {}…", counted(tasks, "task")),
            Self::Outputs(done, total) => format!("{done} of {}", counted(total, "output")),
        }
    }
}

/// A delay that is long enough for the browser to show a message, in milliseconds.
const SHOWN_MS: u32 = 30;

/// Packs every task and batch of this browser, and its copies of outputs if `with_outputs` is set.
///
/// # Errors
///
/// A sentence for the user: there is not enough space, or an output can't be read.
pub async fn export(
    all: Contexts,
    with_outputs: bool,
    on_progress: impl Fn(Progress),
) -> Result<Blob, String> {
    let runner = all.runner;
    until(move || (runner.is_open() && Batches::new(all).is_read()).then_some(())).await;
    let mut packed = ArchiveWriter::default();
    let mut outputs = Vec::new();
    let mut names = FileNames::new();
    if with_outputs {
        let copies = runner.copies().await;
        let copies = copies.map_err(|error| format!("This browser {}.", error.reason()))?;
        for (at, copy) in copies.iter().enumerate() {
            on_progress(Progress::Outputs(at, copies.len()));
            // The copy may have been evicted in the meantime.
            if let Some(blob) = runner.copy(&copy.key).await {
                let head = peek::head_of(&blob).await;
                let mut exported = ExportedOutput::of(copy, at + 1, &blob.type_(), &head);
                names.apply(runner, &mut exported);
                packed.add(&exported.file, &blob).await?;
                outputs.push(exported);
            }
        }
    }
    pack_stored(runner, &mut packed, &mut outputs, &mut names).await?;
    let manifest = untrack(|| {
        let batches = Batches::new(all).all();
        let account = all.session.account();
        let origin = location::origin();
        runner.with_tasks(|tasks| {
            let context = LocalContext {
                account: &account,
                origin: &origin,
                names: &name_accounts(tasks, &origin),
                now: clock::now(),
            };
            let mut tasks: Vec<&Task> = tasks.to_vec();
            tasks.sort_by_key(|task| (task.created, &task.key));
            history_file::write(&tasks, &batches, &outputs, context)
        })
    });
    packed.add_text(MANIFEST, &manifest)?;
    packed.finish()
}

/// The names of the outputs in an exported file.
struct FileNames {
    /// `None` for numbers.
    pattern: Option<NamePattern>,
    taken: TakenNames,
}

impl FileNames {
    fn new() -> Self {
        Self {
            pattern: FileSettings::read().pattern(),
            taken: TakenNames::default(),
        }
    }

    /// Names a file by the user's pattern, if there is one. A file whose task is gone gets a number.
    fn apply(&mut self, runner: Runner, exported: &mut ExportedOutput) {
        let Some(pattern) = &self.pattern else {
            return;
        };
        let (path, extension) = exported
            .file
            .rsplit_once('.')
            .unwrap_or((exported.file.as_str(), ""));
        let (folder, number) = path.split_once('/').unwrap_or(("outputs", path));
        let task = output_cache::parse_name(&exported.output);
        let task = task.and_then(|(key, at)| Some((runner.task(&key)?.get_untracked(), at)));
        let name = match task {
            Some((task, at)) => {
                let values = NameValues::of(&task, at + 1, made_at(&task), 1);
                pattern.unique_name(&mut self.taken, &values, extension)
            }
            None => self.taken.unique(number, extension),
        };
        exported.file = format!("{folder}/{name}");
    }
}

/// Packs the files of all outputs that were sent as data, each file once: the service may no longer have them, and the
/// records of tasks don't contain them.
async fn pack_stored(
    runner: Runner,
    packed: &mut ArchiveWriter,
    outputs: &mut Vec<ExportedOutput>,
    names: &mut FileNames,
) -> Result<(), String> {
    let references = untrack(|| runner.with_tasks(history_file::stored_outputs));
    let mut files: HashMap<String, ExportedOutput> = HashMap::new();
    for (name, url) in references {
        if !files.contains_key(&url) {
            let Some(blob) = runner.copy(&name).await else {
                continue;
            };
            let copy = CachedOutput {
                key: name.clone(),
                url: url.clone(),
                bytes: blob.size() as u64,
                kept: clock::now(),
                shown: clock::now(),
            };
            let head = peek::head_of(&blob).await;
            let mut exported = ExportedOutput::of(&copy, outputs.len() + 1, &blob.type_(), &head);
            names.apply(runner, &mut exported);
            packed.add(&exported.file, &blob).await?;
            files.insert(url.clone(), exported);
        }
        if let Some(exported) = files.get(&url) {
            outputs.push(ExportedOutput {
                output: name,
                ..exported.clone()
            });
        }
    }
    Ok(())
}

/// Imports a file that this or another browser has exported. Existing records stay unchanged, and nothing is sent.
///
/// # Errors
///
/// A sentence for the user: the file is damaged, is not an export, or is from a newer version. Nothing was changed.
pub async fn import(
    all: Contexts,
    file: Blob,
    owner: Owner,
    on_progress: impl Fn(Progress),
) -> Result<ImportResult, String> {
    let runner = all.runner;
    until(move || (runner.is_open() && Batches::new(all).is_read()).then_some(())).await;
    let archive = ArchiveReader::open(file, MANIFEST).await?;
    let imported = read(all, &archive, owner).await?;
    let ImportedHistory {
        tasks,
        batches,
        outputs,
        unfollowed,
        damaged,
    } = imported;
    let is_known = |task: &&Task| {
        let known = runner.task(&task.key);
        known.is_some_and(|known| {
            known.with_untracked(|known| known.removed.is_none() && !known.gains_outcome_from(task))
        })
    };
    let is_claimed = |task: &&Task| {
        let known = runner.task(&task.key);
        known.is_some_and(|known| known.with_untracked(|known| known.gains_account_from(task)))
    };
    let known: Vec<&Task> = tasks.iter().filter(is_known).collect();
    let followed = known.iter().filter(|task| is_claimed(task)).count();
    let mut result = ImportResult {
        known: known.len() - followed,
        followed,
        unfollowed,
        damaged,
        ..ImportResult::default()
    };
    result.tasks = tasks.len() - known.len();
    if result.tasks > 0 {
        on_progress(Progress::Storing(result.tasks));
        // Storing thousands of tasks blocks the page, so the message must be shown first.
        TimeoutFuture::new(SHOWN_MS).await;
    }
    let keys: HashSet<&TaskKey> = tasks.iter().map(|task| &task.key).collect();
    let removed = untrack(|| runner.removed()).into_iter();
    let wanted_again = removed
        .map(|task| task.key)
        .filter(|key| keys.contains(key));
    runner.act_on_all(&wanted_again.collect::<Vec<_>>(), Action::Restore);
    // Batches are stored before their tasks.
    for batch in batches {
        Batches::new(all).take_in(batch);
    }
    runner.import(tasks);
    // Waits until the tasks are stored: the import must not report success for tasks that would be lost if
    // the page were closed.
    if let Err(error) = runner.written().await {
        return Err(format!("Not stored: this browser {}.", error.reason()));
    }
    import_outputs(all, &archive, outputs, &mut result, on_progress).await;
    Ok(result)
}

/// Stores copies of the outputs whose tasks exist, as far as there is space, and counts them in `result`.
async fn import_outputs(
    all: Contexts,
    archive: &ArchiveReader,
    outputs: Vec<ExportedOutput>,
    result: &mut ImportResult,
    on_progress: impl Fn(Progress),
) {
    let runner = all.runner;
    let copies = runner.copies().await.unwrap_or_default();
    let existing: HashSet<&str> = copies.iter().map(|copy| copy.key.as_str()).collect();
    let limit = output_cache::valid_limit(all.session.settings_untracked().keep_limit);
    let favorites = runner.with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()));
    let mut free_bytes =
        output_cache::free_space(&output_cache::evictable(copies.clone(), &favorites), limit);
    let total = outputs.len();
    for (at, output) in outputs.into_iter().enumerate() {
        on_progress(Progress::Outputs(at, total));
        let upload = upload_copy::parse_name(&output.output);
        let is_upload = upload.is_some();
        let task = upload.or_else(|| output_cache::parse_name(&output.output));
        if task.and_then(|(key, _)| runner.task(&key)).is_none()
            || existing.contains(output.output.as_str())
        {
            continue;
        }
        let is_stored = stored_output::is_reference(&output.url);
        if is_stored {
            let is_referenced = runner.address(&output.output).as_ref() == Some(&output.url);
            if !is_referenced || runner.copy(&output.output).await.is_some() {
                continue;
            }
        }
        // Only media keep their type: files of other types could be executed by a page.
        let is_media = OutputKind::of_mime(&output.mime) != OutputKind::Other;
        let mime = if is_media { output.mime.as_str() } else { "" };
        let is_favorite = favorites.contains(&output.output);
        // The space is checked before the file is unpacked.
        let needs_space = !is_favorite && !is_stored;
        if needs_space
            && archive
                .size(&output.file)
                .is_some_and(|bytes| bytes > free_bytes)
        {
            result.out_of_space += 1;
            continue;
        }
        let Ok(blob) = archive.file(&output.file, mime).await else {
            result.damaged += 1;
            continue;
        };
        let bytes = blob.size() as u64;
        let copy = CachedOutput {
            key: output.output,
            url: output.url,
            bytes,
            kept: output.kept,
            shown: output.shown,
        };
        match runner.import_copy(copy, blob).await {
            Ok(()) if is_upload => result.uploads += 1,
            Ok(()) => result.outputs += 1,
            Err(_) => result.out_of_space += 1,
        }
        if needs_space {
            free_bytes -= bytes;
        }
    }
}

async fn read(
    all: Contexts,
    archive: &ArchiveReader,
    owner: Owner,
) -> Result<ImportedHistory, String> {
    let size = archive.size(MANIFEST).unwrap_or_default();
    if size > MAX_MANIFEST {
        return Err(format!(
            "The history in the file has {} MB: this page reads at most {} MB. Nothing was imported.",
            size >> 20,
            MAX_MANIFEST >> 20,
        ));
    }
    let manifest = archive.file(MANIFEST, "application/json").await?;
    let text = file::all_text(&manifest).await?;
    let account = untrack(|| all.session.account());
    let context = LocalContext {
        account: &account,
        origin: &location::origin(),
        names: &account_names(),
        now: clock::now(),
    };
    history_file::read(&text, owner, context)
}

fn account_names() -> AccountNames {
    let stored = LocalStore::Browser.read(NAMES_KEY);
    stored
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Names each account of the tasks, so that this browser recognizes the account later. If storage is unavailable, the browser
/// will not recognize its own export.
fn name_accounts(tasks: &[&Task], origin: &str) -> AccountNames {
    let before = account_names();
    let mut names = before.clone();
    for task in tasks {
        names.add(&task.account, origin, random::key);
    }
    if names != before
        && let Ok(text) = serde_json::to_string(&names)
    {
        LocalStore::Browser.write(NAMES_KEY, &text);
    }
    names
}
