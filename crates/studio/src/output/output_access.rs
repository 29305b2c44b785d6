//! Decides how to show an output that could not be loaded, or whose kind differs from the one that its address
//! suggests. Also makes messages about files that the page can't read because of CORS.
//!
//! The page loads media with CORS and without credentials. With a host that doesn't support CORS, this fails, although
//! an element without CORS could show the same file. The failure looks like a network error. Only a `no-cors` request,
//! whose response can't be read, shows whether the host responds.

use atelier_contract::ApiError;

use crate::output::file_type;
use crate::text::plural::counted;
use atelier_contract::output::{OutputAddress, OutputKind, url_extensions};

/// Information about the file at an address that the address does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileInfo {
    /// The kind of the file from its first bytes or its MIME type.
    pub kind: Option<OutputKind>,
    /// Whether the host forbids reading the file, so that it is loaded without CORS.
    pub is_unreadable: bool,
}

/// The start of a file, as received from its host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileStart {
    pub head: Vec<u8>,
    /// The MIME type; empty if there is none.
    pub mime: String,
}

/// The next step for an output that an element could not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Show the output with the new information.
    Show(FileInfo),
    /// The file exists, but the browser can't show it.
    CannotShow,
    /// The host does not send the file; see [`atelier_engine::output_recovery`].
    Recover,
}

/// Decides the next step. `start`: the start of the file. `is_answered`: whether the host answers a `no-cors` request,
/// which is sent only if the start could not be read. `shown`: the kind that was assumed when the output was shown.
pub fn next_step(
    start: &Result<FileStart, ApiError>,
    is_answered: bool,
    shown: OutputKind,
) -> Step {
    match start {
        Ok(start) => match file_type::kind(&start.head, &start.mime) {
            Some(kind) if kind != shown => Step::Show(FileInfo {
                kind: Some(kind),
                is_unreadable: false,
            }),
            Some(_) => Step::CannotShow,
            None => Step::Recover,
        },
        // Other files are shown as links only, so a file that can't be read is of no use.
        Err(ApiError::Network { .. }) if is_answered && shown != OutputKind::Other => {
            Step::Show(FileInfo {
                kind: None,
                is_unreadable: true,
            })
        }
        Err(_) => Step::Recover,
    }
}

/// Whether the kind can be determined only from the file, because neither its address nor the model's category shows
/// it.
pub fn is_kind_unknown(url: &str, kind: OutputKind) -> bool {
    let is_link = matches!(
        OutputAddress::of(url),
        OutputAddress::Web | OutputAddress::Path
    );
    kind == OutputKind::Other && is_link && url_extensions(url) == [None, None]
}

/// The note next to an output that is displayed but can't be read.
pub const UNREADABLE_NOTE: &str = "The file's host lets this page show it, but not read it (CORS). So it can't be \
    downloaded, copied, kept or packed into a ZIP here. Open it in a new tab, and save it from there.";

/// The reason why an output has no file.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingFileReason {
    /// Its host forbids reading it; the file may exist.
    Unreadable,
    /// Its address can't be fetched.
    NoAddress,
    /// The file was stored in this browser, but no longer is.
    NotStored,
    Failed(ApiError),
}

impl MissingFileReason {
    /// Returns a message that explains the reason and what the user can do.
    pub fn user_message(&self) -> String {
        match self {
            Self::Unreadable => "The file's host does not let this page read it (CORS). The file itself may well be there: \
                                 open it in a new tab, and save it from there."
                .into(),
            Self::NoAddress => "Its address can't be fetched.".into(),
            Self::NotStored => {
                "Its file is not in this browser's storage, and the service did not return it again.".into()
            }
            // The file's host may differ from the service.
            Self::Failed(ApiError::Network { .. }) => {
                "No answer from the file's host. Either the network or the host is down.".into()
            }
            Self::Failed(error) => error.user_message(),
        }
    }
}

/// Counts the outputs that are missing in an archive, by the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissingOutputs {
    unreadable: usize,
    others: usize,
}

impl MissingOutputs {
    /// Counts a missing output.
    pub fn add(&mut self, reason: &MissingFileReason) {
        match reason {
            MissingFileReason::Unreadable => self.unreadable += 1,
            MissingFileReason::NoAddress
            | MissingFileReason::NotStored
            | MissingFileReason::Failed(_) => self.others += 1,
        }
    }

    /// Returns the message about an archive that was saved with this name; `None` if no outputs are missing.
    pub fn message(self, name: &str) -> Option<String> {
        let mut parts = Vec::new();
        if self.others > 0 {
            let outputs = counted(self.others, "output");
            parts.push(format!("{outputs} could not be fetched."));
        }
        if self.unreadable > 0 {
            let outputs = counted(self.unreadable, "output");
            let (are, them) = match self.unreadable {
                1 => ("is", "it"),
                _ => ("are", "them"),
            };
            parts.push(format!(
                "{outputs} {are} missing, because the file's host does not let this page read {them} (CORS): open {them} in a \
                 new tab, and save {them} from there."
            ));
        }
        let is_whole = parts.is_empty();
        (!is_whole).then(|| format!("{name} saved, but {}", parts.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(head: &[u8], mime: &str) -> Result<FileStart, ApiError> {
        Ok(FileStart {
            head: head.to_vec(),
            mime: mime.into(),
        })
    }

    fn network() -> ApiError {
        ApiError::Network {
            detail: "Failed to fetch".into(),
        }
    }

    /// A file on a host without CORS must not be reported as gone, and a network failure must not be reported as
    /// missing CORS.
    #[test]
    fn a_cors_failure_is_neither_a_loss_nor_an_outage() {
        use OutputKind::Image;
        let unreadable = Step::Show(FileInfo {
            kind: None,
            is_unreadable: true,
        });
        let gone = || Err(ApiError::from_status(404, None, None));
        assert_eq!(next_step(&Err(network()), true, Image), unreadable);
        assert_eq!(next_step(&Err(network()), false, Image), Step::Recover);
        assert_eq!(next_step(&gone(), true, Image), Step::Recover);
        let timeout = Err(ApiError::Timeout { after_ms: 30_000 });
        assert_eq!(next_step(&timeout, true, Image), Step::Recover);

        let message = MissingFileReason::Unreadable.user_message();
        assert!(message.contains("CORS") && message.contains("new tab"));
        for word in ["is down", "gone", "No answer", "no longer"] {
            assert!(!message.contains(word), "{word}: {message}");
            assert!(!UNREADABLE_NOTE.contains(word), "{word}");
        }
    }

    /// A video at `wrong.png` is shown as a video, and a file that the browser can't show is not reported as gone.
    #[test]
    fn the_file_determines_how_it_is_shown() {
        use OutputKind::{Image, Video};
        let film = start(b"\0\0\0\x20ftypisom", "image/png");
        let is_film = Step::Show(FileInfo {
            kind: Some(Video),
            is_unreadable: false,
        });
        assert_eq!(next_step(&film, false, Image), is_film);
        assert_eq!(next_step(&film, false, Video), Step::CannotShow);
        let octets = start(b"?", "application/octet-stream");
        assert_eq!(next_step(&octets, false, Image), Step::Recover);
        // For an expired link, the host may send an HTML page.
        let page = start(b"<html>", "text/html");
        assert_eq!(next_step(&page, false, Image), Step::Recover);
    }

    /// The user must know why outputs are missing in an archive.
    #[test]
    fn the_message_for_an_archive_explains_missing_outputs() {
        let mut missing = MissingOutputs::default();
        assert_eq!(missing.message("a.zip"), None);
        missing.add(&MissingFileReason::Failed(network()));
        assert_eq!(
            missing.message("a.zip").unwrap(),
            "a.zip saved, but 1 output could not be fetched."
        );
        let mut missing = MissingOutputs::default();
        missing.add(&MissingFileReason::Unreadable);
        missing.add(&MissingFileReason::Unreadable);
        assert_eq!(
            missing.message("a.zip").unwrap(),
            "a.zip saved, but 2 outputs are missing, because the file's host does not let this page read them (CORS): \
             open them in a new tab, and save them from there."
        );
    }
}
