//! Locates the release build of the page.

use crate::Result;
use std::path::{Path, PathBuf};

/// Returns the root folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder that `ATELIER_SITE` names, or `dist/`.
///
/// # Errors
///
/// The folder has no `index.html`.
pub fn folder() -> Result<PathBuf> {
    let folder =
        std::env::var_os("ATELIER_SITE").map_or_else(|| repository().join("dist"), PathBuf::from);
    if folder.join("index.html").exists() {
        Ok(folder.canonicalize()?)
    } else {
        Err(format!("No page in {}: run `./dev build`", folder.display()).into())
    }
}

/// Returns the URL path of the only file of the page whose name starts with `start` and ends with `end`.
///
/// # Errors
///
/// As for [`folder`]; also if no file matches, or more than one.
pub fn file(start: &str, end: &str) -> Result<String> {
    Ok(format!("/{}", find_file(&folder()?, start, end)?))
}

/// Returns the name of the only file in the folder that starts with `start` and ends with `end`.
///
/// # Errors
///
/// No file matches, or more than one. The error lists them.
pub(crate) fn find_file(folder: &Path, start: &str, end: &str) -> Result<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(start) && name.ends_with(end) {
            found.push(name);
        }
    }
    match found.pop() {
        Some(name) if found.is_empty() => Ok(name),
        last => {
            Err(format!("Expected one file {start}…{end}, found {found:?} and {last:?}").into())
        }
    }
}
