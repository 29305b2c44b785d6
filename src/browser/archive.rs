//! ZIP archives as the browser's blobs: their bytes never lie in the program's memory as a whole.

use std::ops::Range;

use atelier_engine::archive::Archive;
use atelier_engine::archive::directory::{self, Entry, HEADER_LENGTH, TAIL};
use atelier_engine::calendar::Local;
use crc::{CRC_32_ISO_HDLC, Crc, Digest};
use js_sys::{Array, Uint8Array};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

/// The checksum that an archive keeps of each file, so that a reader can tell whether the file is whole.
static CRC_32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Bytes that are summed and copied in one go: some milliseconds.
const PIECE: u64 = 1_000_000;

const DAMAGED: &str = "This file is damaged or isn't a ZIP.";

/// An archive that is being made: blobs, one after the other.
#[derive(Default)]
pub struct ArchiveWriter {
    archive: Archive,
    parts: Array,
}

impl ArchiveWriter {
    /// # Errors
    ///
    /// A sentence: the file can't be read, or is larger than an archive takes.
    pub async fn add(&mut self, name: &str, blob: &Blob) -> Result<(), String> {
        self.add_made(name, blob, None).await
    }

    /// With the time when it was made.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub async fn add_made(
        &mut self,
        name: &str,
        blob: &Blob,
        made: Option<Local>,
    ) -> Result<(), String> {
        let sum = sum(blob).await.ok_or_else(|| unreadable(name))?;
        let header = self.archive.add(name, blob.size() as u64, sum, made)?;
        self.push(&header);
        self.parts.push(blob);
        Ok(())
    }

    /// # Errors
    ///
    /// A sentence: the text is larger than an archive takes.
    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), String> {
        let sum = CRC_32.checksum(text.as_bytes());
        let header = self.archive.add(name, text.len() as u64, sum, None)?;
        self.push(&header);
        self.push(text.as_bytes());
        Ok(())
    }

    fn push(&self, bytes: &[u8]) {
        self.parts.push(&Uint8Array::from(bytes));
    }

    /// # Errors
    ///
    /// A sentence: there is no room.
    pub fn finish(mut self) -> Result<Blob, String> {
        let end = std::mem::take(&mut self.archive).finish();
        self.push(&end);
        let options = BlobPropertyBag::new();
        options.set_type("application/zip");
        Blob::new_with_blob_sequence_and_options(&self.parts, &options)
            .map_err(|_| "The browser has no room for the archive.".to_owned())
    }
}

/// An archive that a person brings.
pub struct ArchiveReader {
    file: Blob,
    entries: Vec<Entry>,
}

impl ArchiveReader {
    /// # Errors
    ///
    /// A sentence: it is damaged, or something else.
    pub async fn open(file: Blob) -> Result<Self, String> {
        let length = file.size() as u64;
        let tail = bytes(&file, length.saturating_sub(TAIL)..length).await;
        let range = directory::range(&tail.ok_or(DAMAGED)?, length).ok_or(DAMAGED)?;
        let directory = bytes(&file, range).await.ok_or(DAMAGED)?;
        let entries = directory::entries(&directory).ok_or(DAMAGED)?;
        Ok(Self { file, entries })
    }

    pub fn holds(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// A file of it, as what it is said to be.
    ///
    /// # Errors
    ///
    /// A sentence: it is not there, or not whole.
    pub async fn file(&self, name: &str, mime: &str) -> Result<Blob, String> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| format!("{name} is missing in the file."))?;
        if !entry.is_plain {
            return Err(
                "Another program has packed the file anew, in a way that can't be read here."
                    .into(),
            );
        }
        let damaged = || format!("{name} is damaged.");
        let length = self.file.size() as u64;
        let end = entry.start.saturating_add(HEADER_LENGTH as u64);
        let header = bytes(&self.file, entry.start..end).await;
        let range = header.and_then(|header| entry.content(&header, length));
        let range = range.ok_or_else(damaged)?;
        let (start, end) = (range.start as f64, range.end as f64);
        let blob = self
            .file
            .slice_with_f64_and_f64_and_content_type(start, end, mime);
        let blob = blob.map_err(|_| damaged())?;
        match sum(&blob).await {
            Some(sum) if sum == entry.sum => Ok(blob),
            _ => Err(damaged()),
        }
    }
}

async fn sum(blob: &Blob) -> Option<u32> {
    let size = blob.size() as u64;
    let mut sum: Digest<'_, u32> = CRC_32.digest();
    let mut from = 0;
    while from < size {
        let to = size.min(from + PIECE);
        // Each piece is awaited by itself, so that the page responds in between.
        sum.update(&bytes(blob, from..to).await?);
        from = to;
    }
    Some(sum.finalize())
}

async fn bytes(blob: &Blob, range: Range<u64>) -> Option<Vec<u8>> {
    let piece = blob.slice_with_f64_and_f64(range.start as f64, range.end as f64);
    let bytes = JsFuture::from(piece.ok()?.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&bytes).to_vec())
}

fn unreadable(name: &str) -> String {
    format!("{name} could not be read.")
}
