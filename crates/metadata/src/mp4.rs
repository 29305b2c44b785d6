//! MP4 and QuickTime: metadata items and XMP. Only read.

use std::ops::Range;

use crate::bytes::{text, u32_be};
use crate::collector::Collector;
use crate::xmp;

/// Identifies a box with Content Credentials.
const C2PA: [u8; 16] = [
    0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81,
];
/// Identifies a box with XMP.
const XMP: [u8; 16] = [
    0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
];

/// Boxes are at most this deep.
const MAX_DEPTH: usize = 6;
/// More boxes than this are not read.
const MAX_BOXES: usize = 10_000;

/// Reads files that consist of boxes.
struct Reader<'a, 'c> {
    bytes: &'a [u8],
    collector: &'c mut Collector,
    /// The names of the items, which their types number from 1.
    keys: Vec<&'a [u8]>,
    boxes: usize,
}

pub fn read(bytes: &[u8], collector: &mut Collector) {
    let mut reader = Reader {
        bytes,
        collector,
        keys: Vec::new(),
        boxes: 0,
    };
    reader.boxes(0..bytes.len(), b"", 0);
}

impl<'a> Reader<'a, '_> {
    /// Reads the boxes in a range.
    fn boxes(&mut self, range: Range<usize>, parent: &[u8], depth: usize) {
        let mut at = range.start;
        while let Some((kind, contents)) = self.header(at, range.end) {
            self.boxes += 1;
            if self.boxes > MAX_BOXES || depth > MAX_DEPTH {
                return;
            }
            at = contents.end;
            self.read_box(kind, contents, parent, depth);
        }
    }

    /// Returns the type and the contents of the box at a position.
    fn header(&self, at: usize, end: usize) -> Option<(&'a [u8], Range<usize>)> {
        let bytes = self.bytes;
        let kind = bytes.get(at + 4..at + 8)?;
        let (body, size) = match u32_be(bytes, at)? {
            0 => (at + 8, end.checked_sub(at)?),
            1 => {
                let (high, low) = (u32_be(bytes, at + 8)?, u32_be(bytes, at + 12)?);
                (
                    at + 16,
                    usize::try_from((high as u64) << 32 | low as u64).ok()?,
                )
            }
            size => (at + 8, size),
        };
        let stop = at.checked_add(size)?;
        (body <= stop && stop <= end).then_some((kind, body..stop))
    }

    fn read_box(&mut self, kind: &'a [u8], contents: Range<usize>, parent: &[u8], depth: usize) {
        let bytes = &self.bytes[contents.clone()];
        match kind {
            b"moov" | b"udta" => self.boxes(contents, kind, depth + 1),
            b"ilst" => self.boxes(contents, kind, depth + 1),
            b"meta" => {
                // In MP4, the contents follow a version; in QuickTime they do not.
                let skip = if bytes.get(4..8) == Some(b"hdlr") {
                    0
                } else {
                    4
                };
                let start = (contents.start + skip).min(contents.end);
                self.boxes(start..contents.end, kind, depth + 1);
            }
            b"keys" => self.keys = keys(bytes),
            b"uuid" if bytes.starts_with(&C2PA) => self.collector.set_content_credentials(),
            b"uuid" if bytes.starts_with(&XMP) => xmp::read(&text(&bytes[16..]), self.collector),
            _ if parent == b"ilst" => self.item(kind, contents),
            _ => {}
        }
    }

    /// Reads a metadata item, whose type is a name or the number of a key.
    fn item(&mut self, kind: &[u8], contents: Range<usize>) {
        let Some((b"data", data)) = self.header(contents.start, contents.end) else {
            return;
        };
        let data = &self.bytes[data];
        // 1 is the type of UTF-8; four bytes of locale follow.
        let (Some(1), Some(value)) = (u32_be(data, 0), data.get(8..)) else {
            return;
        };
        let number = u32_be(kind, 0).and_then(|number| number.checked_sub(1));
        let key = number.and_then(|number| self.keys.get(number));
        // Names such as `©cmt` are in Latin-1.
        let name = key.map_or_else(|| text(kind), |key| text(key));
        self.collector.add(&name, text(value));
    }
}

/// Returns the names in a box of keys.
fn keys(bytes: &[u8]) -> Vec<&[u8]> {
    let mut keys = Vec::new();
    let mut at = 8;
    while let Some(size) = u32_be(bytes, at)
        && let Some(key) = bytes.get(at + 8..at.saturating_add(size))
        && keys.len() < crate::MAX_ENTRIES
    {
        keys.push(key);
        at += size;
    }
    keys
}
