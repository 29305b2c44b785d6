//! Packs outputs, such as those of a batch, and a manifest as a ZIP archive. The media are not compressed, because they
//! would not become smaller.
//!
//! The archive is never in the program's memory: it consists of blobs, which the browser stores on disk if they are large.

use std::collections::HashSet;

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::batch::Batch;
use atelier_studio::form::control;
use atelier_studio::history::manifest::recipes::Recipes;
use atelier_studio::history::manifest::{Manifest, ManifestOutput};
use atelier_studio::output::file_name;
use atelier_studio::output::name_pattern::{NamePattern, NameValues, TakenNames};
use atelier_studio::output::output_access::{MissingFileReason, MissingOutputs};
use atelier_studio::text::calendar::Local;
use futures::stream::{self, LocalBoxStream, StreamExt};
use web_sys::Blob;

use crate::browser::archive::ArchiveWriter;
use crate::browser::clock;
use crate::files::{metadata, output_file};
use crate::runner::Runner;
use crate::state::file_settings::FileSettings;

/// The maximum number of outputs fetched at the same time.
const CONCURRENCY: usize = 4;

/// The names of the manifests in the archive of a batch.
const MANIFESTS: [&str; 2] = ["manifest.json", "manifest.csv"];

/// An output to be packed.
struct PendingOutput {
    /// The name of its copy in this browser.
    copy: String,
    /// The index of the item in the batch, from 0.
    index: usize,
    /// The number of the output within the item, from 1.
    n: usize,
    url: String,
    title: String,
    kind: OutputKind,
}

impl PendingOutput {
    fn of(task: &Task, index: usize, position: usize, url: &str) -> Self {
        Self {
            copy: task.key.output(position),
            index,
            n: position + 1,
            url: url.to_owned(),
            title: task.input.title().to_owned(),
            kind: task.output_kind(url),
        }
    }

    /// Returns the file name in the archive of a batch of `items` items. `title`: the title of this item.
    async fn name(&self, items: usize, title: &str, file: &Blob) -> String {
        let extension = output_file::extension(file, &self.url, self.kind).await;
        file_name::in_archive(self.index + 1, items, title, self.n, &extension)
    }

    /// Returns the file name by the user's pattern. `total`: the number of items or outputs.
    async fn name_by(
        &self,
        pattern: &NamePattern,
        taken: &mut TakenNames,
        task: &Task,
        total: usize,
        file: &Blob,
    ) -> String {
        let extension = output_file::extension(file, &self.url, self.kind).await;
        let values = NameValues::of(task, self.n, made_at(task), total);
        pattern.unique_name(taken, &values, &extension)
    }

    /// Returns the file name in an archive of selected outputs.
    async fn dated_name(
        &self,
        taken: &mut HashSet<String>,
        task: &Task,
        created: Local,
        file: &Blob,
    ) -> String {
        let extension = output_file::extension(file, &self.url, self.kind).await;
        let seed = task
            .input
            .values()
            .get("seed")
            .filter(|seed| !seed.is_null());
        let seed = seed.map(control::text);
        let settings = (&task.model, seed.as_deref());
        file_name::dated(taken, &created.day.iso(), settings, self.n, &extension)
    }
}

/// Returns when the outputs of a task were made.
pub fn made_at(task: &Task) -> Local {
    clock::local(task.finished.unwrap_or(task.created))
}

/// The number of outputs done, and their total.
pub type Progress = (usize, usize);

/// Returns the manifest with the addresses of the outputs, but without files.
pub fn manifest(batch: &Batch, tasks: &[&Task]) -> Manifest {
    let items = batch.items(tasks.iter().copied());
    let mut manifest = Manifest::of(batch, &items);
    for item in &mut manifest.items {
        let task = items.get(item.index.saturating_sub(1));
        let urls = task.map_or(&[] as &[String], Task::outputs);
        item.outputs = urls.iter().map(|url| ManifestOutput::of(url)).collect();
    }
    manifest
}

/// Fetches every output, from its address or else from its copy, and packs the files with the manifest as JSON and as CSV. The
/// manifest lists missing outputs with the reason. `names`: names of the items that distinguish them.
///
/// # Errors
///
/// A sentence for the user: there is not enough space, or a file is too large for an archive.
pub async fn make(
    runner: Runner,
    mut manifest: Manifest,
    tasks: Vec<Option<Task>>,
    names: &[String],
    address: &str,
    on_progress: impl Fn(Progress),
) -> Result<(Blob, MissingOutputs), String> {
    let size = tasks.len();
    let pending: Vec<PendingOutput> = tasks
        .iter()
        .enumerate()
        .filter_map(|(index, task)| Some((index, task.as_ref()?)))
        .flat_map(|(index, task)| {
            task.outputs()
                .iter()
                .enumerate()
                .map(move |(at, url)| PendingOutput::of(task, index, at, url))
        })
        .collect();
    let total = pending.len();
    for item in &mut manifest.items {
        item.outputs.clear();
    }
    on_progress((0, total));
    let mut packed = ArchiveWriter::default();
    let mut fetched = fetch_all(runner, pending, address);
    let (mut done, mut missing) = (0, MissingOutputs::default());
    let pattern = FileSettings::read().pattern();
    let mut taken = TakenNames::default();
    for name in MANIFESTS {
        taken.add(name);
    }
    while let Some((pending, blob)) = fetched.next().await {
        let entry = match blob {
            Ok(blob) => {
                let task = tasks.get(pending.index).and_then(Option::as_ref);
                let created = task.map(made_at);
                let title = names.get(pending.index).unwrap_or(&pending.title);
                let by_pattern = pattern.as_ref().zip(task);
                let name = match by_pattern {
                    Some((pattern, task)) => {
                        pending
                            .name_by(pattern, &mut taken, task, size, &blob)
                            .await
                    }
                    None => pending.name(size, title, &blob).await,
                };
                let blob = match task {
                    Some(task) => metadata::with_inputs(blob, task).await,
                    None => blob,
                };
                packed.add_with_time(&name, &blob, created).await?;
                ManifestOutput::fetched(&pending.url, name)
            }
            Err(reason) => {
                missing.add(&reason);
                ManifestOutput::missing(&pending.url, reason.user_message())
            }
        };
        let mut items = manifest.items.iter_mut();
        if let Some(item) = items.find(|item| item.index == pending.index + 1) {
            item.outputs.push(entry);
        }
        done += 1;
        on_progress((done, total));
    }
    let [json, csv] = MANIFESTS;
    packed.add_text(json, &manifest.to_json())?;
    packed.add_text(csv, &manifest.to_csv())?;
    Ok((packed.finish()?, missing))
}

/// Packs outputs, each given by its task and its position from 0, with the inputs they were made from. Returns the archive
/// and the outputs that are missing.
///
/// # Errors
///
/// A sentence for the user: there is not enough space, or a file is too large for an archive.
pub async fn pack(
    runner: Runner,
    outputs: Vec<(Task, usize)>,
    address: &str,
    on_progress: impl Fn(Progress),
) -> Result<(Blob, MissingOutputs), String> {
    let size = outputs.len();
    let pending = outputs
        .iter()
        .enumerate()
        .filter_map(|(index, (task, at))| {
            Some(PendingOutput::of(
                task,
                index,
                *at,
                task.outputs().get(*at)?,
            ))
        })
        .collect();
    let mut packed = ArchiveWriter::default();
    let mut fetched = fetch_all(runner, pending, address);
    let (mut done, mut missing) = (0, MissingOutputs::default());
    let (mut names, mut recipes) = (HashSet::new(), Recipes::default());
    let mut taken = TakenNames::default();
    let pattern = FileSettings::read().pattern();
    while let Some((pending, blob)) = fetched.next().await {
        let task = &outputs[pending.index].0;
        let output = match blob {
            Ok(blob) => {
                let created = made_at(task);
                let name = match &pattern {
                    Some(pattern) => {
                        pending
                            .name_by(pattern, &mut taken, task, size, &blob)
                            .await
                    }
                    None => pending.dated_name(&mut names, task, created, &blob).await,
                };
                let blob = metadata::with_inputs(blob, task).await;
                packed.add_with_time(&name, &blob, Some(created)).await?;
                ManifestOutput::fetched(&pending.url, name)
            }
            Err(reason) => {
                missing.add(&reason);
                ManifestOutput::missing(&pending.url, reason.user_message())
            }
        };
        recipes.add(task, output);
        done += 1;
        on_progress((done, size));
    }
    for (name, text) in recipes.files() {
        packed.add_text(&name, &text)?;
    }
    Ok((packed.finish()?, missing))
}

/// Fetches the file of each output, from its address or else from its copy, in order.
fn fetch_all(
    runner: Runner,
    pending: Vec<PendingOutput>,
    address: &str,
) -> LocalBoxStream<'_, (PendingOutput, Result<Blob, MissingFileReason>)> {
    let fetched = stream::iter(pending).map(move |pending| async move {
        let fetched = match output_file::fetch(&pending.url, address).await {
            Err(error) => runner.copy(&pending.copy).await.ok_or(error),
            fetched => fetched,
        };
        (pending, fetched)
    });
    fetched.buffered(CONCURRENCY).boxed_local()
}
