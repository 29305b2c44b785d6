//! Texts in EXIF.

use exif::{In, Reader, Tag, Value};

use crate::bytes::{text, until_nul};
use crate::collector::Collector;

/// Larger EXIF data is ignored.
const MAX_BYTES: usize = 4 << 20;

/// Tags in which programs store texts: ComfyUI uses those of the camera, most others the comment of the user.
const TAGS: [(Tag, &str); 6] = [
    (Tag::UserComment, "UserComment"),
    (Tag::ImageDescription, "ImageDescription"),
    (Tag::Make, "Make"),
    (Tag::Model, "Model"),
    (Tag::Software, "Software"),
    (Tag::Artist, "Artist"),
];

/// Reads TIFF data.
pub fn read(tiff: &[u8], collector: &mut Collector) {
    if tiff.len() > MAX_BYTES || !collector.spend(tiff.len()) {
        return;
    }
    let mut reader = Reader::new();
    reader.continue_on_error(true);
    let Ok(exif) = reader
        .read_raw(tiff.to_vec())
        .or_else(|error| error.distill_partial_result(|_| {}))
    else {
        return;
    };
    for (tag, name) in TAGS {
        let Some(field) = exif.get_field(tag, In::PRIMARY) else {
            continue;
        };
        let text = match &field.value {
            Value::Undefined(bytes, _) if tag == Tag::UserComment => comment(bytes),
            Value::Ascii(parts) => parts.iter().map(|part| text(part)).collect(),
            _ => continue,
        };
        if !text.is_empty() {
            collector.add(name, text);
        }
    }
}

/// Decodes a comment, which begins with the name of its character code.
fn comment(bytes: &[u8]) -> String {
    let Some((code, rest)) = bytes.split_at_checked(8) else {
        return String::new();
    };
    match code {
        b"UNICODE\0" => utf16(rest),
        b"ASCII\0\0\0" | [0, 0, 0, 0, 0, 0, 0, 0] => text(until_nul(rest)),
        // Some programs omit the character code.
        _ => text(until_nul(bytes)),
    }
}

/// Decodes UTF-16. Programs disagree about the order of bytes, so the order with more characters below U+0100 is used.
fn utf16(bytes: &[u8]) -> String {
    let pairs = || bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let (big, little) = pairs().fold((0, 0), |(big, little), [first, second]| {
        (big + i32::from(first == 0), little + i32::from(second == 0))
    });
    let units: Vec<u16> = match bytes {
        [0xFE, 0xFF, ..] => pairs().skip(1).map(u16::from_be_bytes).collect(),
        [0xFF, 0xFE, ..] => pairs().skip(1).map(u16::from_le_bytes).collect(),
        _ if little > big => pairs().map(u16::from_le_bytes).collect(),
        _ => pairs().map(u16::from_be_bytes).collect(),
    };
    let text = String::from_utf16_lossy(&units);
    text.trim_end_matches('\0').to_owned()
}
