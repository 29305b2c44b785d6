//! Files of the user for media parameters: which files are accepted (`acceptance`), the state of one upload (`state`), what
//! Generate does while uploads run (`pending`), pictures inside the request (`embedding`), uploads that continue after a
//! reload (`stored`, `unfinished`), the names of uploaded files (`remembered`), files that the service no longer has (`expiry`),
//! the removal of location and camera data (`metadata`), and
//! formats that browsers can't read (`unreadable`).

pub mod acceptance;
pub mod embedding;
pub mod expiry;
pub mod metadata;
pub mod pending;
pub mod remembered;
pub mod state;
pub mod stored;
pub mod unfinished;
pub mod unreadable;

use atelier_contract::{Media, Uploaded};
use serde::{Deserialize, Serialize};

use crate::output::output_cache;

/// A file on the user's device. Browsers store it with an upload, so names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalFile {
    pub name: String,
    /// The media type that the browser reports; empty if unknown.
    pub media_type: String,
    pub bytes: u64,
    /// When the file was changed, in milliseconds since 1970, if it is known.
    pub last_modified: Option<f64>,
}

impl LocalFile {
    /// Whether two files are certainly the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.last_modified.is_some() && self == other
    }
}

/// Describes an uploaded file: `cat.jpg, 1600 × 1200 px, 183 kB`.
pub fn description(name: &str, uploaded: &Uploaded) -> String {
    let mut parts = vec![name.to_owned()];
    if let Some((width, height)) = uploaded.size {
        parts.push(format!("{width} × {height} px"));
    }
    parts.extend(uploaded.bytes.map(output_cache::size));
    if uploaded.url.starts_with("data:") {
        parts.push("in the request".to_owned());
    }
    parts.join(", ")
}

/// Returns the message of a failed upload, which names the file.
pub fn failure_message(name: &str, message: &str) -> String {
    match name.is_empty() || message.contains(name) {
        true => message.to_owned(),
        false => format!("{name}: {message}"),
    }
}

/// Returns the index of the media field that takes a pasted file: the first empty one of this medium, else the first one.
/// `fields`: the medium of each field, and whether it is empty.
pub fn paste_target(fields: &[(Media, bool)], media: Media) -> Option<usize> {
    let find = |is_fit: &dyn Fn(bool) -> bool| {
        let is_it = |(of, is_empty): &(Media, bool)| *of == media && is_fit(*is_empty);
        fields.iter().position(is_it)
    };
    find(&|is_empty| is_empty).or_else(|| find(&|_| true))
}

/// Returns the message for a drop of several files on a field for one.
pub fn several_message(used: &str, count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        _ => format!("Only one of {count} files is used: {used}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_file_fills_the_first_empty_field_of_its_medium() {
        let fields = [
            (Media::Video, true),
            (Media::Image, false),
            (Media::Image, true),
        ];
        assert_eq!(paste_target(&fields, Media::Image), Some(2));
        assert_eq!(paste_target(&fields[..2], Media::Image), Some(1));
        assert_eq!(paste_target(&fields, Media::Video), Some(0));
        assert_eq!(paste_target(&fields, Media::Audio), None);
    }

    #[test]
    fn describes_what_is_known_of_an_upload() {
        let mut uploaded = Uploaded {
            bytes: Some(183_044),
            size: Some((1600, 1200)),
            ..Uploaded::default()
        };
        assert_eq!(
            description("cat.jpg", &uploaded),
            "cat.jpg, 1600 × 1200 px, 183.1 kB"
        );
        uploaded.size = None;
        uploaded.bytes = None;
        assert_eq!(description("cat.jpg", &uploaded), "cat.jpg");
        uploaded.url = "data:image/png;base64,AA".into();
        assert_eq!(description("cat.jpg", &uploaded), "cat.jpg, in the request");
    }

    #[test]
    fn failures_name_the_file() {
        let message = "The service refused (HTTP 402).";
        assert_eq!(
            failure_message("a.png", message),
            "a.png: The service refused (HTTP 402)."
        );
        assert_eq!(failure_message("", message), message);
        assert_eq!(
            failure_message("a.png", "a.png is empty."),
            "a.png is empty."
        );
    }

    #[test]
    fn files_of_unknown_date_are_not_the_same() {
        let file = LocalFile {
            name: "cat.jpg".into(),
            media_type: "image/jpeg".into(),
            bytes: 3,
            last_modified: Some(5.0),
        };
        let pasted = LocalFile {
            last_modified: None,
            ..file.clone()
        };
        assert!(file.is_same(&file.clone()));
        assert!(!pasted.is_same(&pasted.clone()) && !file.is_same(&pasted));
    }

    #[test]
    fn names_the_file_that_is_used_of_several() {
        assert_eq!(several_message("a.png", 1), "");
        assert_eq!(
            several_message("a.png", 3),
            "Only one of 3 files is used: a.png."
        );
    }
}
