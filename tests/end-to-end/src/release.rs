//! Makes releases of the page quickly: takes the unfinished files of the last build, changes one thing, and runs the
//! last steps of a release build.

use crate::{Result, site};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// The WebAssembly features that the page uses; see `.dev/finish.mjs`.
const FEATURES: [&str; 6] = [
    "bulk-memory",
    "nontrapping-float-to-int",
    "sign-ext",
    "mutable-globals",
    "reference-types",
    "multivalue",
];

/// A finished release in a temporary folder.
pub struct Release {
    folder: TempDir,
}

/// The difference between a release and the last build.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    Nothing,
    /// Replaces text in style sheets: (stem of the file name, old text, new text).
    Styles(&'a [(&'a str, &'a str, &'a str)]),
    /// Runs wasm-opt once more with this option.
    Optimised(&'a str),
}

impl Release {
    /// Makes a release from the last build.
    ///
    /// # Errors
    ///
    /// There is no build, the change does not apply to it, or `.dev/finish.mjs` fails.
    pub async fn make(name: &str, change: Change<'_>) -> Result<Self> {
        let temporary = tempfile::tempdir()?;
        let folder = temporary.path();
        copy(&unfinished_build()?, folder)?;
        let mut finish = Command::new("node");
        finish
            .current_dir(site::repository())
            .arg(".dev/finish.mjs")
            .arg(folder)
            // Compression is slow and changes no file name.
            .env("ATELIER_COMPRESS", "no");
        match change {
            Change::Nothing => {}
            Change::Styles(changes) => {
                for (stem, from, to) in changes {
                    change_style(folder, stem, from, to)?;
                }
            }
            Change::Optimised(option) => optimise(folder, option).await?,
        }
        let status = finish.status().await?;
        if !status.success() {
            return Err(format!("finish.mjs for {name} ended with {status}").into());
        }
        Ok(Self { folder: temporary })
    }

    /// Adds what has changed since `previous`, as `./dev build --previous` does.
    ///
    /// # Errors
    ///
    /// `.dev/differences.mjs` fails.
    pub async fn add_differences(&self, previous: &Self) -> Result<()> {
        let mut differences = Command::new("node");
        differences
            .current_dir(site::repository())
            .arg(".dev/differences.mjs")
            .args([self.folder(), previous.folder()]);
        let status = differences.status().await?;
        if !status.success() {
            return Err(format!("differences.mjs ended with {status}").into());
        }
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the content of every file by its path in the release.
    ///
    /// # Errors
    ///
    /// A file can't be read.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        read(self.folder(), "", &mut files)?;
        Ok(files)
    }

    /// Returns the URL path of the only file whose name starts with `start` and ends with `end`.
    ///
    /// # Errors
    ///
    /// No file matches, or more than one.
    pub fn path(&self, start: &str, end: &str) -> Result<String> {
        Ok(format!("/{}", site::find_file(self.folder(), start, end)?))
    }
}

/// Returns whether the file has the same name in every release. All other names contain a hash.
pub fn has_stable_name(path: &str) -> bool {
    ["index.html", "404.html", "worker.js"].contains(&path)
}

/// Returns the folder with the state of the build before its last steps; see `.dev/finish.mjs`.
fn unfinished_build() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| site::repository().join("target"), PathBuf::from);
    let folder = target.join("unfinished");
    if folder.join("index.html").exists() {
        Ok(folder)
    } else {
        Err(format!("No page in {}: run `./dev build`", folder.display()).into())
    }
}

/// Changes a style sheet and its file name, which trunk derives from the content.
fn change_style(folder: &Path, stem: &str, from: &str, to: &str) -> Result<()> {
    let name = site::find_file(folder, &format!("{stem}-"), ".css")?;
    let text = std::fs::read_to_string(folder.join(&name))?;
    if !text.contains(from) {
        return Err(format!("{name} does not contain {from}").into());
    }
    let new_name = format!("{stem}-0123456789abcdef.css");
    std::fs::remove_file(folder.join(&name))?;
    std::fs::write(folder.join(&new_name), text.replacen(from, to, 1))?;
    let page = std::fs::read_to_string(folder.join("index.html"))?;
    std::fs::write(folder.join("index.html"), page.replace(&name, &new_name))?;
    Ok(())
}

/// Changes the wasm files but not their names, which trunk derives before it runs wasm-opt.
async fn optimise(folder: &Path, option: &str) -> Result<()> {
    let tool = site::repository().join(".tools/npm/node_modules/.bin/wasm-opt");
    for part in ["_bg.wasm", "_deferred.wasm", "_pages.wasm", "_more.wasm"] {
        let wasm = folder.join(site::find_file(folder, "", part)?);
        let status = Command::new(&tool)
            .args(FEATURES.map(|feature| format!("--enable-{feature}")))
            .args([option, "-o"])
            .args([&wasm, &wasm])
            .status()
            .await?;
        if !status.success() {
            return Err(format!("wasm-opt {option} ended with {status}").into());
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn read(folder: &Path, before: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}
