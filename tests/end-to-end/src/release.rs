//! Releases of the page, made in a second: what was built once, with one thing changed, goes through
//! the same last steps as every release build.

use crate::{Result, site};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// Those of WebAssembly that the page uses, see `.dev/finish.mjs`.
const FEATURES: [&str; 6] = [
    "bulk-memory",
    "nontrapping-float-to-int",
    "sign-ext",
    "mutable-globals",
    "reference-types",
    "multivalue",
];

/// A finished release, in a temporary folder of its own.
pub struct Release {
    folder: TempDir,
}

/// What is different from the page as it was built.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    Nothing,
    /// In the style sheets, by the stems of their names: this text becomes that one.
    Styles(&'a [(&'a str, &'a str, &'a str)]),
    /// How wasm-opt is called: once more, with this option.
    Optimised(&'a str),
}

impl Release {
    /// Makes it from what the last build has left.
    ///
    /// # Errors
    ///
    /// There is no build to make it from, a change does not fit it, or `.dev/finish.mjs` fails.
    pub async fn make(name: &str, change: Change<'_>) -> Result<Self> {
        let temporary = tempfile::tempdir()?;
        let folder = temporary.path();
        copy(&unfinished()?, folder)?;
        let mut finish = Command::new("node");
        finish
            .current_dir(site::repository())
            .arg(".dev/finish.mjs")
            .arg(folder)
            // Takes long, and changes no name.
            .env("ATELIER_COMPRESS", "no");
        match change {
            Change::Nothing => {}
            Change::Styles(changes) => {
                for (stem, from, to) in changes {
                    restyle(folder, stem, from, to)?;
                }
            }
            Change::Optimised(option) => optimise(folder, option).await?,
        }
        let status = finish.status().await?;
        if !status.success() {
            return Err(format!("finishing {name} ended with {status}").into());
        }
        Ok(Self { folder: temporary })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Every file by its path in the release.
    ///
    /// # Errors
    ///
    /// A file can't be read.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        read(self.folder(), "", &mut files)?;
        Ok(files)
    }

    /// The path of the one file that begins and ends like this, as a page asks for it.
    ///
    /// # Errors
    ///
    /// There is none, or more than one.
    pub fn path(&self, start: &str, end: &str) -> Result<String> {
        Ok(format!("/{}", site::one(self.folder(), start, end)?))
    }
}

/// Whether hosts are to serve it under a name that never changes: these are asked for by people.
pub fn has_lasting_name(path: &str) -> bool {
    ["index.html", "404.html", "worker.js"].contains(&path)
}

/// What the build has kept before its last steps, see `.dev/finish.mjs`.
fn unfinished() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| site::repository().join("target"), PathBuf::from);
    let folder = target.join("unfinished");
    if folder.join("index.html").exists() {
        Ok(folder)
    } else {
        Err(format!("no page in {}: run `./dev build`", folder.display()).into())
    }
}

/// Changes a style sheet, and its name as trunk would, which takes it from the content.
fn restyle(folder: &Path, stem: &str, from: &str, to: &str) -> Result<()> {
    let name = site::one(folder, &format!("{stem}-"), ".css")?;
    let text = std::fs::read_to_string(folder.join(&name))?;
    if !text.contains(from) {
        return Err(format!("{name} has no {from}").into());
    }
    let other = format!("{stem}-0123456789abcdef.css");
    std::fs::remove_file(folder.join(&name))?;
    std::fs::write(folder.join(&other), text.replacen(from, to, 1))?;
    let page = std::fs::read_to_string(folder.join("index.html"))?;
    std::fs::write(folder.join("index.html"), page.replace(&name, &other))?;
    Ok(())
}

/// Changes the wasm, and no name: trunk takes that from before its own tools.
async fn optimise(folder: &Path, option: &str) -> Result<()> {
    let tool = site::repository().join(".tools/npm/node_modules/.bin/wasm-opt");
    for part in ["_bg.wasm", "_deferred.wasm", "_pages.wasm"] {
        let wasm = folder.join(site::one(folder, "", part)?);
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
