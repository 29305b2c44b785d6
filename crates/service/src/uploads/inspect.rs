//! Determines the type of an uploaded file by its bytes, and checks images.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::picture;

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

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// The media type.
    pub content_type: &'static str,
    /// The extension for it, without the dot.
    pub extension: &'static str,
}

impl FileType {
    pub fn is_image(self) -> bool {
        self.content_type.starts_with("image/")
    }
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

/// Determines the type of a file by its first bytes.
///
/// # Errors
///
/// The file can't be read.
pub fn file_type(path: &Path) -> io::Result<Result<FileType, Refusal>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let found = type_of(&head);
    Ok(found.ok_or_else(|| Refusal::Type(refused_type(&head))))
}

/// Decodes an image, so that a broken one is refused before a task uses it. Returns its width and height in pixels, with
/// its orientation applied.
///
/// # Errors
///
/// The file can't be read.
pub fn image_size(path: &Path) -> io::Result<Result<(u32, u32), Refusal>> {
    let file = BufReader::new(File::open(path)?);
    Ok(picture::check(file)
        .map_err(|error| Refusal::Content(format!("The image can't be used: {error}."))))
}

fn type_of(head: &[u8]) -> Option<FileType> {
    let found = match infer::get(head)?.mime_type() {
        "audio/x-wav" => "audio/wav",
        "audio/x-flac" => "audio/flac",
        "video/x-m4v" | "audio/m4a" => "video/mp4",
        found => found,
    };
    let known = TYPES.iter().find(|(name, _)| *name == found)?;
    Some(FileType {
        content_type: known.0,
        extension: known.1,
    })
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

#[cfg(test)]
mod tests {
    use std::fs;

    use image::DynamicImage;

    use super::*;

    fn of(bytes: &[u8]) -> Result<(FileType, Option<(u32, u32)>), Refusal> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, bytes).unwrap();
        let file_type = file_type(&path).unwrap()?;
        let size = file_type.is_image().then(|| image_size(&path).unwrap());
        Ok((file_type, size.transpose()?))
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = io::Cursor::new(Vec::new());
        let image = DynamicImage::new_rgb8(width, height);
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn the_type_is_determined_by_the_bytes() {
        let (found, size) = of(&png(3, 2)).unwrap();
        assert_eq!((found.content_type, found.extension), ("image/png", "png"));
        assert_eq!(size, Some((3, 2)));
        let (found, size) = of(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0").unwrap();
        assert_eq!((found.content_type, size), ("audio/wav", None));
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
}
