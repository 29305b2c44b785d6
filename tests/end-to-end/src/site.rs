//! Where the release build of the page lies.

use crate::Result;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `dist/`, or the folder `ATELIER_SITE` names.
///
/// # Errors
///
/// There is no page in it.
pub fn folder() -> Result<PathBuf> {
    let folder =
        std::env::var_os("ATELIER_SITE").map_or_else(|| repository().join("dist"), PathBuf::from);
    if folder.join("index.html").exists() {
        Ok(folder.canonicalize()?)
    } else {
        Err(format!("no page in {}: run `./dev build`", folder.display()).into())
    }
}

/// The path of the one file of the page that begins and ends like this, as a page asks for it.
///
/// # Errors
///
/// As for [`folder`]; also if there is none, or more than one.
pub fn file(start: &str, end: &str) -> Result<String> {
    Ok(format!("/{}", one(&folder()?, start, end)?))
}

/// The one file in the folder that begins and ends like this.
///
/// # Errors
///
/// There is none, or more than one; the error names them.
pub(crate) fn one(folder: &Path, start: &str, end: &str) -> Result<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(start) && name.ends_with(end) {
            found.push(name);
        }
    }
    match found.pop() {
        Some(name) if found.is_empty() => Ok(name),
        last => Err(format!("{start}…{end} is {found:?}, {last:?}").into()),
    }
}
