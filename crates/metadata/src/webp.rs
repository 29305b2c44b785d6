//! WebP: XMP and EXIF in chunks of their own, which require the extended format.

use crate::bytes::{Edits, text};
use crate::collector::Collector;
use crate::riff::{self, BODY, Chunk};
use crate::{Entries, WriteError, exif, xmp};

const HAS_ALPHA: u8 = 0x10;
const HAS_XMP: u8 = 0x04;

pub fn read(bytes: &[u8], collector: &mut Collector) {
    for Chunk { id, data, .. } in riff::chunks(bytes, BODY..riff::end(bytes)) {
        match id {
            b"XMP " => xmp::read(&text(data), collector),
            // Some programs write the header of a JPEG segment, too.
            b"EXIF" => exif::read(data.strip_prefix(b"Exif\0\0").unwrap_or(data), collector),
            b"C2PA" => collector.set_content_credentials(),
            _ => {}
        }
    }
}

pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    let chunks = riff::all_chunks(bytes)?;
    let malformed = WriteError::Malformed("its image data can't be read");
    let first = chunks.first().ok_or(malformed)?;
    let mut edits = Edits::default();
    if first.id == b"VP8X" {
        let flags = *first.data.first().ok_or(malformed)?;
        edits.replace(BODY + 8..BODY + 9, vec![flags | HAS_XMP]);
    } else {
        let header = extended_header(first).ok_or(malformed)?;
        edits.insert(BODY, riff::chunk(b"VP8X", &header));
    }
    let old = chunks.iter().find(|chunk| chunk.id == b"XMP ");
    let packet = old.map(|chunk| std::str::from_utf8(chunk.data));
    let packet = packet.transpose();
    let packet = packet.map_err(|_| WriteError::Malformed("its XMP can't be read"))?;
    let new = xmp::update(packet, &xmp::all(entries))?.unwrap_or_default();
    riff::put(&mut edits, bytes, old, riff::chunk(b"XMP ", new.as_bytes()));
    riff::apply(edits, bytes)
}

/// Returns the header of the extended format for the image data of the simple one.
fn extended_header(image: &Chunk<'_>) -> Option<[u8; 10]> {
    let data = image.data;
    let (width, height, flags) = match image.id {
        b"VP8 " => {
            if data.get(3..6)? != [0x9D, 0x01, 0x2A] {
                return None;
            }
            let dimension = |at: usize| {
                let bytes = data.get(at..at + 2)?.try_into().ok()?;
                Some(u32::from(u16::from_le_bytes(bytes) & 0x3FFF))
            };
            (dimension(6)?, dimension(8)?, 0)
        }
        b"VP8L" => {
            if *data.first()? != 0x2F {
                return None;
            }
            let bits = u32::from_le_bytes(data.get(1..5)?.try_into().ok()?);
            let flags = if bits >> 28 & 1 == 1 { HAS_ALPHA } else { 0 };
            ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, flags)
        }
        _ => return None,
    };
    let [width, height] = [width, height].map(|n| n.checked_sub(1).map(u32::to_le_bytes));
    let (width, height) = (width?, height?);
    Some([
        flags | HAS_XMP,
        0,
        0,
        0,
        width[0],
        width[1],
        width[2],
        height[0],
        height[1],
        height[2],
    ])
}
