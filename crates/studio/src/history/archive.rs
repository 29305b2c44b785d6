//! Writes a ZIP archive with uncompressed files, because media do not compress. This module creates only the records
//! around the files, so that the files need not be in memory.
//!
//! Sizes and checksums precede each file, so that every program can read the archive. Crates that write archives as a
//! stream put them after the file. See APPNOTE.TXT 4.3. An archive with more than 65,535 files or more than 4 GB uses
//! ZIP64.

pub mod directory;
pub mod export;

use std::ops::RangeInclusive;

use crate::text::calendar::Local;

/// The values of 16-bit and 32-bit fields whose actual numbers are in a ZIP64 field.
const IN_ZIP64_16: u16 = u16::MAX;
const IN_ZIP64_32: u32 = u32::MAX;

/// The signatures of a file's header, a directory entry and the end of the archive.
const HEADER: u32 = 0x0403_4b50;
const ENTRY: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// The ZIP64 signatures of the end of the archive, and of its locator.
const END_64: u32 = 0x0606_4b50;
const LOCATOR: u32 = 0x0706_4b50;
/// The extra field with the 64-bit numbers of a file's header or entry.
const EXTRA_64: u16 = 1;

/// The flag for names in UTF-8.
const FLAGS: u16 = 1 << 11;
const VERSION: u16 = 20;
/// The version of the format that introduced ZIP64.
const VERSION_64: u16 = 45;
/// 1 January 1980, the earliest date in the format, for files without a date.
const DATE: u16 = (1 << 5) | 1;
const YEARS: RangeInclusive<i64> = 1980..=2107;

/// A time in the format of the archive, with a resolution of two seconds.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    time: u16,
    date: u16,
}

impl Stamp {
    fn of(made: Option<Local>) -> Self {
        match made {
            Some(Local { day, hour, minute }) if YEARS.contains(&day.year) => Self {
                time: ((hour << 11) | (minute << 5)) as u16,
                date: (((day.year - YEARS.start()) << 9) | (day.month << 5) | day.day) as u16,
            },
            _ => Self {
                time: 0,
                date: DATE,
            },
        }
    }
}

/// The state of an archive that is being written: its length, and the directory to write at its end.
#[derive(Debug, Default)]
pub struct Archive {
    files: usize,
    length: u64,
    directory: Vec<u8>,
}

impl Archive {
    /// Adds a file and returns the header to write before its bytes. `sum`: its CRC-32. `made`: its creation time, if
    /// known.
    ///
    /// # Errors
    ///
    /// A message: the name is longer than the format allows.
    pub fn add(
        &mut self,
        name: &str,
        size: u64,
        sum: u32,
        made: Option<Local>,
    ) -> Result<Vec<u8>, String> {
        if name.len() > usize::from(u16::MAX) {
            return Err(format!(
                "A file name has {} bytes; the archive allows at most 65,535.",
                name.len()
            ));
        }
        let start = self.length;
        let made = Stamp::of(made);
        let mut header = Vec::new();
        put(&mut header, &[HEADER], &[]);
        // A header with a ZIP64 field must contain both sizes.
        let extra = match fits(size) {
            true => Vec::new(),
            false => extra(&[size, size]),
        };
        header.extend(fields(name, size, sum, made, &extra));
        header.extend_from_slice(name.as_bytes());
        header.extend_from_slice(&extra);
        self.length += header.len() as u64 + size;
        self.files += 1;
        let mut numbers = vec![size; if fits(size) { 0 } else { 2 }];
        numbers.extend((!fits(start)).then_some(start));
        let extra = match numbers.is_empty() {
            true => Vec::new(),
            false => self::extra(&numbers),
        };
        put(&mut self.directory, &[ENTRY], &[VERSION]);
        self.directory.extend(fields(name, size, sum, made, &extra));
        // No comment, first disk, no attributes.
        put(&mut self.directory, &[], &[0, 0, 0]);
        put(&mut self.directory, &[0, short(start)], &[]);
        self.directory.extend_from_slice(name.as_bytes());
        self.directory.extend(extra);
        Ok(header)
    }

    /// Returns the directory, to write after the last file.
    pub fn finish(self) -> Vec<u8> {
        let (files, start) = (self.files, self.length);
        let mut end = self.directory;
        let size = end.len() as u64;
        let count = u16::try_from(files).unwrap_or(IN_ZIP64_16);
        if count == IN_ZIP64_16 || !fits(size) || !fits(start) {
            let at = start + size;
            // 44 is the length of the following fields.
            put(&mut end, &[END_64], &[]);
            put_long(&mut end, &[44]);
            put(&mut end, &[], &[VERSION_64, VERSION_64]);
            put(&mut end, &[0, 0], &[]);
            put_long(&mut end, &[files as u64, files as u64, size, start]);
            put(&mut end, &[LOCATOR, 0], &[]);
            put_long(&mut end, &[at]);
            put(&mut end, &[1], &[]);
        }
        put(&mut end, &[END], &[0, 0, count, count]);
        put(&mut end, &[short(size), short(start)], &[0]);
        end
    }
}

fn fits(number: u64) -> bool {
    number < IN_ZIP64_32.into()
}

/// Returns the number, or the marker for a number in a ZIP64 field.
fn short(number: u64) -> u32 {
    match fits(number) {
        true => number as u32,
        false => IN_ZIP64_32,
    }
}

/// Returns the ZIP64 field with these numbers.
fn extra(numbers: &[u64]) -> Vec<u8> {
    let mut extra = Vec::new();
    put(&mut extra, &[], &[EXTRA_64, (numbers.len() * 8) as u16]);
    put_long(&mut extra, numbers);
    extra
}

/// Returns the fields that a file's header and its directory entry share.
fn fields(name: &str, size: u64, sum: u32, made: Stamp, extra: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    let version = match extra.is_empty() {
        true => VERSION,
        false => VERSION_64,
    };
    // Method 0: stored.
    put(&mut fields, &[], &[version, FLAGS, 0, made.time, made.date]);
    put(
        &mut fields,
        &[sum, short(size), short(size)],
        &[name.len() as u16, extra.len() as u16],
    );
    fields
}

fn put_long(bytes: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

/// Appends numbers in little-endian order: first the long ones, then the short ones.
fn put(bytes: &mut Vec<u8>, long: &[u32], short: &[u16]) {
    for number in long {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for number in short {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::calendar::Day;
    use crc::{CRC_32_ISO_HDLC, Crc};
    use proptest::prelude::*;
    use std::io::{Cursor, Read};

    pub(super) fn archive_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut archive = Archive::default();
        let mut bytes = Vec::new();
        for (name, content) in files {
            let sum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content);
            bytes.extend(archive.add(name, content.len() as u64, sum, None).unwrap());
            bytes.extend_from_slice(content);
        }
        bytes.extend(archive.finish());
        bytes
    }

    /// Large archives must not fail after all files were fetched.
    #[test]
    fn archives_above_4_gb_and_with_many_files_are_read_back() {
        let mut archive = Archive::default();
        let mut sparse = Sparse::default();
        let big = 5_u64 << 30;
        sparse.write(&archive.add("big.mp4", big, 7, None).unwrap());
        sparse.skip(big);
        let sum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(b"hello");
        sparse.write(&archive.add("small.txt", 5, sum, None).unwrap());
        sparse.write(b"hello");
        for n in 0..66_000 {
            sparse.write(&archive.add(&n.to_string(), 0, 0, None).unwrap());
        }
        sparse.write(&archive.finish());
        let mut read = zip::ZipArchive::new(sparse).unwrap();
        assert_eq!(read.len(), 66_002);
        assert_eq!(read.by_name("big.mp4").unwrap().size(), big);
        let mut text = String::new();
        read.by_name("small.txt")
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "hello");
        let long = "x".repeat(65_536);
        assert!(Archive::default().add(&long, 0, 0, None).is_err());
    }

    /// A sparse file. Only its written parts are in memory.
    #[derive(Default)]
    pub(super) struct Sparse {
        pieces: Vec<(u64, Vec<u8>)>,
        pub length: u64,
        at: u64,
    }

    impl Sparse {
        pub fn write(&mut self, bytes: &[u8]) {
            match self.pieces.last_mut() {
                Some((start, piece)) if *start + piece.len() as u64 == self.length => {
                    piece.extend_from_slice(bytes);
                }
                _ => self.pieces.push((self.length, bytes.to_vec())),
            }
            self.length += bytes.len() as u64;
        }

        pub fn skip(&mut self, count: u64) {
            self.length += count;
        }

        pub fn part(&self, range: std::ops::Range<u64>) -> Option<Vec<u8>> {
            let (start, piece) = self.pieces.iter().rev().find(|it| it.0 <= range.start)?;
            let from = (range.start - start) as usize;
            let bytes = piece.get(from..from + (range.end - range.start) as usize);
            bytes.map(<[u8]>::to_vec)
        }
    }

    impl Read for Sparse {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = (into.len() as u64).min(self.length - self.at);
            let into = &mut into[..count as usize];
            into.fill(0);
            for (start, piece) in &self.pieces {
                let from = self.at.max(*start);
                let to = (self.at + count).min(start + piece.len() as u64);
                if from < to {
                    let bytes = &piece[(from - start) as usize..(to - start) as usize];
                    into[(from - self.at) as usize..(to - self.at) as usize].copy_from_slice(bytes);
                }
            }
            self.at += count;
            Ok(count as usize)
        }
    }

    impl std::io::Seek for Sparse {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            self.at = match to {
                std::io::SeekFrom::Start(at) => at,
                std::io::SeekFrom::End(by) => self.length.saturating_add_signed(by),
                std::io::SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            };
            Ok(self.at)
        }
    }

    #[test]
    fn a_file_has_its_creation_date() {
        let made = |year| {
            let day = Day {
                year,
                month: 11,
                day: 27,
            };
            let made = Local {
                day,
                hour: 17,
                minute: 59,
            };
            let mut archive = Archive::default();
            let mut bytes = archive.add("a", 0, 0, Some(made)).unwrap();
            bytes.extend(archive.finish());
            let mut read = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
            read.by_index(0).unwrap().last_modified().unwrap()
        };
        let read = made(2026);
        assert_eq!((read.year(), read.month(), read.day()), (2026, 11, 27));
        assert_eq!((read.hour(), read.minute()), (17, 59));
        // The format starts in 1980.
        assert_eq!(made(1970).year(), 1980);
    }

    proptest! {
        /// Reads the archive with a library, which verifies the checksums.
        #[test]
        fn an_archive_survives_a_round_trip(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6)) {
            let files: Vec<(String, Vec<u8>)> = contents
                .into_iter()
                .enumerate()
                .map(|(n, content)| (format!("{n:02}-château-{n}.png"), content))
                .collect();
            let mut read = zip::ZipArchive::new(Cursor::new(archive_of(&files))).unwrap();
            prop_assert_eq!(read.len(), files.len());
            for (name, content) in &files {
                let mut found = Vec::new();
                read.by_name(name).unwrap().read_to_end(&mut found).unwrap();
                prop_assert_eq!(&found, content);
            }
        }
    }
}
