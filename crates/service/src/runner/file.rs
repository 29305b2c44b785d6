//! Types of input and output files, and `data:` URIs.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::addresses::strip_prefix;
use crate::model::Ended;
use crate::outputs::Artifact;

/// The maximum size of a file, in bytes.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

/// The extensions and content types of known files.
const TYPES: [(&str, &str); 20] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
    ("avif", "image/avif"),
    ("svg", "image/svg+xml"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("wav", "audio/x-wav"),
    ("flac", "audio/flac"),
    ("ogg", "audio/ogg"),
    ("m4a", "audio/mp4"),
    ("glb", "model/gltf-binary"),
    ("txt", "text/plain"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
];

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    NO_PAD.with_decode_allow_trailing_bits(true),
);

/// The extension of files of an unknown type.
pub const UNKNOWN: &str = "bin";

/// Returns a file with its extension, determined by its first bytes, its content type, or its name.
pub fn artifact(bytes: Vec<u8>, content_type: &str, name: &str) -> Artifact {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let by_type = || {
        let found = TYPES.iter().find(|(_, known)| *known == essence);
        found.map(|(extension, _)| *extension)
    };
    let by_name = || {
        let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
        let extension = if extension == "jpeg" {
            "jpg"
        } else {
            &extension
        };
        let found = TYPES.iter().find(|(known, _)| *known == extension);
        found.map(|(extension, _)| *extension)
    };
    // The content type takes precedence over the name.
    let extension = magic(&bytes).or_else(by_type).or_else(by_name);
    Artifact {
        extension: extension.unwrap_or(UNKNOWN),
        bytes,
    }
}

/// Returns the extension of known image, video and audio formats by their first bytes.
fn magic(bytes: &[u8]) -> Option<&'static str> {
    let at = |from: usize, what: &[u8]| bytes.get(from..).is_some_and(|b| b.starts_with(what));
    let riff = |what: &[u8]| at(0, b"RIFF") && at(8, what);
    Some(match () {
        () if at(0, b"\x89PNG\r\n") => "png",
        () if at(0, b"\xff\xd8\xff") => "jpg",
        () if riff(b"WEBP") => "webp",
        () if riff(b"WAVE") => "wav",
        () if at(0, b"GIF8") => "gif",
        () if at(4, b"ftypavif") => "avif",
        () if at(4, b"ftypqt") => "mov",
        () if at(4, b"ftypM4A") => "m4a",
        () if at(4, b"ftyp") => "mp4",
        () if at(0, b"\x1a\x45\xdf\xa3") => "webm",
        () if at(0, b"ID3") => "mp3",
        () if at(0, b"fLaC") => "flac",
        () if at(0, b"OggS") => "ogg",
        () if at(0, b"glTF") => "glb",
        () => return None,
    })
}

/// Decodes the file in a `data:` URI.
pub fn of_data_uri(uri: &str) -> Option<Artifact> {
    let (head, data) = strip_prefix(uri, "data:")?.split_once(',')?;
    let head = head.to_ascii_lowercase();
    let bytes = match head.ends_with(";base64") {
        true => of_base64(data)?,
        false => percent_decode_str(data).collect(),
    };
    Some(artifact(bytes, &head, ""))
}

/// Decodes base64 in either alphabet, with or without padding and line breaks.
pub fn of_base64(text: &str) -> Option<Vec<u8>> {
    let usual: String = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    LENIENT.decode(usual.trim_end_matches('=')).ok()
}

/// Returns whether bytes begin like a known image, video or audio format.
pub fn is_known(bytes: &[u8]) -> bool {
    magic(bytes).is_some()
}

/// Encodes an output of this service as a `data:` URI.
///
/// # Errors
///
/// As for [`read`].
pub fn to_data_uri(path: &Path) -> Result<Value, Ended> {
    let bytes = read(path)?;
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let content_type = content_type_of(extension);
    let data = STANDARD.encode(bytes);
    Ok(format!("data:{content_type};base64,{data}").into())
}

/// Returns the content type of files with this extension.
pub fn content_type_of(extension: &str) -> &'static str {
    let found = TYPES.iter().find(|(known, _)| *known == extension);
    found.map_or("application/octet-stream", |(_, content_type)| content_type)
}

/// Reads an output of this service.
///
/// # Errors
///
/// [`Ended::Failed`] if the file can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Ended> {
    fs::read(path).map_err(|error| not_readable(&error))
}

/// Returns the error for an input file that can't be read.
pub fn not_readable(error: &std::io::Error) -> Ended {
    Ended::Failed(format!("The file given can't be read: {error}."))
}

/// Converts an error of reading a program's files: the program has failed if they are missing or not readable for the
/// service; otherwise the error is retryable.
pub fn unreadable(error: std::io::Error) -> Ended {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            Ended::Failed(format!("The program's files can't be read: {error}"))
        }
        _ => Ended::Blocked(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide_the_type_before_content_type_and_name() {
        let extension = |bytes: &[u8], content_type: &str, name: &str| {
            artifact(bytes.to_vec(), content_type, name).extension
        };
        assert_eq!(extension(b"\x89PNG\r\n\x1a\n", "text/html", "a.exe"), "png");
        assert_eq!(extension(b"x", "text/plain; charset=utf-8", ""), "txt");
        assert_eq!(extension(b"x", "", "out.JPEG"), "jpg");
        assert_eq!(extension(b"x", "text/html", "a.html"), "bin", "not HTML");
        assert_eq!(extension(b"", "", ""), "bin");
    }

    #[test]
    fn data_uris_are_decoded_in_every_form() {
        let text = |uri: &str| of_data_uri(uri).map(|file| (file.extension, file.bytes));
        assert_eq!(
            text("data:text/plain;base64,aGk="),
            Some(("txt", b"hi".to_vec()))
        );
        assert_eq!(
            text("data:text/plain;base64,aGk"),
            Some(("txt", b"hi".to_vec()))
        );
        assert_eq!(
            text("DATA:Text/Plain;BASE64,aGk="),
            Some(("txt", b"hi".to_vec()))
        );
        assert_eq!(text("data:,a%20b%"), Some(("bin", b"a b%".to_vec())));
        assert_eq!(text("data:,%+f"), Some(("bin", b"%+f".to_vec())));
        assert_eq!(text("data:text/plain;base64,***"), None);
        assert_eq!(text("https://a.example/"), None);
    }
}
