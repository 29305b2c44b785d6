//! Recognizes names of files, as opposed to addresses.

/// The extensions of pictures, videos and sounds.
const EXTENSIONS: [&str; 46] = [
    "png", "apng", "jpg", "jpeg", "jpe", "jfif", "pjpeg", "pjp", "webp", "gif", "bmp", "ico",
    "tif", "tiff", "avif", "heic", "heif", "hif", "jxl", "jp2", "svg", "dng", "mp4", "m4v", "mov",
    "qt", "webm", "mkv", "avi", "mpg", "mpeg", "ogv", "wmv", "3gp", "mp3", "wav", "ogg", "oga",
    "weba", "flac", "m4a", "aac", "opus", "aif", "aiff", "wma",
];

/// Whether a text is the name or the path of a file on some device: `cat.png`, `my.pictures/cat.png`, `C:\cat.png` or
/// `file:///cat.png`. A path that starts with `/` may be an address at the service. A host without a scheme looks like a
/// folder, and no service can fetch it.
pub fn is_file_name(text: &str) -> bool {
    let text = text.trim();
    let extension = last_component(text).rsplit_once('.').map(|(_, it)| it);
    let is_media = extension.is_some_and(|extension| {
        let mut known = EXTENSIONS.iter();
        known.any(|known| known.eq_ignore_ascii_case(extension))
    });
    if !is_media || text.contains('\n') {
        return false;
    }
    let is_drive =
        matches!(text.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let is_file_url = text.to_ascii_lowercase().starts_with("file:");
    is_drive || is_file_url || !(has_scheme(text) || text.starts_with('/'))
}

/// Whether a text starts like an address: with a scheme and a colon. Names of files may contain colons elsewhere.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        !rest.starts_with(char::is_whitespace) && scheme.chars().all(is_of_scheme)
    })
}

/// Returns the name of a file without its folders.
pub fn last_component(path: &str) -> &str {
    let path = path.trim();
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_not_addresses() {
        for name in [
            "cat.png",
            " Cat.JPG ",
            "pictures/cat.png",
            "./cat.webp",
            r"C:\pictures\cat.png",
            r"pictures\cat.png",
            "file:///home/me/cat.png",
            "cat.jfif",
            "cat.JPE",
            "my.folder/cat.png",
            "2024.05.01/holiday photos/cat.png",
            "~/cat.mpeg",
            r"\\server\share\cat.png",
            "Screenshot 10: 20.png",
        ] {
            assert!(is_file_name(name), "{name}");
        }
        for address in [
            "https://a.example/cat.png",
            "/outputs/cat.png",
            "//a.example/cat.png",
            "blob:https://a.example/cat.png",
            "https://a.example/cat.png?size=1",
            "data:image/png;base64,AA",
            "cat",
            "cat.pngx",
            "",
            "png",
        ] {
            assert!(!is_file_name(address), "{address}");
        }
        assert_eq!(last_component(r" C:\a\cat.png"), "cat.png");
        assert_eq!(last_component("a/b/cat.png"), "cat.png");
    }
}
