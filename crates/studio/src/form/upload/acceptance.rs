//! Decides which files a media parameter accepts, before and after they are uploaded.

use atelier_contract::{Media, UploadLimits, Uploaded};

use super::LocalFile;
use crate::output::output_cache::size;

/// Types whose content is not known, so that the service decides.
const UNKNOWN: [&str; 3] = ["", "application/octet-stream", "application/ogg"];

/// Whether a service accepts uploads.
#[derive(Debug, Clone, PartialEq)]
pub enum Support {
    /// The model list is not loaded: the service decides.
    Unknown,
    No,
    Yes(UploadLimits),
}

/// Returns the medium of a media type.
pub fn media_of(media_type: &str) -> Option<Media> {
    match media_type.split_once('/')?.0 {
        "image" => Some(Media::Image),
        "video" => Some(Media::Video),
        "audio" => Some(Media::Audio),
        _ => None,
    }
}

/// Returns the value of `accept` for a file input.
pub fn accept(media: Media, support: &Support) -> String {
    let types = types_of(media, support);
    match types.is_empty() {
        true => format!("{}/*", prefix(media)),
        false => types.join(","),
    }
}

/// Returns why a file can't be uploaded for a parameter, and what to do; `None` if it can.
pub fn refusal(
    file: &LocalFile,
    parameter: &str,
    media: Media,
    support: &Support,
) -> Option<String> {
    let name = &file.name;
    if file.bytes == 0 {
        return Some(format!("{name} is empty (0 bytes). Choose another file."));
    }
    let media_type = normal(&file.media_type);
    let is_known = !UNKNOWN.contains(&media_type.as_str());
    if is_known && media_of(&file.media_type) != Some(media) {
        return Some(wrong_medium(name, &file.media_type, parameter, media));
    }
    if *support == Support::No {
        return Some(no_uploads(name));
    }
    let Support::Yes(limits) = support else {
        return None;
    };
    if is_known && !limits.types.is_empty() && !limits.types.contains(&media_type) {
        let formats = formats(&types_of(media, support));
        let choose = match formats.is_empty() {
            true => "Enter an address.".to_owned(),
            false => format!("Choose a file of type {formats}, or enter an address."),
        };
        return Some(format!(
            "{name} is {media_type}, which this service does not accept. {choose}"
        ));
    }
    (file.bytes > limits.max_bytes).then(|| {
        let (bytes, most) = (size(file.bytes), size(limits.max_bytes));
        format!(
            "{name} has {bytes}; this service accepts at most {most}. Choose a smaller file, or enter an address."
        )
    })
}

/// Returns why a file that was uploaded does not fit its parameter, by the type that the service found.
pub fn refusal_of_uploaded(
    file: &LocalFile,
    parameter: &str,
    media: Media,
    uploaded: &Uploaded,
) -> Option<String> {
    let found = &uploaded.media_type;
    // Some services report sounds in an MP4 container as video.
    let is_fit = media_of(found).is_none_or(|of| of == media)
        || (media == Media::Audio && found == "video/mp4");
    (!is_fit).then(|| wrong_medium(&file.name, found, parameter, media))
}

/// Whether a copy of a file can be put into the request instead, because the service accepts no uploads.
pub fn can_embed(file: &LocalFile, media: Media, support: &Support) -> bool {
    let is_only_reason =
        refusal(file, "", media, &Support::Unknown).is_none() && *support == Support::No;
    media == Media::Image && is_only_reason
}

/// Returns the message for a file that was moved, deleted or changed since it was chosen.
pub fn unreadable_file(name: &str) -> String {
    format!("{name} can't be read any more. Choose it again.")
}

/// Returns the message for a service without uploads.
pub fn no_uploads(name: &str) -> String {
    format!("This service takes addresses only: enter the address of {name} instead of the file.")
}

fn wrong_medium(name: &str, media_type: &str, parameter: &str, media: Media) -> String {
    let what = what(media);
    format!(
        "{name} is {media_type}, but {parameter} takes {what}. Choose {what}, or enter an address."
    )
}

/// The message if the browser does not allow the page to read the clipboard.
pub const DENIED_CLIPBOARD: &str = "The browser does not allow reading the clipboard. Paste with the keyboard instead, or choose a file.";

/// Returns the message for a clipboard with neither a file of this medium nor an address.
pub fn empty_clipboard(media: Media) -> String {
    let what = what(media);
    format!(
        "The clipboard has no {}. Copy {what} or its address, then paste.",
        prefix_word(media)
    )
}

/// Names a file of this medium.
fn what(media: Media) -> &'static str {
    match media {
        Media::Image => "an image",
        Media::Video => "a video",
        Media::Audio => "a sound",
    }
}

fn prefix_word(media: Media) -> &'static str {
    match media {
        Media::Audio => "sound",
        other => prefix(other),
    }
}

fn prefix(media: Media) -> &'static str {
    match media {
        Media::Image => "image",
        Media::Video => "video",
        Media::Audio => "audio",
    }
}

/// Returns the accepted types of a medium.
fn types_of(media: Media, support: &Support) -> Vec<String> {
    match support {
        Support::Yes(limits) => {
            let types = limits.types.iter();
            types
                .filter(|it| media_of(it) == Some(media))
                .cloned()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the name by which services list a type. Browsers have several for some of them.
fn normal(media_type: &str) -> String {
    let plain = media_type.split(';').next().unwrap_or_default();
    let plain = plain.trim().to_ascii_lowercase().replace("/x-", "/");
    match plain.as_str() {
        "image/jpg" | "image/pjpeg" => "image/jpeg".into(),
        "audio/mp3" | "audio/mpeg3" => "audio/mpeg".into(),
        "audio/wave" | "audio/vnd.wave" => "audio/wav".into(),
        "audio/m4a" | "audio/mp4" | "video/m4v" => "video/mp4".into(),
        _ => plain,
    }
}

/// Lists types for the user: `PNG, JPEG or WebP`.
fn formats(types: &[String]) -> String {
    let mut names: Vec<String> = types.iter().map(|it| format(it)).collect();
    let last = names.pop().unwrap_or_default();
    match names.is_empty() {
        true => last,
        false => format!("{} or {last}", names.join(", ")),
    }
}

fn format(media_type: &str) -> String {
    let name = media_type
        .split_once('/')
        .map_or(media_type, |(_, name)| name);
    match name {
        "webp" => "WebP".into(),
        "webm" => "WebM".into(),
        "quicktime" => "QuickTime".into(),
        "mpeg" => "MP3".into(),
        "ogg" => "Ogg".into(),
        _ => name.to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Support {
        let types = [
            "image/png",
            "image/jpeg",
            "image/webp",
            "video/mp4",
            "audio/wav",
        ];
        Support::Yes(UploadLimits {
            max_bytes: 50_000_000,
            types: types.map(str::to_owned).to_vec(),
            ttl_seconds: None,
        })
    }

    fn file(name: &str, media_type: &str, bytes: u64) -> LocalFile {
        LocalFile {
            name: name.into(),
            media_type: media_type.into(),
            bytes,
            last_modified: None,
        }
    }

    fn of(file: &LocalFile, media: Media) -> Option<String> {
        refusal(file, "source", media, &limits())
    }

    #[test]
    fn accepts_files_of_the_medium_within_the_limits() {
        for (media_type, media) in [
            ("image/png", Media::Image),
            ("image/jpg", Media::Image),
            ("audio/x-wav", Media::Audio),
            ("audio/wave", Media::Audio),
            ("audio/x-m4a", Media::Audio),
            ("video/x-m4v", Media::Video),
            ("", Media::Image),
            ("application/octet-stream", Media::Video),
        ] {
            let of = of(&file("a", media_type, 50_000_000), media);
            assert_eq!(of, None, "{media_type}");
        }
    }

    #[test]
    fn refusals_name_the_file_the_value_and_what_to_do() {
        for (file, message) in [
            (
                file("a.png", "image/png", 0),
                "a.png is empty (0 bytes). Choose another file.",
            ),
            (
                file("notes.txt", "text/plain", 5),
                "notes.txt is text/plain, but source takes an image. Choose an image, or enter an address.",
            ),
            (
                file("a.mp4", "video/mp4", 5),
                "a.mp4 is video/mp4, but source takes an image. Choose an image, or enter an address.",
            ),
            (
                file("a.heic", "image/heic", 5),
                "a.heic is image/heic, which this service does not accept. Choose a file of type PNG, JPEG or WebP, \
                 or enter an address.",
            ),
            (
                file("a.png", "image/png", 62_000_000),
                "a.png has 62 MB; this service accepts at most 50 MB. Choose a smaller file, or enter an address.",
            ),
        ] {
            assert_eq!(of(&file, Media::Image).as_deref(), Some(message));
        }
    }

    #[test]
    fn without_uploads_every_file_is_refused() {
        let refused = refusal(
            &file("a.png", "image/png", 5),
            "source",
            Media::Image,
            &Support::No,
        );
        let message =
            "This service takes addresses only: enter the address of a.png instead of the file.";
        assert_eq!(refused.as_deref(), Some(message));
    }

    /// Guards against a video that is offered as a picture inside the request.
    #[test]
    fn without_uploads_a_file_must_still_be_of_the_medium() {
        for (file, media, can_be_embedded) in [
            (file("a.png", "image/png", 5), Media::Image, true),
            (file("a", "", 5), Media::Image, true),
            (file("a.mp4", "video/mp4", 5), Media::Image, false),
            (file("a.png", "image/png", 0), Media::Image, false),
            (file("a.mp4", "video/mp4", 5), Media::Video, false),
        ] {
            let embedded = can_embed(&file, media, &Support::No);
            assert_eq!(embedded, can_be_embedded, "{file:?}");
            assert!(!can_embed(&file, media, &limits()));
        }
        let video = refusal(
            &file("a.mp4", "video/mp4", 5),
            "source",
            Media::Image,
            &Support::No,
        );
        assert!(video.is_some_and(|message| message.starts_with("a.mp4 is video/mp4")));
    }

    #[test]
    fn unlisted_limits_leave_the_decision_to_the_service() {
        let large = file("a.heic", "image/heic", u64::MAX);
        assert_eq!(
            refusal(&large, "source", Media::Image, &Support::Unknown),
            None
        );
        let any_type = Support::Yes(UploadLimits {
            max_bytes: u64::MAX,
            ..UploadLimits::default()
        });
        assert_eq!(refusal(&large, "source", Media::Image, &any_type), None);
    }

    #[test]
    fn the_type_that_the_service_found_counts() {
        let check = |media, found: &str| {
            let uploaded = Uploaded {
                media_type: found.into(),
                ..Uploaded::default()
            };
            refusal_of_uploaded(&file("a.bin", "", 5), "source", media, &uploaded)
        };
        assert_eq!(check(Media::Image, "image/png"), None);
        assert_eq!(check(Media::Image, ""), None);
        assert_eq!(check(Media::Audio, "video/mp4"), None);
        assert!(check(Media::Image, "video/mp4").is_some());
        assert!(check(Media::Video, "audio/ogg").is_some());
    }

    #[test]
    fn accept_lists_the_types_of_the_medium() {
        assert_eq!(
            accept(Media::Image, &limits()),
            "image/png,image/jpeg,image/webp"
        );
        assert_eq!(accept(Media::Audio, &Support::No), "audio/*");
        assert_eq!(accept(Media::Video, &Support::Unknown), "video/*");
    }
}
