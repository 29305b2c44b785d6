//! The history of this browser as one file, and that of another one taken in.

use std::collections::{HashMap, HashSet};

use atelier_contract::output::OutputKind;
use atelier_engine::{Action, Task, TaskKey, stored_output};
use atelier_studio::history::history_file::{
    self, AccountNames, ExportedOutput, ImportResult, ImportedHistory, LocalContext, MANIFEST,
    Owner,
};
use atelier_studio::output::output_cache::{self, CachedOutput};
use atelier_studio::text::plural::counted;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::{WithUntracked, untrack};
use web_sys::Blob;

use crate::browser::archive::{ArchiveReader, ArchiveWriter};
use crate::browser::local::LocalStore;
use crate::browser::{clock, file, location, peek, random};
use crate::reactive::until::until;
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::state::contexts::Contexts;

/// A manifest is read as a whole: larger ones would not fit into the page.
const MAX_MANIFEST: u64 = 256 << 20;

/// Where the names of accounts are kept, as JSON.
const NAMES: &str = "atelier.account-names";

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Begun,
    /// So many tasks are on their way into storage.
    Storing(usize),
    /// Outputs done, of how many.
    Outputs(usize, usize),
}

impl Progress {
    pub fn user_message(self) -> String {
        match self {
            Self::Begun | Self::Outputs(0, _) => "One moment…".to_owned(),
            Self::Storing(tasks) => format!("Storing {}…", counted(tasks, "task")),
            Self::Outputs(done, total) => format!("{done} of {}", counted(total, "output")),
        }
    }
}

/// Long enough for the browser to show what is said, in ms.
const SHOWN_MS: u32 = 30;

/// Packs every task and batch of this browser, and the kept outputs, if wanted.
///
/// # Errors
///
/// A sentence: there is no room, or an output can't be read.
pub async fn export(
    all: Contexts,
    with_outputs: bool,
    on_progress: impl Fn(Progress),
) -> Result<Blob, String> {
    let runner = all.runner;
    until(move || (runner.is_open() && Batches::new(all).is_read()).then_some(())).await;
    let mut packed = ArchiveWriter::default();
    let mut outputs = Vec::new();
    if with_outputs {
        let copies = runner.copies().await;
        let copies = copies.map_err(|error| format!("This browser {}.", error.reason()))?;
        for (at, copy) in copies.iter().enumerate() {
            on_progress(Progress::Outputs(at, copies.len()));
            // It may have made way for another one meanwhile.
            if let Some(blob) = runner.copy(&copy.key).await {
                let head = peek::head_of(&blob).await;
                let filed = ExportedOutput::of(copy, at + 1, &blob.type_(), &head);
                packed.add(&filed.file, &blob).await?;
                outputs.push(filed);
            }
        }
    }
    pack_stored(runner, &mut packed, &mut outputs).await?;
    let manifest = untrack(|| {
        let batches = Batches::new(all).all();
        let account = all.session.account();
        let origin = location::origin();
        runner.with_tasks(|tasks| {
            let here = LocalContext {
                account: &account,
                origin: &origin,
                names: &name_accounts(tasks, &origin),
                now: clock::now(),
            };
            let mut tasks: Vec<&Task> = tasks.to_vec();
            tasks.sort_by_key(|task| (task.created, &task.key));
            history_file::write(&tasks, &batches, &outputs, here)
        })
    });
    packed.add_text(MANIFEST, &manifest)?;
    packed.finish()
}

/// Packs the files of all outputs that came as data, each once: no service need have them any more, and no task's record does.
async fn pack_stored(
    runner: Runner,
    packed: &mut ArchiveWriter,
    outputs: &mut Vec<ExportedOutput>,
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
            let filed = ExportedOutput::of(&copy, outputs.len() + 1, &blob.type_(), &head);
            packed.add(&filed.file, &blob).await?;
            files.insert(url.clone(), filed);
        }
        if let Some(filed) = files.get(&url) {
            outputs.push(ExportedOutput {
                output: name,
                ..filed.clone()
            });
        }
    }
    Ok(())
}

/// Takes in what another browser, or this one, has exported. What is here already stays as it is;
/// nothing is sent.
///
/// # Errors
///
/// A sentence: the file is damaged, none of ours, or a newer Atelier's. Nothing was changed then.
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
    let mut taken = ImportResult {
        known: known.len() - followed,
        followed,
        unfollowed,
        damaged,
        ..ImportResult::default()
    };
    taken.tasks = tasks.len() - known.len();
    if taken.tasks > 0 {
        on_progress(Progress::Storing(taken.tasks));
        // Thousands hold up the page: what is said is to be seen before.
        TimeoutFuture::new(SHOWN_MS).await;
    }
    let keys: HashSet<&TaskKey> = tasks.iter().map(|task| &task.key).collect();
    let removed = untrack(|| runner.removed()).into_iter();
    let wanted_again = removed
        .map(|task| task.key)
        .filter(|key| keys.contains(key));
    runner.act_on_all(&wanted_again.collect::<Vec<_>>(), Action::Restore);
    // Their records come before those of their tasks.
    for batch in batches {
        Batches::new(all).take_in(batch);
    }
    runner.import(tasks);
    // Not imported before they are stored: a person who closes the page now has to find them again.
    if let Err(error) = runner.written().await {
        return Err(format!("Not stored: this browser {}.", error.reason()));
    }
    take_in_outputs(all, &archive, outputs, &mut taken, on_progress).await;
    Ok(taken)
}

/// Keeps copies of those outputs whose tasks are there, as far as there is room, and counts them.
async fn take_in_outputs(
    all: Contexts,
    archive: &ArchiveReader,
    outputs: Vec<ExportedOutput>,
    taken: &mut ImportResult,
    on_progress: impl Fn(Progress),
) {
    let runner = all.runner;
    let copies = runner.copies().await.unwrap_or_default();
    let has: HashSet<&str> = copies.iter().map(|copy| copy.key.as_str()).collect();
    let limit = output_cache::valid_limit(all.session.settings_untracked().keep_limit);
    let favorites = runner.with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()));
    let mut room =
        output_cache::free_space(&output_cache::evictable(copies.clone(), &favorites), limit);
    let total = outputs.len();
    for (at, output) in outputs.into_iter().enumerate() {
        on_progress(Progress::Outputs(at, total));
        let task = output_cache::parse_name(&output.output).and_then(|(key, _)| runner.task(&key));
        if task.is_none() || has.contains(output.output.as_str()) {
            continue;
        }
        let is_stored = stored_output::is_reference(&output.url);
        if is_stored {
            let is_its = runner.address(&output.output).as_ref() == Some(&output.url);
            if !is_its || runner.copy(&output.output).await.is_some() {
                continue;
            }
        }
        // What a page would run is only kept as bytes.
        let is_media = OutputKind::of_mime(&output.mime) != OutputKind::Other;
        let mime = if is_media { output.mime.as_str() } else { "" };
        let is_favorite = favorites.contains(&output.output);
        // Before it is unpacked.
        let needs_room = !is_favorite && !is_stored;
        if needs_room && archive.size(&output.file).is_some_and(|bytes| bytes > room) {
            taken.out_of_space += 1;
            continue;
        }
        let Ok(blob) = archive.file(&output.file, mime).await else {
            taken.damaged += 1;
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
        match runner.take_in_copy(copy, blob).await {
            Ok(()) => taken.outputs += 1,
            Err(_) => taken.out_of_space += 1,
        }
        if needs_room {
            room -= bytes;
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
    let here = LocalContext {
        account: &account,
        origin: &location::origin(),
        names: &account_names(),
        now: clock::now(),
    };
    history_file::read(&text, owner, here)
}

fn account_names() -> AccountNames {
    let kept = LocalStore::Browser.read(NAMES);
    kept.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Gives the accounts of the tasks names that this browser recognises later. Where it keeps nothing, it does not
/// recognise its file as its own.
fn name_accounts(tasks: &[&Task], origin: &str) -> AccountNames {
    let before = account_names();
    let mut names = before.clone();
    for task in tasks {
        names.add(&task.account, origin, random::key);
    }
    if names != before
        && let Ok(text) = serde_json::to_string(&names)
    {
        LocalStore::Browser.write(NAMES, &text);
    }
    names
}
