//! Reads back what [`super::Archive`] writes: where in an archive each file lies. The bytes
//! themselves stay where they are.
//!
//! An archive is whatever a person brings. All numbers in it are hostile.

use std::ops::Range;

use super::{END, HEADER, MAX_FILES};

/// The length of the record at the very end, without a comment, in bytes.
const END_LENGTH: usize = 22;
/// The length of the record before each name in the directory, in bytes.
const ENTRY_LENGTH: usize = 46;
/// The length of the record before each file's name, in bytes.
pub const HEADER_LENGTH: usize = 30;

/// The last so many bytes of an archive are sure to hold the record at its end, however long the comment is:
/// 65 535 at most.
pub const TAIL: u64 = END_LENGTH as u64 + 0xffff;

const ENTRY: u32 = 0x0201_4b50;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// The place in the archive at which its header begins, in bytes.
    pub start: u64,
    /// The length of the file, in bytes.
    pub size: u64,
    /// The CRC-32 of its bytes.
    pub sum: u32,
    /// The bytes are stored as they are, without compression.
    pub is_plain: bool,
}

/// Gives the place of the directory in an archive of this length, of which `tail` are the last bytes.
pub fn range(tail: &[u8], length: u64) -> Option<Range<u64>> {
    let last = tail.len().checked_sub(END_LENGTH)?;
    let at = (0..=last)
        .rev()
        .find(|at| long(tail, *at) == Some(END.into()))?;
    let size = long(tail, at + 12)?;
    let start = long(tail, at + 16)?;
    let end = start.checked_add(size)?;
    (end <= length).then_some(start..end)
}

/// The files that a directory names; `None` if it is damaged.
pub fn entries(directory: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = directory;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        if long(rest, 0)? != u64::from(ENTRY) || entries.len() >= MAX_FILES {
            return None;
        }
        let name_end = ENTRY_LENGTH + short(rest, 28)?;
        let end = name_end + short(rest, 30)? + short(rest, 32)?;
        let name = rest.get(ENTRY_LENGTH..name_end)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(name).into_owned(),
            start: long(rest, 42)?,
            size: long(rest, 24)?,
            sum: long(rest, 16)? as u32,
            is_plain: short(rest, 10)? == 0 && long(rest, 20)? == long(rest, 24)?,
        });
        rest = rest.get(end..)?;
    }
    Some(entries)
}

impl Entry {
    /// Gives the place of the file's bytes in an archive of this length, by the record before them, see
    /// [`HEADER_LENGTH`].
    pub fn content(&self, header: &[u8], length: u64) -> Option<Range<u64>> {
        if long(header, 0)? != u64::from(HEADER) {
            return None;
        }
        let before = HEADER_LENGTH + short(header, 26)? + short(header, 28)?;
        let start = self.start.checked_add(before as u64)?;
        let end = start.checked_add(self.size)?;
        (end <= length).then_some(start..end)
    }
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_le_bytes(bytes).into())
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::archive_of;
    use super::*;
    use proptest::prelude::*;

    fn read(archive: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
        let length = archive.len() as u64;
        let tail = &archive[archive.len().saturating_sub(TAIL as usize)..];
        let part = |range: Range<u64>| archive.get(range.start as usize..range.end as usize);
        let directory = part(range(tail, length)?)?;
        entries(directory)?
            .into_iter()
            .map(|entry| {
                let header = part(entry.start..entry.start + HEADER_LENGTH as u64)?;
                let content = part(entry.content(header, length)?)?;
                entry.is_plain.then(|| (entry.name, content.to_vec()))
            })
            .collect()
    }

    #[test]
    fn what_is_no_archive_is_told() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"{\"tasks\": []}"), None);
        let whole = archive_of(&[("a.txt".into(), b"hello".to_vec())]);
        assert!(read(&whole).is_some());
        // Cut short, as a download is that was broken off.
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "{end}");
        }
    }

    proptest! {
        #[test]
        fn what_was_packed_is_read_back(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6)) {
            let files: Vec<(String, Vec<u8>)> = contents
                .into_iter()
                .enumerate()
                .map(|(n, content)| (format!("château/{n}.png"), content))
                .collect();
            prop_assert_eq!(read(&archive_of(&files)), Some(files));
        }

        #[test]
        fn no_archive_breaks_the_reader(at in 0_usize..200, byte: u8) {
            let mut archive = archive_of(&[("a".into(), vec![1; 50]), ("b".into(), vec![2; 9])]);
            let at = at % archive.len();
            archive[at] = byte;
            let _ = read(&archive);
        }
    }
}
