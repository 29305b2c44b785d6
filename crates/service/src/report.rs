//! What a model reports about a running task: the completed fraction, a message, and a preview.

use sha2::{Digest, Sha256};

/// The start of a line with a fraction, in the output of a program.
const MARK: &str = "progress";

/// The maximum length of a message, in characters.
const MAX_MESSAGE: usize = 2000;

/// A report about a running task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The completed fraction of the task, 0 to 1, if it is known.
    pub fraction: Option<f64>,
    /// Empty if there is none.
    pub message: String,
    /// The file name of the newest preview.
    pub preview: Option<String>,
}

impl Report {
    pub fn message(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Creates a report of a fraction, which is limited to 0 to 1, in thousandths. One that is not a number is ignored.
    pub fn fraction(fraction: f64) -> Self {
        let fraction = (fraction.clamp(0.0, 1.0) * 1000.0).round() / 1000.0;
        Self {
            fraction: fraction.is_finite().then_some(fraction),
            ..Self::default()
        }
    }

    /// Parses a line such as `progress 0.4 sampling`; `None` if it does not begin with `progress` and a number from 0 to 1.
    pub fn parse(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix(MARK)?;
        let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
        let (number, message) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let fraction: f64 = number.parse().ok()?;
        (0.0..=1.0).contains(&fraction).then(|| Self {
            message: message.trim().to_owned(),
            ..Self::fraction(fraction)
        })
    }

    /// Replaces the parts that `newer` has. Returns whether any has changed.
    pub fn update(&mut self, newer: Self) -> bool {
        let before = self.clone();
        self.fraction = newer.fraction.or(self.fraction);
        if !newer.message.is_empty() {
            // PostgreSQL can't store a NUL in text.
            let message = newer.message.chars().filter(|c| *c != '\0');
            self.message = message.take(MAX_MESSAGE).collect();
        }
        self.preview = newer.preview.or(self.preview.take());
        *self != before
    }
}

/// A small picture of the unfinished result of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The file name. It depends on the picture, so that each one has its own address.
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Preview {
    /// The maximum size of a preview.
    pub const MAX_BYTES: usize = 256 << 10;

    /// Creates a preview from a PNG or JPEG picture; `None` if it is another file, or larger than [`Self::MAX_BYTES`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let extension = match infer::get(bytes)?.mime_type() {
            "image/jpeg" => "jpg",
            "image/png" => "png",
            _ => return None,
        };
        (bytes.len() <= Self::MAX_BYTES).then(|| Self {
            name: format!(
                "preview_{}.{extension}",
                hex::encode(&Sha256::digest(bytes)[..8])
            ),
            bytes: bytes.to_vec(),
        })
    }

    pub fn content_type(&self) -> &'static str {
        if self.name.ends_with(".png") {
            "image/png"
        } else {
            "image/jpeg"
        }
    }

    /// Returns the task of a URL path such as `/outputs/3f…/preview_….jpg`; `None` if it is not the path of a preview.
    pub fn task_of(path: &str) -> Option<&str> {
        let inner = path
            .strip_prefix(crate::outputs::ROUTE)?
            .strip_prefix('/')?;
        let (task, name) = inner.split_once('/')?;
        let is_preview = name.starts_with("preview_") && !name.contains('/');
        is_preview.then_some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(fraction: f64, message: &str) -> Report {
        Report {
            fraction: Some(fraction),
            ..Report::message(message)
        }
    }

    #[test]
    fn a_line_with_a_fraction_is_parsed() {
        let parse = Report::parse;
        assert_eq!(
            parse("progress 0.4 step 8 of 20"),
            Some(report(0.4, "step 8 of 20"))
        );
        assert_eq!(parse("  progress\t1 "), Some(report(1.0, "")));
        for other in [
            "progress",
            "progress 2",
            "progress 1.5",
            "progress -1",
            "progress NaN",
            "progress inf",
            "progress 40%",
            "progressing 0.4",
            "progress: 0.4",
            "in progress 0.4",
            "",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_report_replaces_only_the_parts_that_it_has() {
        let mut current = Report::message("loading");
        assert!(current.update(Report::fraction(0.1)));
        assert_eq!(current, report(0.1, "loading"));
        assert!(current.update(Report::message("sampling")));
        assert_eq!(current, report(0.1, "sampling"));
        assert!(!current.update(Report::message("sampling")));
        assert!(!current.update(Report::fraction(0.1000001)));
    }

    #[test]
    fn a_fraction_is_limited_and_a_message_shortened() {
        assert_eq!(Report::fraction(f64::NAN), Report::default());
        assert_eq!(Report::fraction(1.5).fraction, Some(1.0));
        assert_eq!(Report::fraction(-0.1).fraction, Some(0.0));
        let mut current = Report::default();
        current.update(Report::message(format!("a\0{}", "é".repeat(5000))));
        assert!(current.message.starts_with("aé"));
        assert_eq!(current.message.chars().count(), MAX_MESSAGE);
    }

    #[test]
    fn a_preview_is_a_small_picture() {
        let png = b"\x89PNG\r\n\x1a\nrest".to_vec();
        let preview = Preview::new(&png).unwrap();
        assert_eq!(preview.content_type(), "image/png");
        assert_eq!(
            Preview::task_of(&format!("/outputs/3f/{}", preview.name)),
            Some("3f")
        );
        let jpeg = Preview::new(b"\xff\xd8\xff\xe0rest").unwrap();
        assert_eq!(jpeg.content_type(), "image/jpeg");
        assert_eq!(
            Preview::new(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            None
        );
        assert_eq!(Preview::new(b""), None);
        let large = [&png[..], &vec![0; Preview::MAX_BYTES]].concat();
        assert_eq!(Preview::new(&large), None);
        for other in [
            "/outputs/3f/0.png",
            "/outputs/previews/a.png",
            "/preview_1.png",
        ] {
            assert_eq!(Preview::task_of(other), None, "{other}");
        }
    }
}
