//! The files that models make, in a folder or, with the feature `cluster`, in a bucket.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use atelier_procedural::File;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::failure::Failure;
use crate::outputs::holds::Holds;

#[cfg(feature = "cluster")]
pub mod bucket;
pub mod holds;
mod saved;

#[cfg(feature = "cluster")]
use bucket::Bucket;

/// The path under which outputs are served.
pub const ROUTE: &str = "/outputs";

/// The directories of the previews and the posters, next to those of the tasks.
pub const PREVIEWS: &str = "previews";
pub const POSTERS: &str = "posters";

/// Only that is let through by which a browser shows an image or a film by itself.
const SANDBOX: &str =
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/// The room that another task may need, in bytes.
pub const ROOM: u64 = 4 << 20;

/// One file that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Extension without the dot; decides the type it is served with.
    pub extension: &'static str,
    pub bytes: Vec<u8>,
}

impl From<File> for Artifact {
    fn from(File { extension, bytes }: File) -> Self {
        Self { extension, bytes }
    }
}

/// The place of the outputs.
#[derive(Debug, Clone)]
pub struct Outputs {
    dir: PathBuf,
    /// Instead of the directory.
    #[cfg(feature = "cluster")]
    bucket: Option<Bucket>,
    /// The outputs that are needed yet.
    pub holds: Holds,
}

impl Outputs {
    /// Makes the directory if it is absent.
    ///
    /// # Errors
    ///
    /// The directory can't be made.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        Ok(Self {
            dir,
            #[cfg(feature = "cluster")]
            bucket: None,
            holds: Holds::default(),
        })
    }

    #[cfg(feature = "cluster")]
    pub fn in_bucket(bucket: Bucket) -> Self {
        Self {
            dir: PathBuf::new(),
            bucket: Some(bucket),
            holds: Holds::default(),
        }
    }

    /// Writes a task's files; returns their paths below `/outputs/`. All of them appear at once,
    /// so that a process killed half-way leaves nothing that looks finished. Files that an earlier
    /// attempt has saved stay instead.
    ///
    /// # Errors
    ///
    /// A file can't be written, for want of room or rights, or the bucket does not take it.
    pub fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.save(task, artifacts);
        }
        if let Some(paths) = self.saved(task)? {
            return Ok(paths);
        }
        let unfinished = self.dir.join(format!(".{task}"));
        let finished = self.dir.join(task);
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let paths = write_all(&unfinished, task, artifacts).inspect_err(|_| {
            // Half of the files would take room that may be the very thing that is missing.
            let _ = fs::remove_dir_all(&unfinished);
        })?;
        fs::rename(&unfinished, &finished)?;
        // A power cut must not take back what the database is about to call completed.
        sync_dir(&self.dir)?;
        Ok(paths)
    }

    /// Takes a task's files away, unless another task is to be made from them; whether it did.
    ///
    /// # Errors
    ///
    /// They can't be taken away, for want of rights, or because the bucket does not answer. That there are
    /// none is no error.
    pub fn remove(&self, task: &str) -> io::Result<bool> {
        let Some(_removal) = self.holds.begin_removal(task) else {
            return Ok(false);
        };
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.remove(task).map(|()| true);
        }
        // All files go at once, so that a process killed half-way leaves nothing that looks whole.
        let going = self.dir.join(format!(".{task}"));
        match fs::rename(self.dir.join(task), &going) {
            // A failed task has none; what an earlier attempt has left is taken away, too.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        match fs::remove_dir_all(&going) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(true),
        }
    }

    /// The bytes of a task's files.
    pub fn bytes_of(&self, task: &str) -> u64 {
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.bytes_of(task);
        }
        let Ok(files) = fs::read_dir(self.dir.join(task)) else {
            return 0;
        };
        let metadata = files.flatten().filter_map(|file| file.metadata().ok());
        metadata.map(|metadata| metadata.len()).sum()
    }

    /// Whether there is room for the files of another task. Where the system does not say, there
    /// is.
    pub fn have_room(&self) -> bool {
        #[cfg(feature = "cluster")]
        if self.bucket.is_some() {
            return true;
        }
        free_bytes(&self.dir).is_none_or(|free| free >= ROOM)
    }

    /// Whether a preview or poster is there already.
    ///
    /// # Errors
    ///
    /// The bucket does not answer; never, where outputs are in a directory.
    pub fn has_sample(&self, folder: &str, name: &str) -> io::Result<bool> {
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.has(&format!("{folder}/{name}"));
        }
        Ok(self.dir.join(folder).join(name).is_file())
    }

    /// Writes a preview or poster, all at once.
    ///
    /// # Errors
    ///
    /// The file can't be written, or the bucket does not take it.
    pub fn save_sample(&self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.put(&format!("{folder}/{name}"), bytes);
        }
        let folder = self.dir.join(folder);
        fs::create_dir_all(&folder)?;
        let unfinished = folder.join(format!(".{name}"));
        write_synced(&unfinished, bytes).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })?;
        fs::rename(unfinished, folder.join(name))?;
        sync_dir(&folder)
    }

    /// The file behind a path such as `/outputs/3f…/0.png`, or a copy of it, if this service made it.
    ///
    /// # Errors
    ///
    /// The bucket does not answer, or its copy can't be written; never, where outputs are in a directory.
    pub fn own_file(&self, path: &str) -> io::Result<Option<PathBuf>> {
        let Some(name) = own_name(path) else {
            return Ok(None);
        };
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            return bucket.copy(name);
        }
        let file = self.dir.join(name);
        Ok(file.is_file().then_some(file))
    }

    /// Whether this service made the file behind a path, and is not about to remove it.
    ///
    /// # Errors
    ///
    /// As for [`Self::has_sample`].
    pub fn has(&self, path: &str) -> io::Result<bool> {
        if self.holds.is_any_going(&holds::tasks_in(path)) {
            return Ok(false);
        }
        #[cfg(feature = "cluster")]
        if let (Some(bucket), Some(name)) = (&self.bucket, own_name(path)) {
            return bucket.has(name);
        }
        Ok(self.own_file(path)?.is_some())
    }

    /// Serves a file: its type, byte ranges, and a cache that may keep it for good.
    pub async fn serve(&self, mut request: Request<Body>) -> Response {
        // The path is not decoded: names of outputs never need an encoding, so an encoded one, which could lead to
        // a hidden file, is none of them.
        let Some(name) = own_name(request.uri().path()).map(str::to_owned) else {
            return sandboxed(not_found().into_response());
        };
        #[cfg(feature = "cluster")]
        if let Some(bucket) = &self.bucket {
            let served = bucket.serve(&name, request.method(), request.headers());
            return sandboxed(served.await);
        }
        match format!("/{name}").parse() {
            Ok(uri) => *request.uri_mut() = uri,
            Err(_) => return sandboxed(not_found().into_response()),
        }
        let served = ServeDir::new(&self.dir)
            .append_index_html_on_directories(false)
            .oneshot(request)
            .await;
        sandboxed(match served {
            Ok(response) => match response.status() {
                StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED => {
                    kept_for_good(response.map(Body::new))
                }
                StatusCode::NOT_FOUND => not_found().into_response(),
                StatusCode::METHOD_NOT_ALLOWED => method_not_allowed(),
                StatusCode::RANGE_NOT_SATISFIABLE => {
                    let range = response.headers().get(header::CONTENT_RANGE);
                    let range = range.and_then(|range| range.to_str().ok());
                    no_such_range(range.unwrap_or_default())
                }
                status => Failure::internal(format!("an output: {status}")).into_response(),
            },
            Err(never) => match never {},
        })
    }
}

/// Gives how much is free on the disk of this directory, if the system says so.
pub fn free_bytes(dir: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(dir).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

/// An output never changes.
fn kept_for_good(mut response: Response) -> Response {
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    response
}

/// Whatever an output holds, opened by itself it can only be looked at: it runs nothing, loads
/// nothing, and has no part in this origin. What has no other word is not kept.
pub fn sandboxed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CONTENT_SECURITY_POLICY, SANDBOX);
    // A page of another origin may embed it even under cross-origin isolation.
    set(
        HeaderName::from_static("cross-origin-resource-policy"),
        "cross-origin",
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The name below `/outputs/`.
///
/// Only names of the form that this service gives are looked at, so no path can lead out of the
/// directory.
fn own_name(path: &str) -> Option<&str> {
    let inner = path.strip_prefix(ROUTE)?.strip_prefix('/')?;
    let (folder, name) = inner.split_once('/')?;
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let (stem, extension) = name.split_once('.')?;
    (plain(folder) && plain(stem) && plain(extension)).then_some(inner)
}

fn method_not_allowed() -> Response {
    let failure = Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Outputs can only be read.",
    );
    ([(header::ALLOW, "GET,HEAD")], failure).into_response()
}

/// Answers with the range of the whole file that the wanted range does not exist.
fn no_such_range(whole: &str) -> Response {
    let failure = Failure::new(
        StatusCode::RANGE_NOT_SATISFIABLE,
        "range_not_satisfiable",
        "The output has no such range of bytes.",
    );
    let mut response = failure.into_response();
    if let Ok(whole) = HeaderValue::from_str(whole)
        && !whole.is_empty()
    {
        response.headers_mut().insert(header::CONTENT_RANGE, whole);
    }
    response
}

fn not_found() -> Failure {
    Failure::not_found("unknown_output", "There is no such output.")
}

fn write_all(dir: &Path, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
    fs::create_dir_all(dir)?;
    let mut paths = Vec::new();
    for (n, artifact) in artifacts.iter().enumerate() {
        let name = format!("{n}.{}", artifact.extension);
        write_synced(&dir.join(&name), &artifact.bytes)?;
        paths.push(format!("{task}/{name}"));
    }
    sync_dir(dir)?;
    Ok(paths)
}

/// The names in a directory are data of the directory's own.
fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write;
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
