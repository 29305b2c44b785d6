//! Reads the directory of ZIP archives, which lists the position and compression of each file. The archives may be
//! written by [`super::Archive`] or by other programs. The files themselves are not read.
//!
//! The user may open any file, so no number in it can be trusted.

use std::ops::Range;

use super::{END, END_64, ENTRY, EXTRA_64, HEADER, IN_ZIP64_16, IN_ZIP64_32, LOCATOR};

/// The length of the end record without a comment, in bytes.
const END_LENGTH: usize = 22;
/// The lengths of the ZIP64 locator and end record before it, in bytes.
const LOCATOR_LENGTH: usize = 20;
const END_64_LENGTH: u64 = 56;
/// The length of a directory entry before its name, in bytes.
const ENTRY_LENGTH: usize = 46;
/// The length of a file's header before its name, in bytes.
pub const HEADER_LENGTH: usize = 30;

/// The number of bytes to read at the end of an archive, so that they contain the end record and the locator even with
/// the longest comment (65,535 bytes).
pub const TAIL: u64 = (END_LENGTH + LOCATOR_LENGTH) as u64 + 0xffff;

/// The maximum size of a directory in bytes. It is read as a whole. A directory of a million files is smaller.
const MAX_DIRECTORY: u64 = 128 << 20;

/// The flag of an encrypted file.
const ENCRYPTED: usize = 1;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path, with `/` between folders.
    pub name: String,
    /// The position of its header in the archive, in bytes.
    pub start: u64,
    /// The compressed size in bytes.
    pub packed: u64,
    /// The uncompressed size in bytes.
    pub size: u64,
    /// The CRC-32 of the file.
    pub sum: u32,
    pub method: Method,
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Not compressed.
    Stored,
    Deflate,
    Encrypted,
    /// Another method, by its number in the format.
    Other(u16),
}

impl Method {
    /// # Errors
    ///
    /// A message if files with this method can't be read.
    pub fn check(self) -> Result<(), String> {
        match self {
            Self::Stored | Self::Deflate => Ok(()),
            Self::Encrypted => Err(
                "The ZIP is encrypted. Unpack it, and pack the files again without a password."
                    .into(),
            ),
            Self::Other(number) => Err(format!(
                "The files in the ZIP are packed with method {number}, which can't be read here. Unpack them, and pack \
                 them again as a plain ZIP (Deflate).",
            )),
        }
    }
}

/// The part of the archive to read next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Directory(Range<u64>),
    /// The ZIP64 end record, which contains the position of the directory; see [`directory_64`].
    Zip64(Range<u64>),
}

/// Parses the end of an archive of this length; `None` if it is not an archive. `tail`: the last bytes, see [`TAIL`].
pub fn end(tail: &[u8], length: u64) -> Option<End> {
    let last = tail.len().checked_sub(END_LENGTH)?;
    let at = (0..=last).rev().find(|at| {
        let comment = short(tail, at + END_LENGTH - 2);
        let is_end = long(tail, *at) == Some(END.into());
        is_end && comment.is_some_and(|comment| at + END_LENGTH + comment <= tail.len())
    })?;
    let (count, size, start) = (
        short(tail, at + 10)?,
        long(tail, at + 12)?,
        long(tail, at + 16)?,
    );
    let is_zip64 =
        count == usize::from(IN_ZIP64_16) || [size, start].contains(&u64::from(IN_ZIP64_32));
    let locator = at.checked_sub(LOCATOR_LENGTH);
    let locator = locator.filter(|at| long(tail, *at) == Some(LOCATOR.into()));
    match locator {
        Some(at) if is_zip64 => {
            let start = longer(tail, at + 8)?;
            let end = start.checked_add(END_64_LENGTH)?;
            (end <= length).then_some(End::Zip64(start..end))
        }
        _ => within(start, size, length).map(End::Directory),
    }
}

/// Returns the range of the directory from the ZIP64 end record.
pub fn directory_64(end: &[u8], length: u64) -> Option<Range<u64>> {
    if long(end, 0)? != u64::from(END_64) {
        return None;
    }
    within(longer(end, 48)?, longer(end, 40)?, length)
}

fn within(start: u64, size: u64, length: u64) -> Option<Range<u64>> {
    let end = start.checked_add(size)?;
    (end <= length && size <= MAX_DIRECTORY).then_some(start..end)
}

/// Returns the files in a directory; `None` if it is damaged.
pub fn entries(directory: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = directory;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        if long(rest, 0)? != u64::from(ENTRY) {
            return None;
        }
        let name_end = ENTRY_LENGTH + short(rest, 28)?;
        let extra_end = name_end + short(rest, 30)?;
        let end = extra_end + short(rest, 32)?;
        let name = String::from_utf8_lossy(rest.get(ENTRY_LENGTH..name_end)?).replace('\\', "/");
        let mut numbers = numbers_64(rest.get(name_end..extra_end)?);
        // The ZIP64 field contains numbers only for fields with a marker, in this order.
        let mut number = |at| match long(rest, at)? {
            number if number == u64::from(IN_ZIP64_32) => numbers.next(),
            number => Some(number),
        };
        let (size, packed, start) = (number(24)?, number(20)?, number(42)?);
        entries.push(Entry {
            name: name.trim_start_matches("./").to_owned(),
            start,
            packed,
            size,
            sum: long(rest, 16)? as u32,
            method: match short(rest, 10)? {
                _ if short(rest, 8)? & ENCRYPTED != 0 => Method::Encrypted,
                0 => Method::Stored,
                8 => Method::Deflate,
                other => Method::Other(other as u16),
            },
        });
        rest = rest.get(end..)?;
    }
    Some(entries)
}

/// Returns the numbers of the ZIP64 extra field.
fn numbers_64(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Some(id), Some(length)) = (short(extra, 0), short(extra, 2)) {
        let end = extra.len().min(4 + length);
        if id == usize::from(EXTRA_64) {
            found = &extra[4..end];
            break;
        }
        extra = &extra[end..];
    }
    let mut numbers = found.chunks_exact(8);
    std::iter::from_fn(move || longer(numbers.next()?, 0))
}

impl Entry {
    /// Returns the range of the file's bytes in an archive of this length. `header`: the record before them, see
    /// [`HEADER_LENGTH`].
    pub fn content(&self, header: &[u8], length: u64) -> Option<Range<u64>> {
        if long(header, 0)? != u64::from(HEADER) {
            return None;
        }
        let before = HEADER_LENGTH + short(header, 26)? + short(header, 28)?;
        let start = self.start.checked_add(before as u64)?;
        let end = start.checked_add(self.packed)?;
        let is_whole = self.method != Method::Stored || self.packed == self.size;
        (end <= length && is_whole).then_some(start..end)
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

fn longer(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
