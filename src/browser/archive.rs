//! ZIP archives made of blobs, so that they are never in the program's memory as a whole.

use std::ops::Range;

use atelier_studio::history::archive::Archive;
use atelier_studio::history::archive::directory::{self, End, Entry, HEADER_LENGTH, Method, TAIL};
use atelier_studio::history::archive::export::Export;
use atelier_studio::text::calendar::Local;
use crc::{CRC_32_ISO_HDLC, Crc, Digest};
use js_sys::{Array, Function, Reflect, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, ReadableStreamDefaultReader, ReadableWritablePair};

use super::clock;

/// The algorithm of the checksum of each file in an archive, by which a reader detects damage.
static CRC_32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The number of bytes that are read and checksummed in one step, which takes a few milliseconds.
const CHUNK: u64 = 1_000_000;

/// The maximum number of unpacked bytes in memory.
const MAX_IN_MEMORY: u64 = 32_000_000;

const CANNOT_UNPACK: &str = "This browser can't unpack compressed files. Pack the files again without compression, or use a \
    newer browser.";

const DAMAGED: &str = "This file is damaged or isn't a ZIP.";

/// Writes an archive as a sequence of blobs.
#[derive(Default)]
pub struct ArchiveWriter {
    archive: Archive,
    parts: Array,
}

impl ArchiveWriter {
    /// Adds a file with the current time.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the file can't be read, or is too large for an archive.
    pub async fn add(&mut self, name: &str, blob: &Blob) -> Result<(), String> {
        self.add_with_time(name, blob, None).await
    }

    /// Adds a file with the time when it was created, or with the current time.
    ///
    /// # Errors
    ///
    /// See [`Self::add`].
    pub async fn add_with_time(
        &mut self,
        name: &str,
        blob: &Blob,
        made: Option<Local>,
    ) -> Result<(), String> {
        let sum = sum(blob).await.ok_or_else(|| unreadable(name))?;
        let made = made.unwrap_or_else(now);
        let header = (self.archive).add(name, blob.size() as u64, sum, Some(made))?;
        self.push(&header);
        self.parts.push(blob);
        Ok(())
    }

    /// Adds a text file with the current time.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the text is too large for an archive.
    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), String> {
        let sum = CRC_32.checksum(text.as_bytes());
        let header = (self.archive).add(name, text.len() as u64, sum, Some(now()))?;
        self.push(&header);
        self.push(text.as_bytes());
        Ok(())
    }

    fn push(&self, bytes: &[u8]) {
        self.parts.push(&Uint8Array::from(bytes));
    }

    /// Returns the complete archive.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the browser has not enough space.
    pub fn finish(mut self) -> Result<Blob, String> {
        let end = std::mem::take(&mut self.archive).finish();
        self.push(&end);
        let options = BlobPropertyBag::new();
        options.set_type("application/zip");
        Blob::new_with_blob_sequence_and_options(&self.parts, &options)
            .map_err(|_| "The browser has no space for the archive.".to_owned())
    }
}

/// Reads an archive with an export that the user opened.
pub struct ArchiveReader {
    file: Blob,
    export: Export,
}

impl ArchiveReader {
    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the archive is damaged, or has no manifest of this name.
    pub async fn open(file: Blob, manifest: &str) -> Result<Self, String> {
        let length = file.size() as u64;
        let entries = entries(&file, length).await.ok_or(DAMAGED)?;
        let export = Export::find(entries, manifest, length)?;
        Ok(Self { file, export })
    }

    /// Returns the unpacked size of a file in bytes, as stated in the archive.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.export.file(name).map(|entry| entry.size)
    }

    /// Unpacks a file as a blob of the MIME type `mime`.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the file is missing or damaged, or its compression method is not supported.
    pub async fn file(&self, name: &str, mime: &str) -> Result<Blob, String> {
        let entry = self.export.file(name);
        let entry = entry.ok_or_else(|| format!("{name} is missing in the file."))?;
        entry.method.check()?;
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
        let mut blob = blob.map_err(|_| damaged())?;
        if entry.method == Method::Deflate {
            let stream = inflate().ok_or(CANNOT_UNPACK)?;
            let unpacked = unpack(&blob, &stream, entry.size, mime).await;
            blob = unpacked.ok_or_else(damaged)?;
        }
        match sum(&blob).await {
            Some(sum) if sum == entry.sum => Ok(blob),
            _ => Err(damaged()),
        }
    }
}

async fn entries(file: &Blob, length: u64) -> Option<Vec<Entry>> {
    let tail = bytes(file, length.saturating_sub(TAIL)..length).await?;
    let range = match directory::end(&tail, length)? {
        End::Directory(range) => range,
        End::Zip64(end) => directory::directory_64(&bytes(file, end).await?, length)?,
    };
    directory::entries(&bytes(file, range).await?)
}

/// Returns the decompressor of the browser, which older browsers don't have.
fn inflate() -> Option<ReadableWritablePair> {
    let stream = Reflect::get(&window(), &"DecompressionStream".into()).ok()?;
    let format = Array::of1(&"deflate-raw".into());
    let stream = Reflect::construct(&stream.dyn_into::<Function>().ok()?, &format).ok()?;
    // The stream has the properties of a pair: `readable` and `writable`.
    Some(stream.unchecked_into())
}

/// Unpacks a file of this size. Returns `None` if the size differs or the data is damaged.
async fn unpack(
    packed: &Blob,
    stream: &ReadableWritablePair,
    size: u64,
    mime: &str,
) -> Option<Blob> {
    let unpacked = packed.stream().pipe_through(stream);
    let reader: ReadableStreamDefaultReader = unpacked.get_reader().unchecked_into();
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let parts = Array::new();
    let (mut left, mut in_memory) = (size, 0);
    loop {
        let chunk = JsFuture::from(reader.read()).await.ok()?;
        let field = |name: &str| Reflect::get(&chunk, &JsValue::from_str(name)).ok();
        if field("done")?.is_truthy() {
            break;
        }
        let chunk: Uint8Array = field("value")?.unchecked_into();
        let Some(rest) = left.checked_sub(chunk.length().into()) else {
            // The stream is longer than stated, and could be endless.
            drop(reader.cancel());
            return None;
        };
        left = rest;
        in_memory += u64::from(chunk.length());
        parts.push(&chunk);
        if in_memory > MAX_IN_MEMORY {
            // The browser can store blobs on disk.
            let blob = Blob::new_with_u8_array_sequence(&parts).ok()?;
            parts.set_length(0);
            parts.push(&blob);
            in_memory = 0;
        }
    }
    let blob = Blob::new_with_blob_sequence_and_options(&parts, &options).ok()?;
    (left == 0).then_some(blob)
}

async fn sum(blob: &Blob) -> Option<u32> {
    let size = blob.size() as u64;
    let mut sum: Digest<'_, u32> = CRC_32.digest();
    let mut from = 0;
    while from < size {
        let to = size.min(from + CHUNK);
        // Each chunk is awaited separately, so that the page stays responsive.
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

fn now() -> Local {
    clock::local(clock::now())
}

fn unreadable(name: &str) -> String {
    format!("{name} could not be read.")
}
