//! Errors of storage.

use atelier_engine::recovery::{Failure, SUPERSEDED};
use idb::Error;
use wasm_bindgen::JsCast;
use web_sys::DomException;

/// Why a read or write failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageError {
    /// The browser refuses storage: a private window, a policy, or a damaged profile.
    Refused,
    /// Storage did not respond in time.
    Silent,
    /// Storage is full.
    Full,
    /// The connection was closed: site data was cleared, or a newer version has taken over.
    Closed,
    /// The database has the format of a newer version.
    Newer,
}

impl StorageError {
    const ALL: [Self; 5] = [
        Self::Refused,
        Self::Silent,
        Self::Full,
        Self::Closed,
        Self::Newer,
    ];

    /// Returns the name of the error in messages between tabs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Full => "full",
            Self::Closed => "closed",
            Self::Newer => "newer",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.word() == word)
    }

    /// Returns the reason for the user, as the rest of a sentence that begins with "This browser".
    pub fn reason(self) -> &'static str {
        match self {
            Self::Refused => "does not let Atelier store anything",
            Self::Silent => "does not respond when Atelier stores something",
            Self::Full => "has no space left for Atelier",
            Self::Closed => "has cleared Atelier's data",
            Self::Newer => "has data of a newer version of Atelier, which this one can't read",
        }
    }

    /// Returns a message that explains to the user what the error means for the tasks.
    pub fn user_message(self) -> String {
        match self {
            Self::Newer => SUPERSEDED.into(),
            error => format!(
                "Tasks are not being stored: this browser {}. Tasks already sent keep running, but you lose them if you close \
                 this tab.",
                error.reason()
            ),
        }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Full => Self::QuotaExceeded,
            StorageError::Closed => Self::ClosedByBrowser,
            StorageError::Refused | StorageError::Silent | StorageError::Newer => {
                Self::NoConnection
            }
        }
    }
}

impl From<Error> for StorageError {
    /// Converts an exception by its name, because the messages differ between browsers.
    fn from(error: Error) -> Self {
        let exception = match error {
            Error::DomException(exception) => Some(exception),
            Error::IndexedDbOpenFailed(thrown)
            | Error::TransactionOpenFailed(thrown)
            | Error::TransactionCommitError(thrown)
            | Error::ObjectStoreNotFound(thrown)
            | Error::GetAllFailed(thrown)
            | Error::UpdateFailed(thrown)
            | Error::DeleteFailed(thrown) => thrown.dyn_into::<DomException>().ok(),
            _ => None,
        };
        match exception.map(|it| it.name()).as_deref() {
            Some("QuotaExceededError") => Self::Full,
            Some("VersionError") => Self::Newer,
            Some("InvalidStateError") => Self::Closed,
            _ => Self::Refused,
        }
    }
}
