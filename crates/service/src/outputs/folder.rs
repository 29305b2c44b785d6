//! Stores outputs in a folder of this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use tower::ServiceExt;
use tower_http::services::ServeDir;

use super::{
    Artifact, MIN_FREE_BYTES, OutputStore, mark_immutable, method_not_allowed, no_such_range,
    not_found, write_synced,
};
use crate::failure::Failure;
use crate::private;

pub struct Folder(PathBuf);

impl Folder {
    /// Opens the folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The folder can't be created.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }

    async fn respond(&self, name: &str, mut request: Request<Body>) -> Response {
        match format!("/{name}").parse() {
            Ok(uri) => *request.uri_mut() = uri,
            Err(_) => return not_found().into_response(),
        }
        let served = ServeDir::new(&self.0)
            .append_index_html_on_directories(false)
            .oneshot(request)
            .await;
        match served {
            Ok(response) => match response.status() {
                StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED => {
                    mark_immutable(response.map(Body::new))
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
        }
    }
}

impl OutputStore for Folder {
    fn save(&self, task: &str, artifacts: &[Artifact]) -> io::Result<Vec<String>> {
        let unfinished = self.0.join(format!(".{task}"));
        let finished = self.0.join(task);
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let paths = write_all(&unfinished, task, artifacts).inspect_err(|_| {
            // Frees disk space, because the disk may be full.
            let _ = fs::remove_dir_all(&unfinished);
        })?;
        fs::rename(&unfinished, &finished)?;
        // After a power failure, the files must exist if the database has the task as completed.
        sync_dir(&self.0)?;
        Ok(paths)
    }

    fn saved(&self, task: &str) -> io::Result<Option<Vec<String>>> {
        let files = match fs::read_dir(self.0.join(task)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            files => files?,
        };
        let mut names = files
            .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        // Hidden files are not outputs.
        names.retain(|name| !name.starts_with('.'));
        names.sort_by_key(|name| number_of(name));
        let paths = names.iter().map(|name| format!("{task}/{name}")).collect();
        Ok(Some(paths))
    }

    fn remove(&self, task: &str) -> io::Result<()> {
        // Renames the folder first, so that a killed process leaves no incomplete output.
        let removing = self.0.join(format!(".{task}"));
        // An earlier attempt may have been killed after it had renamed the folder.
        remove_folder(&removing)?;
        match fs::rename(self.0.join(task), &removing) {
            // A failed task may have no folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => remove_folder(&removing),
        }
    }

    fn bytes_of(&self, task: &str) -> u64 {
        let Ok(files) = fs::read_dir(self.0.join(task)) else {
            return 0;
        };
        let metadata = files.flatten().filter_map(|file| file.metadata().ok());
        metadata.map(|metadata| metadata.len()).sum()
    }

    fn has_space(&self) -> bool {
        free_bytes(&self.0).is_none_or(|free| free >= MIN_FREE_BYTES)
    }

    fn has(&self, name: &str) -> io::Result<bool> {
        Ok(self.0.join(name).is_file())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
        let folder = self.0.join(folder);
        fs::create_dir_all(&folder)?;
        let unfinished = folder.join(format!(".{name}"));
        write_synced(&unfinished, bytes).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })?;
        fs::rename(unfinished, folder.join(name))?;
        sync_dir(&folder)
    }

    fn incoming(&self) -> io::Result<PathBuf> {
        // On the same disk, so that a file is moved without a copy. Hidden, so that it is not served.
        let folder = self.0.join(".incoming");
        private::make_dir(&folder)?;
        Ok(folder)
    }

    fn put_file(&self, name: &str, file: &Path) -> io::Result<()> {
        let target = self.0.join(name);
        let folder = target.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder)?;
        fs::File::open(file)?.sync_all()?;
        fs::rename(file, &target)?;
        sync_dir(folder)?;
        sync_dir(&self.0)
    }

    fn local(&self, name: &str) -> io::Result<Option<PathBuf>> {
        let file = self.0.join(name);
        Ok(file.is_file().then_some(file))
    }

    fn serve<'a>(&'a self, name: String, request: Request<Body>) -> BoxFuture<'a, Response> {
        Box::pin(async move { self.respond(&name, request).await })
    }
}

/// Returns the free space on the disk of this directory, in bytes; `None` if the system does not report it.
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

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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

/// Flushes the entries of a directory to the disk.
fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

/// Returns the position of a file in its task's output, which its name starts with.
fn number_of(name: &str) -> usize {
    let number = name.split('.').next().unwrap_or_default();
    number.parse().unwrap_or(usize::MAX)
}
