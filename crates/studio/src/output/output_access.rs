//! Decides how an output is shown that could not be loaded, or is of another kind than its address says; and says what the page
//! can't do with a file whose host refuses to let it be read (CORS).
//!
//! The page loads media with CORS, and without credentials. A host that knows nothing of CORS refuses that, though a plain
//! element shows the same file. For a page such a refusal looks like a broken network: only a request that asks for nothing to
//! read tells one from the other.

use atelier_contract::ApiError;

use crate::output::file_type;
use crate::text::plural::counted;
use atelier_contract::output::{OutputAddress, OutputKind, url_extensions};

/// The knowledge about the file at an address, beyond the address itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Learned {
    /// The kind that the file is of, by its first bytes or its MIME type.
    pub kind: Option<OutputKind>,
    /// Its host does not let the page read it: it is loaded without CORS.
    pub is_unreadable: bool,
}

/// The start of a file, as its host gives it to the page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileStart {
    pub head: Vec<u8>,
    /// The MIME type; empty where none is given.
    pub mime: String,
}

/// The next step for an output that an element could not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Show it by what is known of it now.
    Show(Learned),
    /// The file is there, and the browser can't show it.
    CannotShow,
    /// Its host gives no file: see [`atelier_engine::output_recovery`].
    Recover,
}

/// Decides by the start of the file, and by whether its host answers a request of which nothing is read (asked only where the
/// start could not be read). `shown`: the kind it was shown as.
pub fn next(start: &Result<FileStart, ApiError>, is_answered: bool, shown: OutputKind) -> Step {
    match start {
        Ok(start) => match file_type::kind(&start.head, &start.mime) {
            Some(kind) if kind != shown => Step::Show(Learned {
                kind: Some(kind),
                is_unreadable: false,
            }),
            Some(_) => Step::CannotShow,
            None => Step::Recover,
        },
        // A text is not shown: its address is.
        Err(ApiError::Network { .. }) if is_answered && shown != OutputKind::Other => {
            Step::Show(Learned {
                kind: None,
                is_unreadable: true,
            })
        }
        Err(_) => Step::Recover,
    }
}

/// Whether only the file itself can say what it is: neither its address nor the model's category does.
pub fn is_kind_unknown(url: &str, kind: OutputKind) -> bool {
    let is_link = matches!(
        OutputAddress::of(url),
        OutputAddress::Web | OutputAddress::Path
    );
    kind == OutputKind::Other && is_link && url_extensions(url) == [None, None]
}

/// The note next to an output that is shown without being readable.
pub const UNREADABLE_NOTE: &str = "The file's host lets this page show it, but not read it (CORS). So it can't be \
    downloaded, copied, kept or packed into a ZIP here. Open it in a new tab, and save it from there.";

/// Why there is no file of an output.
#[derive(Debug, Clone, PartialEq)]
pub enum NoFile {
    /// Its host does not let the page read it, which does not mean that the file is gone.
    Unreadable,
    /// Its address is none that can be fetched.
    NoAddress,
    /// It was stored in this browser, and is not there any more.
    NotStored,
    Failed(ApiError),
}

impl NoFile {
    /// What happened and what to do, for a person.
    pub fn user_message(&self) -> String {
        match self {
            Self::Unreadable => "The file's host does not let this page read it (CORS). The file itself may well be there: \
                                 open it in a new tab, and save it from there."
                .into(),
            Self::NoAddress => "Its address is none that can be fetched.".into(),
            Self::NotStored => {
                "Its file can't be found in this browser's storage, and the service has not given it again.".into()
            }
            // The file may lie elsewhere than the service.
            Self::Failed(ApiError::Network { .. }) => {
                "No answer from the file's host. Either the network or the host is down.".into()
            }
            Self::Failed(error) => error.user_message(),
        }
    }
}

/// How many outputs an archive lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missing {
    unreadable: usize,
    others: usize,
}

impl Missing {
    pub fn add(&mut self, reason: &NoFile) {
        match reason {
            NoFile::Unreadable => self.unreadable += 1,
            NoFile::NoAddress | NoFile::NotStored | NoFile::Failed(_) => self.others += 1,
        }
    }

    /// The message for an archive that was saved under this name, where it lacks something.
    pub fn note(self, name: &str) -> Option<String> {
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
                "{outputs} {are} not in it, because the file's host does not let this page read {them} (CORS): open {them} in a \
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

    /// Guards against a host without CORS whose files are reported as gone, and against a network that is down being taken
    /// for such a host.
    #[test]
    fn a_refusal_by_cors_is_neither_loss_nor_outage() {
        use OutputKind::Image;
        let unreadable = Step::Show(Learned {
            kind: None,
            is_unreadable: true,
        });
        let gone = || Err(ApiError::from_status(404, None, None));
        assert_eq!(next(&Err(network()), true, Image), unreadable);
        assert_eq!(next(&Err(network()), false, Image), Step::Recover);
        assert_eq!(next(&gone(), true, Image), Step::Recover);
        let timeout = Err(ApiError::Timeout { after_ms: 30_000 });
        assert_eq!(next(&timeout, true, Image), Step::Recover);

        let message = NoFile::Unreadable.user_message();
        assert!(message.contains("CORS") && message.contains("new tab"));
        for word in ["is down", "gone", "No answer", "no longer"] {
            assert!(!message.contains(word), "{word}: {message}");
            assert!(!UNREADABLE_NOTE.contains(word), "{word}");
        }
    }

    /// Guards against a film at `wrong.png` that stays a broken picture, and a file that the browser can't show being said to
    /// be gone.
    #[test]
    fn the_file_decides_what_it_is_shown_as() {
        use OutputKind::{Image, Video};
        let film = start(b"\0\0\0\x20ftypisom", "image/png");
        let is_film = Step::Show(Learned {
            kind: Some(Video),
            is_unreadable: false,
        });
        assert_eq!(next(&film, false, Image), is_film);
        assert_eq!(next(&film, false, Video), Step::CannotShow);
        let octets = start(b"?", "application/octet-stream");
        assert_eq!(next(&octets, false, Image), Step::Recover);
        // An expired link may be answered with a page.
        let page = start(b"<html>", "text/html");
        assert_eq!(next(&page, false, Image), Step::Recover);
    }

    /// Guards against an archive that holds 1 of 3 outputs without a reason.
    #[test]
    fn an_archive_says_what_it_lacks_and_why() {
        let mut missing = Missing::default();
        assert_eq!(missing.note("a.zip"), None);
        missing.add(&NoFile::Failed(network()));
        assert_eq!(
            missing.note("a.zip").unwrap(),
            "a.zip saved, but 1 output could not be fetched."
        );
        let mut missing = Missing::default();
        missing.add(&NoFile::Unreadable);
        missing.add(&NoFile::Unreadable);
        assert_eq!(
            missing.note("a.zip").unwrap(),
            "a.zip saved, but 2 outputs are not in it, because the file's host does not let this page read them (CORS): \
             open them in a new tab, and save them from there."
        );
    }
}
