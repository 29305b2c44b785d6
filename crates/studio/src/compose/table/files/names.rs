//! Recognizes names of files, as opposed to addresses.

/// The extensions of pictures, videos and sounds.
const EXTENSIONS: [&str; 25] = [
    "png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff", "avif", "heic", "heif", "mp4",
    "mov", "webm", "mkv", "avi", "m4v", "mp3", "wav", "ogg", "flac", "m4a", "aac", "opus", "jxl",
];

/// Whether a text is the name or the path of a file on some device: `cat.png`, `pictures/cat.png`, `C:\cat.png` or
/// `file:///cat.png`. A path that starts with `/`, or with a host, may be an address.
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
    if is_drive || text.to_ascii_lowercase().starts_with("file:") {
        return true;
    }
    if text.contains(':') || text.starts_with('/') {
        return false;
    }
    match text.split_once('/') {
        Some((first, _)) => !first.contains('.') || matches!(first, "." | ".."),
        None => true,
    }
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
        ] {
            assert!(is_file_name(name), "{name}");
        }
        for address in [
            "https://a.example/cat.png",
            "/outputs/cat.png",
            "a.example/cat.png",
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
