//! Where the release build of the page lies.

use crate::Result;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `dist/`, or the folder `ATELIER_SITE` names.
pub fn folder() -> Result<PathBuf> {
    let folder =
        std::env::var_os("ATELIER_SITE").map_or_else(|| repository().join("dist"), PathBuf::from);
    if folder.join("index.html").exists() {
        Ok(folder.canonicalize()?)
    } else {
        Err(format!("no page in {}: run `./dev build`", folder.display()).into())
    }
}
