//! JPEG: XMP and EXIF in APP1, comments.

use std::ops::Range;

use crate::bytes::{Edits, text, u16_be};
use crate::collector::Collector;
use crate::{Entries, WriteError, exif, xmp};

const APP0: u8 = 0xE0;
const APP1: u8 = 0xE1;
const APP11: u8 = 0xEB;
const COMMENT: u8 = 0xFE;
const START_OF_SCAN: u8 = 0xDA;
const END_OF_IMAGE: u8 = 0xD9;

const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const EXIF: &[u8] = b"Exif\0\0";

/// A segment before the first scan.
struct Segment<'a> {
    marker: u8,
    data: &'a [u8],
    /// The whole segment, with marker and length.
    range: Range<usize>,
}

/// Returns the segments before the first scan, and whether the scan was reached.
fn segments(bytes: &[u8]) -> (Vec<Segment<'_>>, bool) {
    let mut segments = Vec::new();
    let mut at = 2;
    loop {
        let start = at;
        if bytes.get(at) != Some(&0xFF) {
            return (segments, false);
        }
        // Any number of 0xFF may precede a marker.
        while bytes.get(at) == Some(&0xFF) {
            at += 1;
        }
        let Some(marker) = bytes.get(at).copied() else {
            return (segments, false);
        };
        at += 1;
        match marker {
            START_OF_SCAN => return (segments, true),
            END_OF_IMAGE => return (segments, false),
            0x01 | 0xD0..=0xD8 => continue,
            _ => {}
        }
        let data = u16_be(bytes, at).and_then(|length| bytes.get(at + 2..at.checked_add(length)?));
        let Some(data) = data else {
            return (segments, false);
        };
        at += 2 + data.len();
        segments.push(Segment {
            marker,
            data,
            range: start..at,
        });
    }
}

pub fn read(bytes: &[u8], collector: &mut Collector) {
    for Segment { marker, data, .. } in segments(bytes).0 {
        match marker {
            APP1 => {
                if let Some(packet) = data.strip_prefix(XMP) {
                    xmp::read(&text(packet), collector);
                } else if let Some(tiff) = data.strip_prefix(EXIF) {
                    exif::read(tiff, collector);
                }
            }
            APP11 if data.starts_with(b"JP") && data.windows(4).any(|four| four == b"c2pa") => {
                collector.set_content_credentials();
            }
            COMMENT => collector.add("Comment", text(data)),
            _ => {}
        }
    }
}

pub fn write(bytes: &[u8], entries: &Entries) -> Result<Vec<u8>, WriteError> {
    let (segments, is_complete) = segments(bytes);
    if !is_complete {
        return Err(WriteError::Malformed("it has no image data"));
    }
    let packet = segments.iter().find_map(|segment| {
        let packet = segment.data.strip_prefix(XMP)?;
        (segment.marker == APP1).then_some((packet, segment.range.clone()))
    });
    // JFIF and EXIF have to come first. Other segments may contain offsets from their own position (MPF), and must stay
    // behind.
    let is_first = |segment: &&Segment<'_>| {
        segment.marker == APP0 || segment.marker == APP1 && segment.data.starts_with(EXIF)
    };
    let last = segments.iter().take_while(is_first).last();
    let at = last.map_or(2, |segment| segment.range.end);
    let (old, range) = match packet {
        None => (None, at..at),
        Some((old, range)) => {
            let old = std::str::from_utf8(old);
            let old = old.map_err(|_| WriteError::Malformed("its XMP can't be read"))?;
            (Some(old), range)
        }
    };
    let new = xmp::update(old, &xmp::all(entries))?.unwrap_or_default();
    let length = u16::try_from(2 + XMP.len() + new.len()).map_err(|_| WriteError::TooLong)?;
    let mut segment = vec![0xFF, APP1];
    segment.extend(length.to_be_bytes());
    segment.extend(XMP);
    segment.extend(new.as_bytes());
    let is_before = |other: &&Segment<'_>| other.range.end <= range.start;
    let has_offsets = |other: &Segment<'_>| other.data.starts_with(b"MPF\0");
    if segment.len() != range.len() && segments.iter().filter(is_before).any(has_offsets) {
        return Err(WriteError::Malformed(
            "its XMP can't grow, because offsets to further images precede it",
        ));
    }
    let mut edits = Edits::default();
    edits.replace(range, segment);
    Ok(edits.apply(bytes))
}
