//! The RIFF container of WebP and WAV.

use std::ops::Range;

use crate::WriteError;
use crate::bytes::{Edits, u32_le};

/// Where the chunks of a file begin.
pub const BODY: usize = 12;

/// A chunk of a RIFF file.
pub struct Chunk<'a> {
    pub id: &'a [u8],
    pub data: &'a [u8],
    /// The whole chunk, with its header and its padding.
    pub range: Range<usize>,
}

/// Returns the chunks in a range of the file, up to the first incomplete one.
pub fn chunks(bytes: &[u8], range: Range<usize>) -> impl Iterator<Item = Chunk<'_>> {
    let end = range.end.min(bytes.len());
    let bytes = &bytes[..end];
    let mut at = range.start;
    std::iter::from_fn(move || {
        let size = u32_le(bytes, at.checked_add(4)?)?;
        let data = at + 8..(at + 8).checked_add(size)?;
        let next = (data.end + size % 2).min(end);
        let chunk = Chunk {
            id: bytes.get(at..at + 4)?,
            data: bytes.get(data)?,
            range: at..next,
        };
        at = next;
        Some(chunk)
    })
}

/// Returns the end that the file's header declares, or the end of the file if that comes first.
pub fn end(bytes: &[u8]) -> usize {
    let declared = u32_le(bytes, 4).map_or(0, |size| size.saturating_add(8));
    declared.min(bytes.len())
}

/// Returns all chunks of a file.
///
/// # Errors
///
/// [`WriteError::Malformed`] if the file does not end where it declares, or has bytes that are not in a chunk.
pub fn all_chunks(bytes: &[u8]) -> Result<Vec<Chunk<'_>>, WriteError> {
    let declared = u32_le(bytes, 4).and_then(|size| size.checked_add(8));
    let chunks: Vec<Chunk<'_>> = chunks(bytes, BODY..end(bytes)).collect();
    let reached = chunks.last().map_or(BODY, |chunk| chunk.range.end);
    if declared == Some(reached) {
        Ok(chunks)
    } else {
        Err(WriteError::Malformed("its chunks have a wrong length"))
    }
}

/// Returns a chunk with its padding.
pub fn chunk(id: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut chunk = Vec::with_capacity(data.len() + 9);
    chunk.extend(id);
    chunk.extend((data.len() as u32).to_le_bytes());
    chunk.extend(data);
    if data.len() % 2 == 1 {
        chunk.push(0);
    }
    chunk
}

/// Replaces a chunk, or appends one. Does nothing if neither exists.
pub fn put(edits: &mut Edits, bytes: &[u8], old: Option<&Chunk<'_>>, new: Vec<u8>) {
    if let Some(old) = old {
        edits.replace(old.range.clone(), new);
        return;
    }
    let end = end(bytes);
    // The padding of the last chunk may be missing.
    if end % 2 == 1 && edits.growth() % 2 == 0 {
        edits.insert(end, vec![0]);
    }
    edits.insert(end, new);
}

/// Applies edits, and adapts the size in the file's header.
///
/// # Errors
///
/// [`WriteError::TooLong`] if the file would exceed 4 GiB.
pub fn apply(mut edits: Edits, bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
    let size = end(bytes) as i64 - 8 + edits.growth();
    let size = u32::try_from(size).map_err(|_| WriteError::TooLong)?;
    edits.replace(4..8, size.to_le_bytes().to_vec());
    Ok(edits.apply(bytes))
}
