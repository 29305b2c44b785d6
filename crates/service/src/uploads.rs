//! Files that users upload as input of their tasks. They are stored like outputs, so that models read them like earlier
//! outputs. An upload is removed when it has expired and no task has it in its input.
//!
//! The removal begins with [`crate::store::Store::claim_upload`]: from then on, the upload is not found any more, so the
//! same bytes become a new one. A killed removal is resumed, because a claimed upload still counts as expired.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::failure::Failure;

pub mod inspect;

/// How long an upload is kept after it was last uploaded.
pub const TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The age at which an incomplete file is removed: its process was killed.
const MAX_INCOMPLETE_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of images that are decoded at a time.
const MAX_DECODING: usize = 1;

/// The maximum number of files that are received from one owner at a time.
const MAX_PER_OWNER: usize = 32;

/// The `Retry-After` if too many files are being received, in seconds.
const RETRY_SECONDS: u64 = 5;

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

/// The configuration of uploads, and the files that are being received.
#[derive(Debug)]
pub struct Uploads {
    /// The maximum size of a file, in bytes; `None` if uploads are off.
    pub max_bytes: Option<u64>,
    /// Limits the memory for decoding.
    pub decoding: Arc<Semaphore>,
    receiving: Arc<Mutex<HashMap<String, Receiving>>>,
}

/// The files that are being received from one owner.
#[derive(Debug, Default)]
struct Receiving {
    files: usize,
    bytes: u64,
}

impl Uploads {
    pub fn new(max_bytes: Option<u64>) -> Self {
        Self {
            max_bytes,
            decoding: Arc::new(Semaphore::new(MAX_DECODING)),
            receiving: Arc::default(),
        }
    }

    /// Reserves space for a file of at most `bytes` bytes, until the reservation is dropped. `free`: the free space of the
    /// disk, in bytes, if known; `min_free` of them stay free.
    ///
    /// # Errors
    ///
    /// 429 if too many files are being received from the owner, 503 if the disk has no space for this file and those that
    /// are being received.
    pub fn reserve(
        &self,
        owner: &str,
        bytes: u64,
        free: Option<u64>,
        min_free: u64,
    ) -> Result<Reservation, Failure> {
        let mut receiving = self
            .receiving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let reserved: u64 = receiving.values().map(|of_owner| of_owner.bytes).sum();
        let needed = min_free.saturating_add(reserved).saturating_add(bytes);
        if free.is_some_and(|free| free < needed) {
            return Err(Failure::full());
        }
        let of_owner = receiving.entry(owner.to_owned()).or_default();
        if of_owner.files >= MAX_PER_OWNER {
            return Err(too_many_uploads());
        }
        of_owner.files += 1;
        of_owner.bytes += bytes;
        Ok(Reservation {
            receiving: self.receiving.clone(),
            owner: owner.to_owned(),
            bytes,
        })
    }
}

/// Space for a file that is being received.
#[derive(Debug)]
pub struct Reservation {
    receiving: Arc<Mutex<HashMap<String, Receiving>>>,
    owner: String,
    bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut receiving = self
            .receiving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(of_owner) = receiving.get_mut(&self.owner) {
            of_owner.files -= 1;
            of_owner.bytes -= self.bytes;
            if of_owner.files == 0 {
                receiving.remove(&self.owner);
            }
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
/// The folder can't be read. A missing folder is not an error.
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

fn too_many_uploads() -> Failure {
    let mut failure = Failure::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_uploads",
        "Too many of your files are being uploaded. Nothing was accepted; try again later.",
    );
    failure.retry_after = Some(RETRY_SECONDS);
    failure
}

/// Returns a 503: too many images wait to be decoded.
pub fn busy() -> Failure {
    let mut failure = Failure::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "busy",
        "Too many images are being uploaded. Nothing was accepted; try again later.",
    );
    failure.retry_after = Some(RETRY_SECONDS);
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_being_received_reserve_space_on_the_disk() {
        let uploads = Uploads::new(Some(100));
        let reserve = |owner: &str| uploads.reserve(owner, 100, Some(250), 40);
        let first = reserve("a").unwrap();
        let second = reserve("b").unwrap();
        assert_eq!(reserve("c").unwrap_err().body.error, "disk_full");
        drop(first);
        let third = reserve("c").unwrap();
        drop((second, third));
        assert!(uploads.receiving.lock().unwrap().is_empty());
        uploads.reserve("a", u64::MAX / 2, None, 40).unwrap();
    }

    #[test]
    fn an_owner_can_upload_a_limited_number_of_files_at_a_time() {
        let uploads = Uploads::new(Some(100));
        let reserve = |owner: &str| uploads.reserve(owner, 1, None, 0);
        let all: Vec<_> = (0..MAX_PER_OWNER).map(|_| reserve("a").unwrap()).collect();
        let refused = reserve("a").unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.retry_after.is_some());
        let _other = reserve("b").unwrap();
        drop(all);
        reserve("a").unwrap();
    }
}
