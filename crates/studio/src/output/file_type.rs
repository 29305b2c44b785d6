//! Determines the type of a file from its first bytes, or else from the MIME type that its host sends, or else from its
//! address.

use atelier_contract::output::{
    OutputAddress, OutputKind, extension_of_mime, known_type, mime_essence, url_extensions,
};

/// The number of bytes to read from the start of a file.
pub const HEAD_LENGTH: usize = 512;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Format {
    /// The extensions, the most common first.
    extensions: &'static [&'static str],
    kind: OutputKind,
}

const fn format(kind: OutputKind, extensions: &'static [&'static str]) -> Format {
    Format { extensions, kind }
}

const MP4: Format = format(OutputKind::Video, &["mp4", "m4v"]);
const JXL: Format = format(OutputKind::Image, &["jxl"]);
const TIFF: Format = format(OutputKind::Image, &["tiff", "tif", "dng"]);
const MP3: Format = format(OutputKind::Audio, &["mp3"]);
const AAC: Format = format(OutputKind::Audio, &["aac"]);

/// The file signatures, each with its offset, bytes and format. The first match counts.
const MARKS: &[(usize, &[u8], Format)] = &[
    (
        0,
        b"\x89PNG\r\n\x1a\n",
        format(OutputKind::Image, &["png", "apng"]),
    ),
    (
        0,
        b"\xff\xd8\xff",
        format(OutputKind::Image, &["jpg", "jpeg", "jfif"]),
    ),
    (0, b"GIF8", format(OutputKind::Image, &["gif"])),
    (8, b"WEBPVP8", format(OutputKind::Image, &["webp"])),
    (4, b"ftypavif", format(OutputKind::Image, &["avif"])),
    (4, b"ftypavis", format(OutputKind::Image, &["avif"])),
    (4, b"ftyphei", format(OutputKind::Image, &["heic", "heif"])),
    (4, b"ftyphev", format(OutputKind::Image, &["heic", "heif"])),
    (
        4,
        b"ftypmif1",
        format(OutputKind::Image, &["heic", "heif", "avif"]),
    ),
    (4, b"ftypqt", format(OutputKind::Video, &["mov"])),
    (4, b"ftypM4A", format(OutputKind::Audio, &["m4a", "m4b"])),
    (4, b"ftyp", MP4),
    (0, b"\xff\x0a", JXL),
    (0, b"\0\0\0\x0cJXL ", JXL),
    (0, b"II*\0", TIFF),
    (0, b"MM\0*", TIFF),
    (0, b"8BPS", format(OutputKind::Image, &["psd", "psb"])),
    (0, b"v/1\x01", format(OutputKind::Image, &["exr"])),
    (0, b"#?RADIANCE", format(OutputKind::Image, &["hdr"])),
    (8, b"WAVE", format(OutputKind::Audio, &["wav"])),
    (8, b"AVI ", format(OutputKind::Video, &["avi"])),
    (0, b"fLaC", format(OutputKind::Audio, &["flac"])),
    (
        28,
        b"OpusHead",
        format(OutputKind::Audio, &["opus", "ogg", "oga"]),
    ),
    (28, b"\x80theora", format(OutputKind::Video, &["ogv"])),
    (
        0,
        b"OggS",
        format(OutputKind::Audio, &["ogg", "oga", "ogv", "opus"]),
    ),
    (0, b"ID3", MP3),
    (0, b"\xff\xfb", MP3),
    (0, b"\xff\xf3", MP3),
    (0, b"\xff\xf2", MP3),
    (0, b"\xff\xf1", AAC),
    (0, b"\xff\xf9", AAC),
    (0, b"MThd", format(OutputKind::Audio, &["mid", "midi"])),
    (0, b"glTF", format(OutputKind::Other, &["glb"])),
    (0, b"%PDF-", format(OutputKind::Other, &["pdf"])),
];

/// The signature of both Matroska and WebM. The document type in the following bytes distinguishes them.
const EBML: &[u8] = b"\x1a\x45\xdf\xa3";

/// Extensions that a download never gets from an address: those of files that an operating system executes when they
/// are opened, and of server pages.
const NEVER: &[&str] = &[
    "app", "asp", "aspx", "bat", "cgi", "cmd", "com", "dmg", "exe", "hta", "jar", "js", "jse",
    "jsp", "lnk", "mjs", "msi", "php", "pif", "ps1", "reg", "scr", "sh", "url", "vbe", "vbs",
    "wsf",
];

/// Returns the format with the signature of these bytes; `None` for generic containers such as ZIP archives, and for text.
fn format_of(head: &[u8]) -> Option<Format> {
    if head.starts_with(EBML) {
        let is_webm = head.windows(4).any(|bytes| bytes == b"webm");
        let extensions: &[&str] = if is_webm { &["webm"] } else { &["mkv", "webm"] };
        return Some(format(OutputKind::Video, extensions));
    }
    let has = |(at, bytes, _): &&(usize, &[u8], Format)| {
        head.get(*at..).is_some_and(|from| from.starts_with(bytes))
    };
    MARKS.iter().find(has).map(|(_, _, format)| *format)
}

/// Returns the kind of a file from its first bytes, else from its MIME type. `None` if both are inconclusive. Many
/// hosts send `application/octet-stream` for everything, or an HTML page in place of a missing file.
pub fn kind(head: &[u8], mime: &str) -> Option<OutputKind> {
    if let Some(format) = format_of(head) {
        return Some(format.kind);
    }
    let mime = mime_essence(mime);
    match OutputKind::of_mime(&mime) {
        // Formats of 3D models are known by their MIME types only.
        OutputKind::Other if mime.starts_with("model/") => Some(OutputKind::Other),
        OutputKind::Other => None,
        kind => Some(kind),
    }
}

/// Whether a file of this MIME type is text. An empty type is text, because it is the default of `data:` URLs.
pub fn is_text(mime: &str) -> bool {
    let ends = ["json", "xml", "yaml", "javascript"];
    mime.is_empty() || mime.starts_with("text/") || ends.iter().any(|end| mime.ends_with(end))
}

/// Returns the extension for the file of an output, without the dot. `mime`: the MIME type of the response; empty if it
/// has none. An unknown extension of the address is preserved. The kind determines the extension only if nothing else
/// does.
pub fn extension(head: &[u8], mime: &str, url: &str, kind: OutputKind) -> String {
    let given: Vec<&str> = match OutputAddress::of(url) {
        OutputAddress::Data(_) => Vec::new(),
        _ => url_extensions(url)
            .into_iter()
            .flatten()
            .filter(|it| is_plausible(it))
            .collect(),
    };
    let of_url = given
        .iter()
        .find(|it| known_type(it).is_some())
        .or_else(|| given.first())
        .map(|it| it.to_ascii_lowercase());
    if let Some(format) = format_of(head) {
        let fits = |it: &String| format.extensions.contains(&it.as_str());
        return of_url
            .filter(fits)
            .unwrap_or_else(|| format.extensions[0].to_owned());
    }
    let data_mime = match OutputAddress::of(url) {
        OutputAddress::Data(mime) => mime,
        _ => String::new(),
    };
    let mimes = [mime_essence(mime), data_mime];
    let of_mime = mimes.iter().find_map(|mime| extension_of_mime(mime));
    let is_text = mimes.iter().any(|mime| mime.starts_with("text/"));
    match (of_url, of_mime) {
        // The address is more specific, because hosts send `text/plain` for all text.
        (Some(of_url), Some("txt")) => of_url,
        (Some(of_url), Some(of_mime)) if known_type(&of_url).is_some() => {
            let is_same = known_type(&of_url) == known_type(of_mime);
            if is_same { of_url } else { of_mime.to_owned() }
        }
        (Some(of_url), _) => of_url,
        (None, Some(of_mime)) => of_mime.to_owned(),
        (None, None) => match kind {
            OutputKind::Image => "png",
            OutputKind::Video => "mp4",
            OutputKind::Audio => "wav",
            OutputKind::Other if is_text => "txt",
            OutputKind::Other => "bin",
        }
        .to_owned(),
    }
}

/// Whether this may be a file extension, and not a part of a version or hash.
fn is_plausible(extension: &str) -> bool {
    let lower = extension.to_ascii_lowercase();
    (1..=11).contains(&lower.len())
        && lower.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && lower.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !NEVER.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use OutputKind::{Audio, Image, Other, Video};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const WEBP: &[u8] = b"RIFF\x3c\x02\0\0WEBPVP8 \x30";
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF";
    const FILM: &[u8] = b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2";
    const ZIP: &[u8] = b"PK\x03\x04\x0a\0\0\0";

    /// The bytes take precedence over the MIME type, and a specific MIME type over the address.
    #[test]
    fn extensions_follow_the_bytes_then_the_type_then_the_address() {
        let bytes = "application/octet-stream";
        for (head, mime, url, kind, expected) in [
            (WEBP, bytes, "https://a/media/a", Image, "webp"),
            (
                JPEG,
                "binary/octet-stream",
                "https://a/media/b",
                Image,
                "jpg",
            ),
            (JPEG, "image/jpeg", "https://a/media/c.png", Image, "jpg"),
            (JPEG, "image/png", "https://a/media/c.JPEG", Image, "jpeg"),
            (WEBP, bytes, "https://a/media/d.png", Image, "webp"),
            (b"II*\0", "image/tiff", "https://a/scan.tiff", Image, "tiff"),
            (b"II*\0", "image/tiff", "https://a/scan", Image, "tiff"),
            (
                b"\0\0\0\x0cJXL ",
                "image/jxl",
                "https://a/e.jxl",
                Image,
                "jxl",
            ),
            (
                b"v/1\x01",
                "image/x-exr",
                "https://a/depth.exr",
                Image,
                "exr",
            ),
            (
                b"8BPS",
                "image/vnd.adobe.photoshop",
                "https://a/l.psd",
                Image,
                "psd",
            ),
            (b"MThd", "audio/midi", "https://a/song.mid", Image, "mid"),
            (
                ZIP,
                "model/vnd.usdz+zip",
                "https://a/model.usdz",
                Image,
                "usdz",
            ),
            (
                b"\0\0\0\x18ftypheic",
                "image/heic",
                "https://a/f.heic",
                Image,
                "heic",
            ),
            (
                FILM,
                bytes,
                "https://a/view?filename=a.mp4&type=output",
                Image,
                "mp4",
            ),
            (FILM, "image/png", "https://a/wrong.png", Image, "mp4"),
            (PNG, "", "https://a/blob/9f3c", Video, "png"),
            (
                b"",
                "",
                "https://a/weights.safetensors",
                Image,
                "safetensors",
            ),
            (b"", "", "https://a/odd.xyz1", Image, "xyz1"),
            (
                b"{",
                "application/json",
                "https://a/map.geojson",
                Image,
                "geojson",
            ),
            (b"o cube", "text/plain", "https://a/cube.obj", Image, "obj"),
            (
                b"<html>",
                "text/html; charset=x",
                "https://a/b.png",
                Image,
                "html",
            ),
            (b"", "image/png", "https://a/run.exe", Image, "png"),
            (b"", "", "https://a/view.php?filename=b.webp", Image, "webp"),
            (b"", "", "https://a/v1.2", Image, "png"),
            (b"", "", "data:audio/mpeg;base64,AA", Audio, "mp3"),
            (b"", "", "data:text/plain;base64,AA", Other, "txt"),
            (b"", "", "data:text/x-log,a", Other, "txt"),
            (b"%PDF-", "", "data:application/pdf;base64,AA", Other, "pdf"),
            (
                b"{",
                "application/json",
                "data:application/json,{",
                Other,
                "json",
            ),
            (b"", "", "https://a/b", Video, "mp4"),
            (b"", "", "https://a/b", Other, "bin"),
        ] {
            assert_eq!(extension(head, mime, url, kind), expected, "{mime} {url}");
        }
    }

    /// A video at `wrong.png` is a video, and an HTML page is not an output.
    #[test]
    fn kinds_follow_the_bytes_then_the_type() {
        for (head, mime, expected) in [
            (PNG, "video/mp4", Some(Image)),
            (FILM, "image/png", Some(Video)),
            (b"\x1a\x45\xdf\xa3....webm", "", Some(Video)),
            (b"OggS", "", Some(Audio)),
            (b"<svg", "Image/SVG+xml; charset=x", Some(Image)),
            (ZIP, "model/vnd.usdz+zip", Some(Other)),
            (b"MThd", "application/octet-stream", Some(Audio)),
            (b"\0\0", "application/octet-stream", None),
            (b"<html>", "text/html", None),
            (b"{}", "application/json", None),
            (b"", "", None),
        ] {
            assert_eq!(kind(head, mime), expected, "{mime} {head:?}");
        }
    }

    #[test]
    fn text_types_are_recognized() {
        for mime in ["", "text/html", "application/ld+json"] {
            assert!(is_text(mime), "{mime}");
        }
        assert!(!is_text("application/pdf"));
    }

    proptest::proptest! {
        /// An extension consists of letters and digits, whatever a service sends.
        #[test]
        fn any_address_gives_a_plain_extension(
            head in proptest::collection::vec(proptest::num::u8::ANY, 0..40),
            mime in "\\PC{0,20}",
            url in "\\PC{0,40}|https://a/[a-z./?&=%]{0,30}",
        ) {
            let found = extension(&head, &mime, &url, Image);
            proptest::prop_assert!(found.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{found}");
            proptest::prop_assert!(!found.is_empty() && !NEVER.contains(&found.as_str()));
        }
    }
}
