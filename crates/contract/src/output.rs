//! Judges what stands behind an output's URL, and whether it may be shown as more than text.

use std::fmt;

/// The kind of an output, judged before it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Image,
    Video,
    Audio,
    Other,
}

/// Extension, the MIME type it stands for, kind. The first line of a MIME type names its usual
/// extension.
const TYPES: &[(&str, &str, OutputKind)] = &[
    ("png", "image/png", OutputKind::Image),
    ("jpg", "image/jpeg", OutputKind::Image),
    ("jpeg", "image/jpeg", OutputKind::Image),
    ("webp", "image/webp", OutputKind::Image),
    ("gif", "image/gif", OutputKind::Image),
    ("avif", "image/avif", OutputKind::Image),
    ("svg", "image/svg+xml", OutputKind::Image),
    ("bmp", "image/bmp", OutputKind::Image),
    ("mp4", "video/mp4", OutputKind::Video),
    ("m4v", "video/mp4", OutputKind::Video),
    ("webm", "video/webm", OutputKind::Video),
    ("mov", "video/quicktime", OutputKind::Video),
    ("mkv", "video/x-matroska", OutputKind::Video),
    ("ogv", "video/ogg", OutputKind::Video),
    ("wav", "audio/wav", OutputKind::Audio),
    ("wav", "audio/x-wav", OutputKind::Audio),
    ("mp3", "audio/mpeg", OutputKind::Audio),
    ("m4a", "audio/mp4", OutputKind::Audio),
    ("aac", "audio/aac", OutputKind::Audio),
    ("ogg", "audio/ogg", OutputKind::Audio),
    ("oga", "audio/ogg", OutputKind::Audio),
    ("opus", "audio/opus", OutputKind::Audio),
    ("flac", "audio/flac", OutputKind::Audio),
    ("json", "application/json", OutputKind::Other),
    ("txt", "text/plain", OutputKind::Other),
    ("md", "text/markdown", OutputKind::Other),
    ("csv", "text/csv", OutputKind::Other),
    ("html", "text/html", OutputKind::Other),
    ("pdf", "application/pdf", OutputKind::Other),
    ("zip", "application/zip", OutputKind::Other),
    ("glb", "model/gltf-binary", OutputKind::Other),
    ("gltf", "model/gltf+json", OutputKind::Other),
    ("obj", "model/obj", OutputKind::Other),
    ("ply", "model/ply", OutputKind::Other),
    ("stl", "model/stl", OutputKind::Other),
    ("safetensors", "", OutputKind::Other),
    ("srt", "", OutputKind::Other),
    ("vtt", "text/vtt", OutputKind::Other),
];

impl OutputKind {
    pub const ALL: [Self; 4] = [Self::Image, Self::Video, Self::Audio, Self::Other];

    /// A word for addresses and style sheets.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Other => "other",
        }
    }

    /// Gives the name of one output of this kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::Image => "Image",
            Self::Video => "Video",
            Self::Audio => "Audio",
            Self::Other => "Output",
        }
    }

    /// The kind by `data:` type or by the extension in the path. Once the file is there, its
    /// bytes decide. A URL that tells nothing is what the model's `category` makes.
    pub fn of(url: &str, category: &str) -> Self {
        let kind = match OutputAddress::of(url) {
            OutputAddress::Data(mime) => Some(Self::of_mime(&mime)),
            _ => by_extension(url).map(|(_, _, kind)| *kind),
        };
        kind.unwrap_or_else(|| Self::of_category(category))
    }

    /// The kind that a MIME type names.
    pub fn of_mime(mime: &str) -> Self {
        match mime.split('/').next() {
            Some("image") => Self::Image,
            Some("video") => Self::Video,
            Some("audio") => Self::Audio,
            _ => Self::Other,
        }
    }

    /// Gives the kind of outputs that models of a category make: `text-to-video` makes videos, `image-generation`
    /// images. The last word that names a medium is the result's.
    pub fn of_category(category: &str) -> Self {
        category
            .to_ascii_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .rev()
            .find_map(|word| match word.strip_suffix('s').unwrap_or(word) {
                "image" | "img" | "photo" | "picture" | "portrait" | "avatar" | "logo" => {
                    Some(Self::Image)
                }
                "video" | "vid" | "animation" | "movie" | "film" | "lipsync" => Some(Self::Video),
                "audio" | "music" | "speech" | "voice" | "sound" | "song" | "tt" => {
                    Some(Self::Audio)
                }
                "text" | "llm" | "3d" | "json" | "mesh" => Some(Self::Other),
                _ => None,
            })
            .unwrap_or(Self::Other)
    }
}

/// The usual extension of a file of a MIME type; none for what tells nothing, such as `application/octet-stream`.
pub fn extension_of_mime(mime: &str) -> Option<&'static str> {
    let known = |entry: &&(&str, &str, OutputKind)| !mime.is_empty() && entry.1 == mime;
    TYPES.iter().find(known).map(|entry| entry.0)
}

/// The MIME type that an extension stands for.
pub fn known_type(extension: &str) -> Option<&'static str> {
    known(extension).map(|entry| entry.1)
}

fn known(extension: &str) -> Option<&'static (&'static str, &'static str, OutputKind)> {
    TYPES
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(extension))
}

/// `Image/PNG; charset=x` is `image/png`.
pub fn essence(mime: &str) -> String {
    let end = mime.find([';', ',']).unwrap_or(mime.len());
    mime[..end].trim().to_ascii_lowercase()
}

fn by_extension(url: &str) -> Option<&'static (&'static str, &'static str, OutputKind)> {
    let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    path_extension(path).and_then(known)
}

/// The kind by the file name that the query of an address gives, as in `/view?filename=a.mp4`, where its path says none.
pub fn kind_by_query(url: &str) -> Option<OutputKind> {
    let [of_path, of_name] = url_extensions(url);
    match of_path.and_then(known) {
        Some(_) => None,
        None => of_name.and_then(known).map(|(_, _, kind)| *kind),
    }
}

/// The extensions in an address: of its path, and of the file name that its query gives.
pub fn url_extensions(url: &str) -> [Option<&str>; 2] {
    let url = &url[..url.find('#').unwrap_or(url.len())];
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut fields = query.split('&');
    let name = fields.find_map(|field| field.strip_prefix("filename="));
    [path_extension(path), name.and_then(file_extension)]
}

fn path_extension(path: &str) -> Option<&str> {
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    // `https://example.mov` is a host, not a film.
    let (_, file) = path.rsplit_once('/')?;
    file_extension(file)
}

fn file_extension(file: &str) -> Option<&str> {
    let (_, extension) = file.rsplit_once('.')?;
    Some(extension.trim_end_matches(is_trimmed))
}

/// The kind of text in an output, by its form alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputAddress {
    /// `http://` or `https://` with a host and without user name or password, which serve only to deceive
    /// the reader.
    Web,
    /// A path from the root of the service (`/outputs/1.png`).
    Path,
    /// `data:` with its MIME type in lower case; empty where it has none.
    Data(String),
    /// `blob:`
    Blob,
    /// An address all the same, which no browser is given: any other scheme or host.
    Other,
    /// No address.
    Text,
}

impl OutputAddress {
    pub fn of(text: &str) -> Self {
        let url = text.trim_matches(is_trimmed);
        if has_plain_host(url) {
            return Self::Web;
        }
        if let Some(data) = strip_prefix(url, "data:") {
            return Self::Data(essence(data));
        }
        if strip_prefix(url, "blob:").is_some() {
            return Self::Blob;
        }
        match url.strip_prefix('/') {
            Some(rest) if !rest.starts_with(['/', '\\']) => Self::Path,
            None if !url.contains("://") => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Whether an output has to be loaded: it is neither data nor text.
pub fn is_elsewhere(url: &str) -> bool {
    !matches!(
        OutputAddress::of(url),
        OutputAddress::Data(_) | OutputAddress::Text
    )
}

/// An address that a page may hand to the browser as link or media. All strings of a service are
/// hostile: whatever does not become a `SafeUrl` is shown as text.
///
/// As a link [`OutputAddress::Web`], and [`OutputAddress::Path`] from the service's own address; as media
/// also `data:image|video|audio` and `blob:`. All else is refused: other schemes however they are spelt,
/// `//host`, other relative addresses (they would resolve against this page, which the service knows
/// nothing of), and control characters inside (browsers drop some of them, so that `java\nscript:` runs).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SafeUrl(String);

impl SafeUrl {
    /// An address for a link. `service` is the service's address; empty if it is this page's own.
    pub fn link(url: &str, service: &str) -> Option<Self> {
        let url = url.trim_matches(is_trimmed);
        if url.chars().any(char::is_control) {
            return None;
        }
        match OutputAddress::of(url) {
            OutputAddress::Web => Some(Self(url.to_owned())),
            OutputAddress::Path if service.trim().is_empty() => Some(Self(url.to_owned())),
            OutputAddress::Path => {
                has_plain_host(service).then(|| Self(format!("{}{url}", origin(service))))
            }
            _ => None,
        }
    }

    /// An address for `<img>`, `<video>`, `<audio>` and for fetching an output.
    pub fn media(url: &str, service: &str) -> Option<Self> {
        if let Some(link) = Self::link(url, service) {
            return Some(link);
        }
        let url = url.trim_matches(is_trimmed);
        let is_media = match OutputAddress::of(url) {
            OutputAddress::Data(mime) => ["image/", "video/", "audio/"]
                .iter()
                .any(|kind| mime.starts_with(kind)),
            OutputAddress::Blob => true,
            _ => false,
        };
        (is_media && !url.chars().any(char::is_control)).then(|| Self(url.to_owned()))
    }

    /// An address that is fetched, to be saved or read, and never opened: also `data:` of any other type.
    pub fn file(url: &str, service: &str) -> Option<Self> {
        Self::media(url, service).or_else(|| {
            let url = url.trim_matches(is_trimmed);
            let is_data = matches!(OutputAddress::of(url), OutputAddress::Data(_));
            (is_data && !url.chars().any(char::is_control)).then(|| Self(url.to_owned()))
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the browser may open it in a tab of its own.
    pub fn is_link(&self) -> bool {
        let address = OutputAddress::of(&self.0);
        matches!(address, OutputAddress::Web | OutputAddress::Path)
    }
}

impl fmt::Display for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the URL standard strips this character from both ends.
fn is_trimmed(c: char) -> bool {
    c <= ' '
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

fn has_plain_host(url: &str) -> bool {
    let rest = strip_prefix(url, "https://").or_else(|| strip_prefix(url, "http://"));
    rest.is_some_and(|rest| {
        let authority = authority(rest);
        !authority.is_empty()
            && !authority.starts_with(':')
            && !authority.contains(|c: char| c == '@' || c.is_whitespace())
    })
}

/// Browsers take a backslash for a slash here.
fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())]
}

fn origin(service: &str) -> &str {
    let service = service.trim_matches(is_trimmed);
    match service.split_once("://") {
        Some((scheme, rest)) => &service[..scheme.len() + 3 + authority(rest).len()],
        None => service,
    }
}

#[cfg(test)]
mod tests;
