//! The files that models make: in a folder of this machine, or with the feature `cluster` in a bucket.

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
use holds::Holds;

mod folder;
pub mod holds;

pub use folder::free_bytes;

/// The path under which outputs are served.
pub const ROUTE: &str = "/outputs";

/// The directories of the previews and the posters, next to those of the tasks.
pub const PREVIEWS: &str = "previews";
pub const POSTERS: &str = "posters";

/// Only that is let through by which a browser shows an image or a film by itself.
const SANDBOX: &str =
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/// The room that another task may need, in bytes.
pub const MIN_FREE_BYTES: u64 = 4 << 20;

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

/// Where the files are: a folder, or a bucket. A name is a path below `/outputs/`, e.g. `3f…/0.png`.
pub trait OutputStore: Send + Sync {
    /// Writes a task's files; returns their names. All of them appear at once, so that a process killed half-way
    /// leaves nothing that looks finished.
    ///
    /// # Errors
    ///
    /// A file can't be written.
    fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>>;

    /// Returns the names of a task's files, if [`Self::save`] has written all of them, in their order.
    ///
    /// # Errors
    ///
    /// They can't be looked for.
    fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>>;

    /// Takes a task's files away, those of every attempt.
    ///
    /// # Errors
    ///
    /// They can't be taken away. That there are none is no error.
    fn remove(&self, task: &str) -> io::Result<()>;

    /// The bytes of a task's files.
    fn bytes_of(&self, task: &str) -> u64;

    /// Whether there is room for the files of another task.
    fn has_space(&self) -> bool;

    /// Whether there is a file of this name.
    ///
    /// # Errors
    ///
    /// It can't be looked for.
    fn has(&self, name: &str) -> io::Result<bool>;

    /// Writes one file, all at once; it is there for good when this returns.
    ///
    /// # Errors
    ///
    /// It can't be written.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// The file of this name on this machine, or a copy of it, for what reads files.
    ///
    /// # Errors
    ///
    /// It can't be fetched.
    fn local(&self, name: &str) -> io::Result<Option<PathBuf>>;

    /// Serves the file of this name: its type, byte ranges, and a cache that may keep it for good.
    fn serve<'a>(&'a self, name: String, request: Request<Body>) -> BoxFuture<'a, Response>;
}

/// The outputs.
pub struct Outputs {
    store: Box<dyn OutputStore>,
    /// The outputs that are needed yet.
    pub holds: Holds,
}

impl Outputs {
    pub fn with_store(store: impl OutputStore + 'static) -> Self {
        Self {
            store: Box::new(store),
            holds: Holds::default(),
        }
    }

    /// Makes the directory if it is absent.
    ///
    /// # Errors
    ///
    /// The directory can't be made.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        Ok(Self::with_store(Folder::open(dir)?))
    }

    /// Writes a task's files; returns their paths below `/outputs/`. All of them appear at once,
    /// so that a process killed half-way leaves nothing that looks finished. Files that an earlier
    /// attempt has saved stay instead.
    ///
    /// # Errors
    ///
    /// A file can't be written, for want of room or rights, or the bucket does not take it.
    pub fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
        match self.saved(task)? {
            Some(paths) => Ok(paths),
            None => self.store.save(task, artifacts),
        }
    }

    /// Returns the paths of a task's files, if [`Self::save`] has written all of them, in their order.
    ///
    /// A bucket can't tell: files of an attempt that was killed may be some of its files.
    ///
    /// # Errors
    ///
    /// The directory can't be read.
    pub fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>> {
        self.store.saved(task)
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
        self.store.remove(task).map(|()| true)
    }

    /// The bytes of a task's files.
    pub fn bytes_of(&self, task: &str) -> u64 {
        self.store.bytes_of(task)
    }

    /// Whether there is room for the files of another task. Where the system does not say, there
    /// is.
    pub fn has_space(&self) -> bool {
        self.store.has_space()
    }

    /// Whether a preview or poster is there already.
    ///
    /// # Errors
    ///
    /// The bucket does not answer; never, where outputs are in a directory.
    pub fn has_sample(&self, folder: &str, name: &str) -> io::Result<bool> {
        self.store.has(&format!("{folder}/{name}"))
    }

    /// Writes a preview or poster, all at once.
    ///
    /// # Errors
    ///
    /// The file can't be written, or the bucket does not take it.
    pub fn save_sample(&self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.store.put(&format!("{folder}/{name}"), bytes)
    }

    /// The file behind a path such as `/outputs/3f…/0.png`, or a copy of it, if this service made it.
    ///
    /// # Errors
    ///
    /// The bucket does not answer, or its copy can't be written; never, where outputs are in a directory.
    pub fn own_file(&self, path: &str) -> io::Result<Option<PathBuf>> {
        own_name(path).map_or(Ok(None), |name| self.store.local(name))
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
        own_name(path).map_or(Ok(false), |name| self.store.has(name))
    }

    /// Serves a file: its type, byte ranges, and a cache that may keep it for good.
    pub async fn serve(&self, request: Request<Body>) -> Response {
        // The path is not decoded: names of outputs never need an encoding, so an encoded one, which could lead to
        // a hidden file, is none of them.
        let name = own_name(request.uri().path()).map(str::to_owned);
        sandboxed(match name {
            Some(name) => self.store.serve(name, request).await,
            None => not_found().into_response(),
        })
    }
}

/// An output never changes.
pub(crate) fn kept_for_good(mut response: Response) -> Response {
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

pub(crate) fn method_not_allowed() -> Response {
    let failure = Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Outputs can only be read.",
    );
    ([(header::ALLOW, "GET,HEAD")], failure).into_response()
}

/// Answers with the range of the whole file that the wanted range does not exist.
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
