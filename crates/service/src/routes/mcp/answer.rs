//! The results of tools: the state of a task, links to its files, and small images.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::StatusWord;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::Value;

use super::super::task::progress_data;
use super::super::{Call, run_blocking};
use super::delivery::Delivery;
use crate::outputs::path_of;
use crate::state::App;
use crate::store::Progress;

/// The maximum size of an image that a result contains, and of all of them, in bytes.
const MAX_IMAGE: u64 = 1 << 20;
const MAX_IMAGES: u64 = 4 << 20;

/// The same for the images of a response with notifications: clients such as the Python package limit an event to 1 MiB.
const MAX_IMAGES_OF_EVENT: u64 = 700_000;

/// A response contains images in base64, as a text and as the bytes that are sent.
const MEMORY_FACTOR: u64 = 3;

/// How long a result waits for memory. Then it has only links.
const MEMORY_PAUSE: Duration = Duration::from_secs(2);

/// Returns a result with structured content, also as a text for clients that show only that.
pub fn structured(value: Value) -> CallToolResult {
    CallToolResult::structured(value)
}

/// Returns the result of a call about a task. `is_event`: whether notifications may precede the result.
pub async fn of_task(
    app: &Arc<App>,
    call: &Call,
    delivery: &Delivery,
    task: &Progress,
    note: Option<&str>,
    is_event: bool,
) -> CallToolResult {
    let mut data = progress_data(app, &call.origin, task);
    if let Some(fields) = data.as_object_mut() {
        let id = fields.remove("id").unwrap_or_default();
        fields.insert("task_id".into(), id);
    }
    data["model"] = task.model.to_string().into();
    if let Some(note) = note {
        data["note"] = note.into();
    }
    let is_completed = task.status == StatusWord::Completed;
    if task.status.is_terminal() {
        delivery.report(&task.id, is_completed);
    }
    if !is_completed {
        return structured(data);
    }
    let urls = task.output.iter().map(|path| call.origin.output_url(path));
    data["output"] = urls.collect::<Vec<_>>().into();
    let mut result = structured(data);
    let images = images(app, delivery, &task.output, is_event).await;
    for (number, (path, image)) in task.output.iter().zip(images).enumerate() {
        let extension = extension(path);
        let kind = media_type(extension);
        let name = format!(
            "{}-{}-{:.8}-{}.{extension}",
            task.model.category,
            task.model.subcategory,
            task.id,
            number + 1
        );
        let mut link = Resource::new(call.origin.output_url(path), name);
        link.mime_type = kind.map(str::to_owned);
        result.content.push(ContentBlock::resource_link(link));
        if let (Some(data), Some(kind)) = (image, kind) {
            result.content.push(ContentBlock::image(data, kind));
        }
    }
    result
}

/// Returns the small images of a result in base64; `None` for other files.
async fn images(
    app: &Arc<App>,
    delivery: &Delivery,
    paths: &[String],
    is_event: bool,
) -> Vec<Option<String>> {
    let max = match is_event {
        true => MAX_IMAGES_OF_EVENT,
        false => MAX_IMAGES,
    };
    let none = || vec![None; paths.len()];
    let (finding, paths_of_task) = (app.clone(), paths.to_vec());
    let found = run_blocking(move || Ok(find_images(&finding, &paths_of_task, max))).await;
    let Ok(found) = found else {
        return none();
    };
    let bytes: u64 = found.iter().flatten().map(|image| image.bytes).sum();
    if bytes == 0 {
        return none();
    }
    let reserving = app.openai_memory.reserve(bytes * MEMORY_FACTOR);
    let Ok(Some(memory)) = tokio::time::timeout(MEMORY_PAUSE, reserving).await else {
        return none();
    };
    delivery.hold(memory);
    let read = |image: &Option<Image>| Some(BASE64.encode(image.as_ref()?.read()?));
    let read = run_blocking(move || Ok(found.iter().map(read).collect()));
    read.await.unwrap_or_else(|_| none())
}

/// A file that a result contains.
struct Image {
    file: PathBuf,
    bytes: u64,
}

impl Image {
    /// An image that can't be read, or has changed, is only linked.
    fn read(&self) -> Option<Vec<u8>> {
        let bytes = fs::read(&self.file).ok()?;
        (bytes.len() as u64 <= self.bytes).then_some(bytes)
    }
}

/// Returns the images that fit into a result of `max` bytes; `None` for other files.
fn find_images(app: &App, paths: &[String], max: u64) -> Vec<Option<Image>> {
    let mut left = max;
    let find = |path: &String| {
        media_type(extension(path)).filter(|kind| kind.starts_with("image/"))?;
        let found = app.outputs.own_file(&path_of(path));
        let file = found
            .inspect_err(|error| tracing::warn!("an output is returned as a link: {error}"))
            .ok()??;
        let bytes = fs::metadata(&file).ok()?.len();
        if bytes > left.min(MAX_IMAGE) {
            return None;
        }
        left -= bytes;
        Some(Image { file, bytes })
    };
    paths.iter().map(find).collect()
}

fn extension(path: &str) -> &str {
    let extension = Path::new(path).extension();
    extension
        .and_then(|extension| extension.to_str())
        .unwrap_or("bin")
}

/// Returns the media type of the files of models, by their extension.
fn media_type(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "mov" => "video/quicktime",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "flac" => "audio/flac",
        "ogg" => "audio/ogg",
        "glb" => "model/gltf-binary",
        _ => return None,
    })
}
