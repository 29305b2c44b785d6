//! Finds the files of an export in an archive that the user may have packed again: in a folder, in another order, and
//! with additional system files.

use std::collections::HashMap;

use super::directory::Entry;

/// The maximum ratio of an archive's unpacked size to its length, in addition to [`ALLOWANCE`]. Media do not compress,
/// and texts of tasks are compressed to about a tenth.
const MAX_RATIO: u64 = 20;
/// The unpacked size in bytes that is allowed for any length.
const ALLOWANCE: u64 = 1 << 30;

/// The files of an export, by their original names.
#[derive(Debug, Default)]
pub struct Export {
    files: HashMap<String, Entry>,
}

impl Export {
    /// Finds the files of the export whose manifest has this name. `length`: the length of the archive in bytes.
    ///
    /// # Errors
    ///
    /// A message: there is no manifest, there are several, or the unpacked files are too large.
    pub fn find(entries: Vec<Entry>, manifest: &str, length: u64) -> Result<Self, String> {
        let is_of_export = |entry: &Entry| {
            let mut parts = entry.name.split('/');
            // macOS adds a metadata file for each file.
            let is_of_system = parts
                .any(|part| part == "__MACOSX" || part == ".DS_Store" || part.starts_with("._"));
            !is_of_system && !entry.name.ends_with('/')
        };
        let entries: Vec<Entry> = entries.into_iter().filter(is_of_export).collect();
        let folder = |entry: &Entry| {
            let folder = entry.name.strip_suffix(manifest)?;
            (folder.is_empty() || folder.ends_with('/')).then(|| folder.to_owned())
        };
        let mut folders: Vec<String> = entries.iter().filter_map(folder).collect();
        folders.sort_by_key(|folder| folder.matches('/').count());
        let depth = |at: usize| folders.get(at).map(|folder| folder.matches('/').count());
        let Some(outermost) = depth(0) else {
            return Err("This isn't an Atelier history file. Nothing was imported.".into());
        };
        if depth(1) == Some(outermost) {
            return Err(format!(
                "The ZIP holds more than one {manifest}. Pack and import one history at a time. Nothing was imported.",
            ));
        }
        let folder = &folders[0];
        let mut files = HashMap::new();
        let (mut packed, mut size) = (0_u64, 0_u64);
        for entry in entries {
            if let Some(name) = entry.name.strip_prefix(folder.as_str()) {
                packed = packed.saturating_add(entry.packed);
                size = size.saturating_add(entry.size);
                files.insert(name.to_owned(), entry);
            }
        }
        // The files together can't be larger than the archive unless they overlap, as in a zip bomb.
        if packed > length || size > length.saturating_mul(MAX_RATIO).saturating_add(ALLOWANCE) {
            return Err(format!(
                "The ZIP of {} MB would unpack to {} MB, far more than a history does. Nothing was imported.",
                length.div_ceil(1_000_000),
                size.div_ceil(1_000_000),
            ));
        }
        Ok(Self { files })
    }

    /// Returns a file by its name in the export.
    pub fn file(&self, name: &str) -> Option<&Entry> {
        self.files.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::Method;
    use super::*;

    fn entry(name: &str, packed: u64, size: u64) -> Entry {
        Entry {
            name: name.into(),
            start: 0,
            packed,
            size,
            sum: 0,
            method: Method::Deflate,
        }
    }

    fn found(names: &[&str]) -> Result<Export, String> {
        let entries = names.iter().map(|name| entry(name, 1, 1)).collect();
        Export::find(entries, "history.json", 1_000)
    }

    /// The user may have unpacked the export and packed it again.
    #[test]
    fn a_folder_around_the_files_and_system_files_are_ignored() {
        for names in [
            &["history.json", "outputs/00001.png"] as &[&str],
            &["outputs/00001.png", "outputs/", "history.json"],
            &["my history/outputs/00001.png", "my history/history.json"],
            &[
                "__MACOSX/a/._history.json",
                "a/.DS_Store",
                "a/._history.json",
                "a/b/history.json",
                "a/b/outputs/00001.png",
                "__MACOSX/history.json",
            ],
            // Another export in a subfolder is ignored.
            &["history.json", "outputs/00001.png", "old/history.json"],
        ] {
            let export = found(names).unwrap();
            assert!(export.file("history.json").is_some(), "{names:?}");
            assert!(export.file("outputs/00001.png").is_some(), "{names:?}");
            assert!(export.file("outputs/00002.png").is_none());
        }
    }

    #[test]
    fn an_archive_without_a_history_or_with_several_is_rejected() {
        let refused = |names: &[&str]| found(names).unwrap_err();
        assert!(refused(&["a.png", "nothistory.json"]).contains("isn't an Atelier history"));
        assert!(refused(&["a/history.json", "b/history.json"]).contains("more than one"));
    }

    /// Such an archive may be a zip bomb.
    #[test]
    fn an_archive_that_unpacks_to_far_more_than_its_length_is_rejected() {
        let find = |packed, size, length| {
            let entries = vec![
                entry("history.json", 10, 100),
                entry("outputs/00001.png", packed, size),
            ];
            Export::find(entries, "history.json", length).err()
        };
        let gb = 1 << 30;
        assert_eq!(find(10, 10, 1_000), None);
        assert_eq!(find(50_000_000, gb, 60_000_000), None, "silence");
        let bomb = find(10_000_000, 10 * gb, 10_000_100).unwrap();
        assert!(
            bomb.contains("11 MB") && bomb.contains("10738 MB"),
            "{bomb}"
        );
        assert!(find(2_000, 2_000, 1_000).is_some(), "the files overlap");
        assert!(find(10, u64::MAX, 1_000).is_some());
    }
}
