//! A batch as one file: its media and its manifest in a ZIP archive, stored as they are (media do
//! not compress).
//!
//! The archive never lies in the program's memory: the media stay the browser's, which keeps them on
//! disk where they are large.

use std::collections::HashSet;

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::batch::Batch;
use atelier_studio::form::control;
use atelier_studio::history::manifest::recipes::Recipes;
use atelier_studio::history::manifest::{Manifest, ManifestOutput};
use atelier_studio::output::file_name;
use atelier_studio::output::output_access::{MissingOutputs, NoFile};
use atelier_studio::text::calendar::Local;
use futures::stream::{self, LocalBoxStream, StreamExt};
use web_sys::Blob;

use crate::browser::archive::ArchiveWriter;
use crate::browser::clock;
use crate::files::output_file;
use crate::runner::Runner;

/// Outputs that are fetched at one time.
const CONCURRENCY: usize = 4;

/// An output on its way into the archive.
struct Wanted {
    /// The name of its copy in this browser.
    copy: String,
    /// The item in the batch, from 0.
    index: usize,
    /// The output of the item, from 1.
    n: usize,
    url: String,
    title: String,
    kind: OutputKind,
}

impl Wanted {
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

    /// Of its file among those of `items` items; `title`: of its own.
    async fn name(&self, items: usize, title: &str, file: &Blob) -> String {
        let extension = output_file::extension(file, &self.url, self.kind).await;
        file_name::in_archive(self.index + 1, items, title, self.n, &extension)
    }

    /// Of its file among others that were chosen from everything.
    async fn name_of_chosen(
        &self,
        taken: &mut HashSet<String>,
        task: &Task,
        made: Local,
        file: &Blob,
    ) -> String {
        let extension = output_file::extension(file, &self.url, self.kind).await;
        let seed = task
            .input
            .values()
            .get("seed")
            .filter(|seed| !seed.is_null());
        let seed = seed.map(control::text);
        let how = (&task.model, seed.as_deref());
        file_name::dated(taken, &made.day.iso(), how, self.n, &extension)
    }
}

/// How far it has come: outputs done, of how many.
pub type Progress = (usize, usize);

/// The manifest as it stands, with the outputs' addresses and no files.
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

/// Fetches every output, from its address or else from its copy, and packs them with the manifest, as JSON and as CSV.
/// Where one can't be had, the manifest says so. `names`: of the items, which tell them apart.
///
/// # Errors
///
/// A sentence for a person: there is no room, or a file is larger than an archive takes.
pub async fn make(
    runner: Runner,
    mut manifest: Manifest,
    tasks: Vec<Option<Task>>,
    names: &[String],
    address: &str,
    on_progress: impl Fn(Progress),
) -> Result<(Blob, MissingOutputs), String> {
    let size = tasks.len();
    let wanted: Vec<Wanted> = tasks
        .iter()
        .enumerate()
        .filter_map(|(index, task)| Some((index, task.as_ref()?)))
        .flat_map(|(index, task)| {
            task.outputs()
                .iter()
                .enumerate()
                .map(move |(at, url)| Wanted::of(task, index, at, url))
        })
        .collect();
    let total = wanted.len();
    for item in &mut manifest.items {
        item.outputs.clear();
    }
    on_progress((0, total));
    let mut packed = ArchiveWriter::default();
    let mut fetched = fetch_all(runner, wanted, address);
    let (mut done, mut missing) = (0, MissingOutputs::default());
    while let Some((wanted, blob)) = fetched.next().await {
        let entry = match blob {
            Ok(blob) => {
                let title = names.get(wanted.index).unwrap_or(&wanted.title);
                let name = wanted.name(size, title, &blob).await;
                let task = tasks.get(wanted.index).and_then(Option::as_ref);
                let made = task.map(|task| clock::local(task.finished.unwrap_or(task.created)));
                packed.add_made(&name, &blob, made).await?;
                ManifestOutput::fetched(&wanted.url, name)
            }
            Err(reason) => {
                missing.add(&reason);
                ManifestOutput::missing(&wanted.url, reason.user_message())
            }
        };
        let mut items = manifest.items.iter_mut();
        if let Some(item) = items.find(|item| item.index == wanted.index + 1) {
            item.outputs.push(entry);
        }
        done += 1;
        on_progress((done, total));
    }
    packed.add_text("manifest.json", &manifest.to_json())?;
    packed.add_text("manifest.csv", &manifest.to_csv())?;
    Ok((packed.finish()?, missing))
}

/// Packs outputs, each of a task and by its position from 0, with how they were made. How many are missing is said
/// next to the archive as well.
///
/// # Errors
///
/// A sentence: there is no room, or a file is larger than an archive takes.
pub async fn pack(
    runner: Runner,
    outputs: Vec<(Task, usize)>,
    address: &str,
    on_progress: impl Fn(Progress),
) -> Result<(Blob, MissingOutputs), String> {
    let size = outputs.len();
    let wanted = outputs
        .iter()
        .enumerate()
        .filter_map(|(index, (task, at))| {
            Some(Wanted::of(task, index, *at, task.outputs().get(*at)?))
        })
        .collect();
    let mut packed = ArchiveWriter::default();
    let mut fetched = fetch_all(runner, wanted, address);
    let (mut done, mut missing) = (0, MissingOutputs::default());
    let (mut names, mut recipes) = (HashSet::new(), Recipes::default());
    while let Some((wanted, blob)) = fetched.next().await {
        let task = &outputs[wanted.index].0;
        let output = match blob {
            Ok(blob) => {
                let made = clock::local(task.finished.unwrap_or(task.created));
                let name = wanted.name_of_chosen(&mut names, task, made, &blob).await;
                packed.add_made(&name, &blob, Some(made)).await?;
                ManifestOutput::fetched(&wanted.url, name)
            }
            Err(reason) => {
                missing.add(&reason);
                ManifestOutput::missing(&wanted.url, reason.user_message())
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

/// Each with its file, from its address or else from its copy, in their order.
fn fetch_all(
    runner: Runner,
    wanted: Vec<Wanted>,
    address: &str,
) -> LocalBoxStream<'_, (Wanted, Result<Blob, NoFile>)> {
    let fetched = stream::iter(wanted).map(move |wanted| async move {
        let fetched = match output_file::fetch(&wanted.url, address).await {
            Err(error) => runner.copy(&wanted.copy).await.ok_or(error),
            fetched => fetched,
        };
        (wanted, fetched)
    });
    fetched.buffered(CONCURRENCY).boxed_local()
}
