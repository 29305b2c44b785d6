//! A ZIP archive whose files are stored as they are: media do not compress. Only what stands around
//! the files is made here, so that they need never lie in the page's memory.
//!
//! Sizes and sums stand before each file, which the crates that write archives as a stream put
//! behind it: every program can read this. See APPNOTE.TXT 4.3.

pub mod directory;

use std::ops::RangeInclusive;

use crate::calendar::Local;

/// The format has room for so many files. More need an extension that many programs do not know.
const MAX_FILES: usize = 65_535;
const MAX_BYTES: u64 = 0xffff_ffff;

/// The signatures with which a file's header, the directory's entries and the end of the archive begin.
const HEADER: u32 = 0x0403_4b50;
const END: u32 = 0x0605_4b50;

/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const VERSION: u16 = 20;
/// 1 January 1980: the format knows no other beginning, and when a file was fetched says nothing.
const DATE: u16 = (1 << 5) | 1;
const YEARS: RangeInclusive<i64> = 1980..=2107;

/// When a file was made, as the format writes it: two seconds are its least.
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

/// The archive so far: what was put in, for the directory at its end.
#[derive(Debug, Default)]
pub struct Archive {
    files: usize,
    length: u64,
    directory: Vec<u8>,
}

impl Archive {
    /// Adds a file by its name, its size and the CRC-32 of its bytes, and gives the header that comes before them.
    /// `made`: when that was, where it says something.
    ///
    /// # Errors
    ///
    /// A sentence for a person: more files, bytes or letters in a name than the format holds.
    pub fn add(
        &mut self,
        name: &str,
        size: u64,
        sum: u32,
        made: Option<Local>,
    ) -> Result<Vec<u8>, String> {
        let start = self.length;
        let mut header = Vec::new();
        put(&mut header, &[HEADER], &[]);
        let fields = fields(name, size, sum, Stamp::of(made));
        header.extend_from_slice(&fields);
        header.extend_from_slice(name.as_bytes());
        self.length += header.len() as u64 + size;
        self.files += 1;
        let end = self.length + (self.directory.len() + name.len() + 128) as u64;
        if self.files > MAX_FILES || end > MAX_BYTES || name.len() > usize::from(u16::MAX) {
            return Err("The archive would be larger than the 4 GB that ZIP can hold.".into());
        }
        put(&mut self.directory, &[0x0201_4b50], &[VERSION]);
        self.directory.extend_from_slice(&fields);
        // No comment, first disk, no attributes.
        put(&mut self.directory, &[], &[0, 0, 0]);
        put(&mut self.directory, &[0, start as u32], &[]);
        self.directory.extend_from_slice(name.as_bytes());
        Ok(header)
    }

    /// The directory, which comes after the last file.
    pub fn finish(self) -> Vec<u8> {
        let files = self.files as u16;
        let mut end = self.directory;
        let size = end.len() as u32;
        put(&mut end, &[END], &[0, 0, files, files]);
        put(&mut end, &[size, self.length as u32], &[0]);
        end
    }
}

/// The fields that a file's header and its entry in the directory share.
fn fields(name: &str, size: u64, sum: u32, made: Stamp) -> Vec<u8> {
    let mut fields = Vec::new();
    // Method 0: stored.
    put(&mut fields, &[], &[VERSION, FLAGS, 0, made.time, made.date]);
    put(
        &mut fields,
        &[sum, size as u32, size as u32],
        &[name.len() as u16, 0],
    );
    fields
}

/// Numbers, the lowest byte first: the long ones, then the short ones.
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
    use crate::calendar::Day;
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

    #[test]
    fn more_than_the_format_holds_is_refused() {
        let mut archive = Archive::default();
        assert!(archive.add("a", 3 << 30, 0, None).is_ok());
        assert!(archive.add("b", 2 << 30, 0, None).is_err());
        let mut archive = Archive::default();
        let fits = (0..=MAX_FILES).take_while(|n| archive.add(&n.to_string(), 0, 0, None).is_ok());
        assert_eq!(fits.count(), MAX_FILES);
    }

    #[test]
    fn a_file_has_the_date_when_it_was_made() {
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
        // The format begins in 1980.
        assert_eq!(made(1970).year(), 1980);
    }

    proptest! {
        /// Read back by a library that knows the format, which checks the sums.
        #[test]
        fn it_is_read_back(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6)) {
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
