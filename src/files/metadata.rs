//! The metadata of files: reads how a file was generated, and writes the inputs of a task into its outputs.

use atelier_engine::Task;
use atelier_studio::recipe_file::{self, FoundRecipe, written};
use js_sys::{Array, Uint8Array};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use crate::browser::{location, peek};
use crate::state::file_settings::FileSettings;

pub const CARRIES_CREDENTIALS: &str = "This file carries Content Credentials (C2PA), which say where it comes from. Atelier never changes it.";

/// What the metadata of a file say.
pub struct FileMetadata {
    /// The recipe, or a message that there is none.
    pub recipe: Result<FoundRecipe, String>,
    pub has_content_credentials: bool,
}

/// Reads the metadata of a file.
pub async fn read(file: &Blob) -> FileMetadata {
    let failed = |message: &str| FileMetadata {
        recipe: Err(message.to_owned()),
        has_content_credentials: false,
    };
    if file.size() > written::MAX_FILE as f64 {
        return failed("The file is larger than 64 MB, so it was not read.");
    }
    let Some(bytes) = bytes(file).await else {
        return failed("The file could not be read. Open it again.");
    };
    let metadata = atelier_metadata::read(&bytes);
    FileMetadata {
        recipe: recipe_file::find_in_file(&bytes, &metadata).map_err(str::to_owned),
        has_content_credentials: metadata.has_content_credentials,
    }
}

/// Whether a file carries Content Credentials.
pub async fn has_content_credentials(file: &Blob) -> bool {
    let bytes = bytes(file).await;
    bytes.is_some_and(|bytes| atelier_metadata::read(&bytes).has_content_credentials)
}

/// Returns an output of a task with the task's inputs in its metadata, if the user wants that and it is possible; otherwise the
/// unchanged file.
pub async fn with_inputs(file: Blob, task: &Task) -> Blob {
    if !FileSettings::read().writes_inputs {
        return file;
    }
    let head = peek::head_of(&file).await;
    if !written::is_possible(&head, file.size() as u64) {
        return file;
    }
    let Some(bytes) = bytes(&file).await else {
        return file;
    };
    let service = match task.account.address.as_str() {
        "" => location::origin(),
        address => address.to_owned(),
    };
    let changed = written::with_inputs(&bytes, task, &service);
    let changed = changed.and_then(|changed| {
        let options = BlobPropertyBag::new();
        options.set_type(&file.type_());
        let parts = Array::of1(&Uint8Array::from(changed.as_slice()));
        Blob::new_with_u8_array_sequence_and_options(&parts, &options).ok()
    });
    changed.unwrap_or(file)
}

async fn bytes(file: &Blob) -> Option<Vec<u8>> {
    let bytes = JsFuture::from(file.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&bytes).to_vec())
}
