//! Determines the kind of an output from its URL, and decides whether the URL is safe to use as a link or as media.

use std::fmt;

/// The kind of an output, determined before it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Image,
    Video,
    Audio,
    Other,
}

/// The known types: extension, MIME type and kind. The first entry of a MIME type has its preferred extension.
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

    /// Returns the name used in URLs and style sheets.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Other => "other",
        }
    }

    /// Returns the label of an output of this kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::Image => "Image",
            Self::Video => "Video",
            Self::Audio => "Audio",
            Self::Other => "Output",
        }
    }

    /// Determines the kind from the type of a `data:` URL or the extension in the path, or else from the model's
    /// `category`. Once the file is loaded, its bytes determine the kind.
    pub fn of(url: &str, category: &str) -> Self {
        let kind = match OutputAddress::of(url) {
            OutputAddress::Data(mime) => Some(Self::of_mime(&mime)),
            _ => by_extension(url).map(|(_, _, kind)| *kind),
        };
        kind.unwrap_or_else(|| Self::of_category(category))
    }

    /// Returns the kind of a MIME type.
    pub fn of_mime(mime: &str) -> Self {
        match mime.split('/').next() {
            Some("image") => Self::Image,
            Some("video") => Self::Video,
            Some("audio") => Self::Audio,
            _ => Self::Other,
        }
    }

    /// Returns the kind of outputs that models of a category create: `text-to-video` creates videos, `image-generation`
    /// images. The last word that names a medium counts.
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

/// Returns the preferred extension of a MIME type; `None` for unspecific types such as `application/octet-stream`.
pub fn extension_of_mime(mime: &str) -> Option<&'static str> {
    let known = |entry: &&(&str, &str, OutputKind)| !mime.is_empty() && entry.1 == mime;
    TYPES.iter().find(known).map(|entry| entry.0)
}

/// Returns the MIME type of an extension.
pub fn known_type(extension: &str) -> Option<&'static str> {
    known(extension).map(|entry| entry.1)
}

fn known(extension: &str) -> Option<&'static (&'static str, &'static str, OutputKind)> {
    TYPES
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(extension))
}

/// Returns the MIME type without parameters, in lower case: `image/png` for `Image/PNG; charset=x`.
pub fn mime_essence(mime: &str) -> String {
    let end = mime.find([';', ',']).unwrap_or(mime.len());
    mime[..end].trim().to_ascii_lowercase()
}

fn by_extension(url: &str) -> Option<&'static (&'static str, &'static str, OutputKind)> {
    let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    path_extension(path).and_then(known)
}

/// Returns the kind by the file name in the query of a URL, as in `/view?filename=a.mp4`, if the path has no known
/// extension.
pub fn kind_by_query(url: &str) -> Option<OutputKind> {
    let [of_path, of_name] = url_extensions(url);
    match of_path.and_then(known) {
        Some(_) => None,
        None => of_name.and_then(known).map(|(_, _, kind)| *kind),
    }
}

/// Returns the extensions in a URL: of its path, and of the file name in its query.
pub fn url_extensions(url: &str) -> [Option<&str>; 2] {
    let url = &url[..url.find('#').unwrap_or(url.len())];
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut fields = query.split('&');
    let name = fields.find_map(|field| field.strip_prefix("filename="));
    [path_extension(path), name.and_then(file_extension)]
}

fn path_extension(path: &str) -> Option<&str> {
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    // `https://example.mov` is a host, not a video.
    let (_, file) = path.rsplit_once('/')?;
    file_extension(file)
}

fn file_extension(file: &str) -> Option<&str> {
    let (_, extension) = file.rsplit_once('.')?;
    Some(extension.trim_end_matches(is_trimmed))
}

/// The kind of an address, determined only from its syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputAddress {
    /// `http://` or `https://` with a host. URLs with a user name or password are excluded, because they are used for
    /// phishing.
    Web,
    /// A path from the root of the service (`/outputs/1.png`).
    Path,
    /// A `data:` URL, with its MIME type in lower case; empty if there is none.
    Data(String),
    /// A `blob:` URL.
    Blob,
    /// Any other URL, which is never passed to the browser.
    Other,
    /// Not a URL.
    Text,
}

impl OutputAddress {
    /// Classifies a text.
    pub fn of(text: &str) -> Self {
        let url = text.trim_matches(is_trimmed);
        if has_plain_host(url) {
            return Self::Web;
        }
        if let Some(data) = strip_prefix(url, "data:") {
            return Self::Data(mime_essence(data));
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

/// Whether the output must be loaded: it is neither a data URL nor text.
pub fn needs_loading(url: &str) -> bool {
    !matches!(
        OutputAddress::of(url),
        OutputAddress::Data(_) | OutputAddress::Text
    )
}

/// A URL that a page may use as link or media. All strings from a service are untrusted: those that are not a `SafeUrl`
/// are shown as text.
///
/// As a link: [`OutputAddress::Web`], and [`OutputAddress::Path`] relative to the service's address. As media also
/// `data:image|video|audio` and `blob:`. All other URLs are refused: other schemes in any spelling, `//host`, other
/// relative URLs (they would resolve against this page), and URLs with control characters (browsers drop some of them,
/// so that `java\nscript:` runs).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SafeUrl(String);

impl SafeUrl {
    /// Returns a URL for a link. `service` is the service's address; empty for this page's own origin.
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

    /// Returns a URL for `<img>`, `<video>`, `<audio>` and for fetching an output.
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

    /// Returns a URL for fetching a file that is saved or read, but never opened. Accepts `data:` URLs of all types.
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

    /// Whether the browser may open the URL in a new tab.
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

/// Returns the authority of a URL. Browsers treat a backslash like a slash here.
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
