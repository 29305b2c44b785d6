//! Files that users upload as input of their tasks. They are stored like outputs, so that models read them like earlier
//! outputs. An upload is removed when it has expired and no task has it in its input.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::failure::Failure;

pub mod inspect;

/// How long an upload is kept after it was last uploaded.
pub const TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The age at which an incomplete file is removed: its process was killed.
const MAX_INCOMPLETE_AGE: Duration = Duration::from_secs(60 * 60);

/// The number of images that are decoded at a time: one of 64 megapixels takes up to 512 MB.
const MAX_DECODING: usize = 1;

/// An upload, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The folder of its file below `/outputs/`.
    pub id: String,
    /// The account, or a digest of the token if the service has no accounts.
    pub owner: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The path of its file below `/outputs/`, e.g. `3f…/0.png`.
    pub name: String,
    /// The media type.
    pub content_type: String,
    pub bytes: u64,
    /// Width and height of an image in pixels, upright.
    pub size: Option<(u32, u32)>,
    /// In milliseconds since 1970.
    pub expires_ms: i64,
}

/// The configuration of uploads.
#[derive(Debug)]
pub struct Uploads {
    /// The maximum size of a file, in bytes; `None` if uploads are off.
    pub max_bytes: Option<u64>,
    /// Limits the memory for decoding.
    pub decoding: Semaphore,
}

impl Uploads {
    pub fn new(max_bytes: Option<u64>) -> Self {
        Self {
            max_bytes,
            decoding: Semaphore::new(MAX_DECODING),
        }
    }
}

/// A file that is being received. It is removed when this is dropped, unless it was moved to the outputs.
#[derive(Debug)]
pub struct Incoming(PathBuf);

impl Incoming {
    /// Chooses a new file in this folder.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn new(folder: &Path) -> Result<Self, Failure> {
        let random = getrandom::u64().map_err(Failure::internal)?;
        Ok(Self(folder.join(format!("{random:016x}"))))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // It is missing if it was moved.
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes incomplete files that killed processes have left in this folder.
///
/// # Errors
///
/// The folder can't be read. A missing folder is no error.
pub fn remove_incomplete(folder: &Path) -> io::Result<()> {
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        files => files?,
    };
    for file in files.flatten() {
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age > MAX_INCOMPLETE_AGE) {
            let _ = fs::remove_file(file.path());
        }
    }
    Ok(())
}
