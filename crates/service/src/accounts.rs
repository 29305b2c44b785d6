//! Who may come in by a token of their own: `atelier-service account add NAME`.
//!
//! They lie where the tasks do: in a file next to those of SQLite, or in the same PostgreSQL. A token is
//! kept as its SHA-256: 256 random bits need no slower one.

use std::io;
use std::path::Path;
use std::time::Instant;

use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::store::StoreError;

mod file;
mod recent;

use file::File;
use recent::Recent;

/// So many tokens are looked up at the same time.
const LOOKUPS: usize = 4;

#[derive(Debug, Error)]
pub enum AccountError {
    #[error("the accounts can't be read or written: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("the accounts can't be read or written: {0}")]
    Io(#[from] io::Error),
    #[error("the accounts can't be read or written: {0}")]
    Store(#[from] StoreError),
    #[error("accounts in PostgreSQL: this build has no feature cluster")]
    Cluster,
    #[error("there is an account {0} already; `account rotate` gives it another token")]
    Exists(String),
    #[error("there is no account {0}")]
    Unknown(String),
    #[error("{0:?} is no name: 1 to 64 letters, digits, `-`, `_`, `.` and `@`")]
    Name(String),
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
}

/// An account as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    /// Date and time, UTC.
    pub created: String,
}

/// Where accounts are kept: a file, or a database that processes share. Its calls block.
pub trait Place: Send + Sync {
    /// Whether there are accounts, or have been; `None` if a database has to be asked.
    fn are_there_by_now(&self) -> Option<bool>;

    /// Whether there are accounts, or have been; `true` where that can't be known.
    fn are_there(&self) -> bool;

    /// Adds an account. Whether there was none of this name.
    ///
    /// # Errors
    ///
    /// The place can't be made or written to.
    fn insert(&self, name: &str, digest: &str) -> Result<bool, AccountError>;

    /// Gives an account another token. Whether there is one of this name.
    ///
    /// # Errors
    ///
    /// The place is there, and can't be written to.
    fn update(&self, name: &str, digest: &str) -> Result<bool, AccountError>;

    /// Takes an account away. Whether there was one of this name.
    ///
    /// # Errors
    ///
    /// As for [`Self::update`].
    fn delete(&self, name: &str) -> Result<bool, AccountError>;

    /// All accounts, sorted by their names.
    ///
    /// # Errors
    ///
    /// The place is there, and can't be read.
    fn list(&self) -> Result<Vec<Account>, AccountError>;

    /// The name of the account whose token has this digest.
    ///
    /// # Errors
    ///
    /// As for [`Self::list`].
    fn of_digest(&self, digest: &str) -> Result<Option<String>, AccountError>;
}

/// The accounts of a service. There are none until the first is added; from then on no client comes in
/// without one, also when the last has been removed.
pub struct Accounts {
    place: Box<dyn Place>,
    recent: Recent,
    /// Lookups at the same time: a flood of bad tokens leaves threads and connections to others.
    pub lookups: Semaphore,
}

impl Accounts {
    /// Gives the accounts of a service with this data directory and SQLite. This makes nothing.
    pub fn of(data: &Path) -> Self {
        Self::in_place(File::of(data))
    }

    pub fn in_place(place: impl Place + 'static) -> Self {
        Self {
            place: Box::new(place),
            recent: Recent::default(),
            lookups: Semaphore::new(LOOKUPS),
        }
    }

    /// Whether an account is needed to come in, as far as that is known without a look into a database.
    pub fn are_there_by_now(&self) -> Option<bool> {
        self.place.are_there_by_now()
    }

    /// Whether an account is needed to come in. Where that can't be known, one is. Blocks.
    pub fn are_there(&self) -> bool {
        self.place.are_there()
    }

    /// Adds one and returns its token.
    ///
    /// # Errors
    ///
    /// [`AccountError::Name`] for a name that is none, [`AccountError::Exists`] for one that is taken,
    /// [`AccountError::Random`] if the system has no random numbers; any other if the accounts can't be
    /// written.
    pub fn add(&self, name: &str) -> Result<String, AccountError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            return Err(AccountError::Name(name.to_owned()));
        }
        let token = new_token()?;
        match self.place.insert(name, &digest(&token))? {
            true => Ok(token),
            false => Err(AccountError::Exists(name.to_owned())),
        }
    }

    /// Gives one another token; the old one is worth nothing from then on.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unknown`] if there is no account of this name, [`AccountError::Random`] if the system
    /// has no random numbers; any other if the accounts can't be written.
    pub fn rotate(&self, name: &str) -> Result<String, AccountError> {
        let token = new_token()?;
        match self.place.update(name, &digest(&token))? {
            true => Ok(token),
            false => Err(AccountError::Unknown(name.to_owned())),
        }
    }

    /// Takes one away. Its tasks stay, and are there again if it is added again.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unknown`] if there is no account of this name; any other if the accounts can't be
    /// written.
    pub fn remove(&self, name: &str) -> Result<(), AccountError> {
        match self.place.delete(name)? {
            true => Ok(()),
            false => Err(AccountError::Unknown(name.to_owned())),
        }
    }

    /// Gives all accounts, sorted by their names.
    ///
    /// # Errors
    ///
    /// The accounts can't be read.
    pub fn list(&self) -> Result<Vec<Account>, AccountError> {
        self.place.list()
    }

    /// The name of the account that has this token, if it was looked up within the last second.
    pub fn recent(&self, token: &str, now: Instant) -> Option<String> {
        self.recent.find(&digest(token), now)
    }

    /// The name of the account that has this token. Blocks.
    ///
    /// # Errors
    ///
    /// The accounts can't be read.
    pub fn of_token(&self, token: &str) -> Result<Option<String>, AccountError> {
        // As old as the question: it may be changed while it is answered.
        let (digest, now) = (digest(token), Instant::now());
        let found = self.place.of_digest(&digest)?;
        if let Some(name) = &found {
            self.recent.add(digest, name, now);
        }
        Ok(found)
    }
}

fn new_token() -> Result<String, AccountError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(AccountError::Random)?;
    Ok(format!("atelier_{}", hex::encode(bytes)))
}

fn digest(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_once_and_kept_as_a_digest() {
        let data = tempfile::tempdir().unwrap();
        let accounts = Accounts::of(data.path());
        assert!(!accounts.are_there());
        let token = accounts.add("ada").unwrap();
        assert!(accounts.are_there());
        let bytes = std::fs::read(data.path().join("accounts.sqlite")).unwrap();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(!has(&token) && has(&digest(&token)));
        assert_eq!(accounts.of_token(&token).unwrap().as_deref(), Some("ada"));
        assert_eq!(accounts.of_token("x").unwrap(), None);
        assert!(matches!(accounts.add("ada"), Err(AccountError::Exists(_))));
        assert!(matches!(accounts.add("a b"), Err(AccountError::Name(_))));

        // Another process.
        let others = Accounts::of(data.path());
        let new = others.rotate("ada").unwrap();
        assert_eq!(accounts.of_token(&token).unwrap(), None);
        assert_eq!(accounts.of_token(&new).unwrap().as_deref(), Some("ada"));
        assert_eq!(others.list().unwrap()[0].name, "ada");
        others.remove("ada").unwrap();
        assert_eq!(accounts.of_token(&new).unwrap(), None);
        assert!(matches!(
            others.remove("ada"),
            Err(AccountError::Unknown(_))
        ));
        assert!(accounts.are_there(), "nobody comes in now");
    }
}
