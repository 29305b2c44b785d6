//! Determines the type of an uploaded file by its bytes, and decodes images once.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};

/// The maximum number of pixels of an image.
pub const MAX_PIXELS: u64 = 64_000_000;

/// The maximum memory of a decoder, in bytes: [`MAX_PIXELS`] with four channels of 16 bits.
const MAX_DECODED: u64 = MAX_PIXELS * 8;

/// The number of bytes at the start of a file that determine its type.
const HEAD: u64 = 8192;

/// The accepted media types, and the extensions of their files.
const TYPES: [(&str, &str); 11] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/webp", "webp"),
    ("image/gif", "gif"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("video/quicktime", "mov"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("audio/flac", "flac"),
    ("audio/ogg", "ogg"),
];

/// What a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The media type.
    pub content_type: &'static str,
    /// The extension for it, without the dot.
    pub extension: &'static str,
    /// Width and height of an image in pixels, with its orientation applied.
    pub size: Option<(u32, u32)>,
}

/// Why a file is refused, as a message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its type is not accepted.
    Type(String),
    /// It is broken, or too large when decoded.
    Content(String),
}

/// Returns the accepted media types.
pub fn types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(content_type, _)| *content_type)
}

/// Determines the content of a file. Decodes images, so that a broken one is refused before a task uses it.
///
/// # Errors
///
/// The file can't be read.
pub fn inspect(path: &Path) -> io::Result<Result<Content, Refusal>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let Some((content_type, extension)) = type_of(&head) else {
        return Ok(Err(Refusal::Type(refused_type(&head))));
    };
    let size = match content_type.starts_with("image/") {
        true => match decode(path)? {
            Ok(size) => Some(size),
            Err(message) => return Ok(Err(Refusal::Content(message))),
        },
        false => None,
    };
    Ok(Ok(Content {
        content_type,
        extension,
        size,
    }))
}

fn type_of(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = match infer::get(head)?.mime_type() {
        "audio/x-wav" => "audio/wav",
        "audio/x-flac" => "audio/flac",
        "video/x-m4v" | "audio/m4a" => "video/mp4",
        found => found,
    };
    TYPES.iter().find(|(name, _)| *name == found).copied()
}

fn refused_type(head: &[u8]) -> String {
    let found = infer::get(head).map(|found| found.mime_type());
    let what = match found {
        _ if head.is_empty() => "The file is empty".to_owned(),
        Some(found) => format!("The file is {found}"),
        None => "The type of the file is unknown".to_owned(),
    };
    let accepted: Vec<&str> = types().collect();
    format!("{what}. Accepted types: {}.", accepted.join(", "))
}

/// Decodes an image. Returns its width and height, or why it can't be used.
fn decode(path: &Path) -> io::Result<Result<(u32, u32), String>> {
    let mut reader = ImageReader::new(BufReader::new(File::open(path)?)).with_guessed_format()?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    Ok(decode_with(reader).map_err(|error| match error {
        Unusable::Large(width, height) => format!(
            "The image has {width} × {height} pixels; at most {} million are accepted.",
            MAX_PIXELS / 1_000_000
        ),
        Unusable::Broken(error) => format!("The image can't be decoded: {error}."),
    }))
}

enum Unusable {
    Large(u32, u32),
    Broken(ImageError),
}

impl From<ImageError> for Unusable {
    fn from(error: ImageError) -> Self {
        Self::Broken(error)
    }
}

fn decode_with(reader: ImageReader<BufReader<File>>) -> Result<(u32, u32), Unusable> {
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Unusable::Large(width, height));
    }
    // Metadata that can't be read has no orientation.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    DynamicImage::from_decoder(decoder)?;
    Ok(match is_turned(orientation) {
        true => (height, width),
        false => (width, height),
    })
}

fn is_turned(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn of(bytes: &[u8]) -> Result<Content, Refusal> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, bytes).unwrap();
        inspect(&path).unwrap()
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = io::Cursor::new(Vec::new());
        let image = DynamicImage::new_rgb8(width, height);
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn the_type_is_determined_by_the_bytes() {
        let content = of(&png(3, 2)).unwrap();
        assert_eq!(content.content_type, "image/png");
        assert_eq!(content.extension, "png");
        assert_eq!(content.size, Some((3, 2)));
        let wav = of(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0").unwrap();
        assert_eq!((wav.content_type, wav.size), ("audio/wav", None));
    }

    #[test]
    fn scripts_and_unknown_files_are_refused() {
        for bytes in [
            &b""[..],
            b"hello",
            b"<!DOCTYPE html><script>alert(1)</script>",
            b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
            b"<?xml version='1.0'?><svg/>",
            b"%PDF-1.7",
            b"PK\x03\x04",
        ] {
            assert!(matches!(of(bytes), Err(Refusal::Type(_))), "{bytes:?}");
        }
    }

    #[test]
    fn broken_images_are_refused() {
        let whole = png(40, 40);
        for bytes in [&whole[..whole.len() / 2], &whole[..20]] {
            assert!(matches!(of(bytes), Err(Refusal::Content(_))));
        }
    }

    /// Guards against a small file that takes gigabytes when it is decoded.
    #[test]
    fn images_with_too_many_pixels_are_refused_before_they_are_decoded() {
        let mut bytes = png(1, 1);
        // The header chunk: width and height, and its checksum.
        bytes[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        bytes[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let checksum = crc32(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
        let Err(Refusal::Content(message)) = of(&bytes) else {
            panic!("accepted");
        };
        assert!(message.contains("60000 × 60000"), "{message}");
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            }
        }
        !crc
    }
}
