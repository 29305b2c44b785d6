//! Finds an export in an archive that another program has made of its files: with a folder around them, in another
//! order, and with files of the system next to them.

use std::collections::HashMap;

use super::directory::Entry;

/// How many times its own length an archive may unpack to, beyond [`ALLOWANCE`]. Media do not compress, and the texts
/// of tasks shrink to a tenth.
const MAX_RATIO: u64 = 20;
/// Bytes that any archive may unpack to.
const ALLOWANCE: u64 = 1 << 30;

/// The files of an export, by the names that they had in it.
#[derive(Debug, Default)]
pub struct Export {
    files: HashMap<String, Entry>,
}

impl Export {
    /// Finds the files around the manifest of this name, in an archive of this length.
    ///
    /// # Errors
    ///
    /// A sentence: there is no manifest, there are several, or the files are far larger than they can be.
    pub fn find(entries: Vec<Entry>, manifest: &str, length: u64) -> Result<Self, String> {
        let is_of_export = |entry: &Entry| {
            let mut parts = entry.name.split('/');
            // macOS packs metadata next to each file.
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
        // Files that lie over one another are a way to make much of little.
        if packed > length || size > length.saturating_mul(MAX_RATIO).saturating_add(ALLOWANCE) {
            return Err(format!(
                "The ZIP of {} MB would unpack to {} MB, far more than a history does. Nothing was imported.",
                length.div_ceil(1_000_000),
                size.div_ceil(1_000_000),
            ));
        }
        Ok(Self { files })
    }

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

    /// Guards against an export that can't be imported after it was unpacked and packed again.
    #[test]
    fn a_folder_around_the_files_and_those_of_the_system_do_not_matter() {
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
            // What was packed with it lies deeper.
            &["history.json", "outputs/00001.png", "old/history.json"],
        ] {
            let export = found(names).unwrap();
            assert!(export.file("history.json").is_some(), "{names:?}");
            assert!(export.file("outputs/00001.png").is_some(), "{names:?}");
            assert!(export.file("outputs/00002.png").is_none());
        }
    }

    #[test]
    fn an_archive_of_something_else_or_of_several_histories_is_refused() {
        let refused = |names: &[&str]| found(names).unwrap_err();
        assert!(refused(&["a.png", "nothistory.json"]).contains("isn't an Atelier history"));
        assert!(refused(&["a/history.json", "b/history.json"]).contains("more than one"));
    }

    /// Guards against a small archive that fills the disk or the memory.
    #[test]
    fn what_would_unpack_to_far_more_than_its_length_is_refused() {
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
        assert!(
            find(2_000, 2_000, 1_000).is_some(),
            "files over one another"
        );
        assert!(find(10, u64::MAX, 1_000).is_some());
    }
}
