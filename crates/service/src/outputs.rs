//! Stores the files that models make: in a folder of this machine, or with the feature `cluster` in a bucket.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use atelier_procedural::File;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;

use crate::failure::Failure;
use folder::Folder;
use pins::Pins;

mod folder;
pub mod pins;

pub use folder::free_bytes;

/// The path under which outputs are served.
pub const ROUTE: &str = "/outputs";

/// The directories of the previews and the posters, next to those of the tasks.
pub const PREVIEWS: &str = "previews";
pub const POSTERS: &str = "posters";

/// The policy of outputs. Permits only loads that a browser needs to show an image or a video on a page of its own.
const SANDBOX: &str =
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/// The free space that a new task requires, in bytes.
pub const MIN_FREE_BYTES: u64 = 4 << 20;

/// Returns the URL path of an output, such as `/outputs/3f…/0.png`. `name`: its path below `/outputs/`.
pub fn path_of(name: &str) -> String {
    format!("{ROUTE}/{name}")
}

/// One file that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The extension without the dot; decides the content type.
    pub extension: &'static str,
    pub bytes: Vec<u8>,
}

impl From<File> for Artifact {
    fn from(File { extension, bytes }: File) -> Self {
        Self { extension, bytes }
    }
}

/// Stores output files, in a folder or in a bucket. A name is a path below `/outputs/`, e.g. `3f…/0.png`.
pub trait OutputStore: Send + Sync {
    /// Writes a task's files and returns their names. The files appear atomically, so that a killed process leaves no
    /// incomplete output.
    ///
    /// # Errors
    ///
    /// A file can't be written.
    fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>>;

    /// Returns the names of a task's files in order if [`Self::save`] has written all of them, otherwise `None`.
    ///
    /// # Errors
    ///
    /// The files can't be listed.
    fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>>;

    /// Removes a task's files, including those of earlier attempts.
    ///
    /// # Errors
    ///
    /// The files can't be removed. Missing files are not an error.
    fn remove(&self, task: &str) -> io::Result<()>;

    /// Returns the size of a task's files, in bytes.
    fn bytes_of(&self, task: &str) -> u64;

    /// Returns whether there is space for the files of another task.
    fn has_space(&self) -> bool;

    /// Returns whether a file of this name exists.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn has(&self, name: &str) -> io::Result<bool>;

    /// Writes one file atomically; it is durable when this returns.
    ///
    /// # Errors
    ///
    /// It can't be written.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns a local folder for files that are being received; creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The folder can't be created.
    fn incoming(&self) -> io::Result<PathBuf>;

    /// Moves a file from [`Self::incoming`] into the store. It appears atomically, and is durable when this returns. A
    /// large file is not read into memory as a whole.
    ///
    /// # Errors
    ///
    /// It can't be written.
    fn put_file(&self, name: &str, file: &Path) -> io::Result<()>;

    /// Returns a local path of this file, or of a copy of it, for models that read files.
    ///
    /// # Errors
    ///
    /// It can't be fetched.
    fn local(&self, name: &str) -> io::Result<Option<PathBuf>>;

    /// Serves the file of this name, with its content type, byte ranges, and as immutable for caches.
    fn serve<'a>(&'a self, name: String, request: Request<Body>) -> BoxFuture<'a, Response>;
}

/// The output files of all tasks, with their pins.
pub struct Outputs {
    store: Box<dyn OutputStore>,
    /// Outputs that unfinished tasks still need.
    pub pins: Pins,
}

impl Outputs {
    pub fn with_store(store: impl OutputStore + 'static) -> Self {
        Self {
            store: Box::new(store),
            pins: Pins::default(),
        }
    }

    /// Opens a folder of outputs, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The folder can't be created.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        Ok(Self::with_store(Folder::open(dir)?))
    }

    /// Writes a task's files and returns their paths below `/outputs/`. The files appear atomically, so that a killed
    /// process leaves no incomplete output. If an earlier attempt has saved its files, those are used instead.
    ///
    /// # Errors
    ///
    /// The disk is full, permissions are missing, or the bucket refuses a file.
    pub fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
        match self.saved(task)? {
            Some(paths) => Ok(paths),
            None => self.store.save(task, artifacts),
        }
    }

    /// Returns the paths of a task's files in order, if [`Self::save`] has written all of them. Always `None` with a
    /// bucket: a killed attempt may have saved only some of the files.
    ///
    /// # Errors
    ///
    /// The directory can't be read.
    pub fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>> {
        self.store.saved(task)
    }

    /// Removes a task's files, unless they are pinned. Returns whether they were removed.
    ///
    /// # Errors
    ///
    /// Permissions are missing, or the bucket does not respond. Missing files are not an error.
    pub fn remove(&self, task: &str) -> io::Result<bool> {
        let Some(_removal) = self.pins.begin_removal(task) else {
            return Ok(false);
        };
        self.remove_unpinned(task).map(|()| true)
    }

    /// Removes a task's files. The caller has begun the removal with [`Pins::begin_removal`].
    ///
    /// # Errors
    ///
    /// As for [`Self::remove`].
    pub fn remove_unpinned(&self, task: &str) -> io::Result<()> {
        self.store.remove(task)
    }

    /// Returns whether a text has the form of an output's path. The output need not exist.
    pub fn is_output_path(path: &str) -> bool {
        own_name(path).is_some()
    }

    /// Returns the size of a task's files, in bytes.
    pub fn bytes_of(&self, task: &str) -> u64 {
        self.store.bytes_of(task)
    }

    /// Returns whether there is space for the files of another task. Returns `true` if that is unknown.
    pub fn has_space(&self) -> bool {
        self.store.has_space()
    }

    /// Returns whether a preview or poster exists.
    ///
    /// # Errors
    ///
    /// The bucket does not respond; never with a folder.
    pub fn has_sample(&self, folder: &str, name: &str) -> io::Result<bool> {
        self.store.has(&format!("{folder}/{name}"))
    }

    /// Writes a preview or poster atomically.
    ///
    /// # Errors
    ///
    /// The file can't be written, or the bucket refuses it.
    pub fn save_sample(&self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.store.put(&format!("{folder}/{name}"), bytes)
    }

    /// Returns a local folder for files that are being received.
    ///
    /// # Errors
    ///
    /// The folder can't be created.
    pub fn incoming(&self) -> io::Result<PathBuf> {
        self.store.incoming()
    }

    /// Moves a received file to the path `name` below `/outputs/`.
    ///
    /// # Errors
    ///
    /// The disk is full, permissions are missing, or the bucket refuses the file.
    pub fn put_file(&self, name: &str, file: &Path) -> io::Result<()> {
        self.store.put_file(name, file)
    }

    /// Returns a local path of the output at a URL path such as `/outputs/3f…/0.png`, or of a copy of it.
    ///
    /// # Errors
    ///
    /// The bucket does not respond, or the copy can't be written; never with a folder.
    pub fn own_file(&self, path: &str) -> io::Result<Option<PathBuf>> {
        own_name(path).map_or(Ok(None), |name| self.store.local(name))
    }

    /// Returns whether an output with this path exists and is not being removed.
    ///
    /// # Errors
    ///
    /// As for [`Self::has_sample`].
    pub fn has(&self, path: &str) -> io::Result<bool> {
        if self.pins.is_any_removing(&pins::tasks_in(path)) {
            return Ok(false);
        }
        own_name(path).map_or(Ok(false), |name| self.store.has(name))
    }

    /// Serves a file, with its content type, byte ranges, and as immutable for caches.
    pub async fn serve(&self, request: Request<Body>) -> Response {
        // The path is not decoded: names of outputs need no encoding, and an encoded name could refer to a hidden
        // file.
        let name = own_name(request.uri().path()).map(str::to_owned);
        sandbox(match name {
            Some(name) => self.store.serve(name, request).await,
            None => not_found().into_response(),
        })
    }
}

/// Marks a response as immutable for caches: an output never changes.
pub(crate) fn mark_immutable(mut response: Response) -> Response {
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    response
}

/// Sandboxes an output that a browser opens as a page: it runs no scripts, loads nothing, and has no access to this
/// origin. Responses without `Cache-Control` are not cached.
pub fn sandbox(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CONTENT_SECURITY_POLICY, SANDBOX);
    // Pages of other origins may embed outputs, even under cross-origin isolation.
    set(
        HeaderName::from_static("cross-origin-resource-policy"),
        "cross-origin",
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns the name below `/outputs/`. Accepts only names of the form that this service creates, which prevents path
/// traversal.
fn own_name(path: &str) -> Option<&str> {
    let inner = path.strip_prefix(ROUTE)?.strip_prefix('/')?;
    let (folder, name) = inner.split_once('/')?;
    let is_plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let (stem, extension) = name.split_once('.')?;
    (is_plain(folder) && is_plain(stem) && is_plain(extension)).then_some(inner)
}

pub(crate) fn method_not_allowed() -> Response {
    let failure = Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Outputs can only be read.",
    );
    ([(header::ALLOW, "GET,HEAD")], failure).into_response()
}

/// Responds that the requested range does not exist, with `whole` as `Content-Range`.
pub(crate) fn no_such_range(whole: &str) -> Response {
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

pub(crate) fn not_found() -> Failure {
    Failure::not_found("unknown_output", "There is no such output.")
}

pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write;
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
