//! Hashes the sources into `SOURCE_HASH`, so that cached images get a new URL when the drawing code changes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{fs, io};

const SOURCES: &str = "src";

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    println!("cargo::rerun-if-changed={SOURCES}");
    hash(Path::new(SOURCES), &mut hasher)?;
    println!("cargo::rustc-env=SOURCE_HASH={:016x}", hasher.finish());
    Ok(())
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_file() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| hash(entry, hasher))
}
