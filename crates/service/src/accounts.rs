//! Accounts, each with an access token: `atelier-service account add NAME`.
//!
//! Accounts are stored where the tasks are: in a file next to the SQLite database, or in the same PostgreSQL
//! database. A token is stored as its SHA-256 digest: a token of 256 random bits needs no slow password hash.

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

/// The number of tokens that are looked up concurrently.
const MAX_LOOKUPS: usize = 4;

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
    #[error("account {0} already exists; `account rotate` replaces its token")]
    Exists(String),
    #[error("there is no account {0}")]
    Unknown(String),
    #[error("invalid account name {0:?}: use 1 to 64 letters, digits, `-`, `_`, `.` or `@`")]
    Name(String),
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
}

/// An account, as `account list` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    /// Date and time, UTC.
    pub created: String,
}

/// Stores accounts, in a file or in a database that processes share. Its calls block.
pub trait AccountStore: Send + Sync {
    /// Returns whether accounts exist or existed. Returns `None` if that takes a database query.
    fn has_accounts_cached(&self) -> Option<bool>;

    /// Returns whether accounts exist or existed.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn has_accounts(&self) -> Result<bool, AccountError>;

    /// Adds an account. Returns `false` if the name is taken.
    ///
    /// # Errors
    ///
    /// The store can't be created or written.
    fn insert(&self, name: &str, digest: &str) -> Result<bool, AccountError>;

    /// Replaces the token of an account. Returns `false` if no account has this name.
    ///
    /// # Errors
    ///
    /// The store exists and can't be written.
    fn update(&self, name: &str, digest: &str) -> Result<bool, AccountError>;

    /// Removes an account. Returns `false` if no account has this name.
    ///
    /// # Errors
    ///
    /// As for [`Self::update`].
    fn delete(&self, name: &str) -> Result<bool, AccountError>;

    /// Returns all accounts, sorted by name.
    ///
    /// # Errors
    ///
    /// The store exists and can't be read.
    fn list(&self) -> Result<Vec<Account>, AccountError>;

    /// Returns the name of the account whose token has this digest.
    ///
    /// # Errors
    ///
    /// As for [`Self::list`].
    fn find_by_digest(&self, digest: &str) -> Result<Option<String>, AccountError>;
}

/// The accounts of a service. After the first account is added, every client needs an account, even if all accounts
/// are removed later.
pub struct Accounts {
    store: Box<dyn AccountStore>,
    recent: Recent,
    /// Limits concurrent lookups, so that a flood of invalid tokens leaves threads and connections for other calls.
    pub lookups: Semaphore,
}

impl Accounts {
    /// Returns the accounts of a service that uses SQLite in this data directory. Creates no files.
    pub fn of(data: &Path) -> Self {
        Self::with_store(File::of(data))
    }

    pub fn with_store(store: impl AccountStore + 'static) -> Self {
        Self {
            store: Box::new(store),
            recent: Recent::default(),
            lookups: Semaphore::new(MAX_LOOKUPS),
        }
    }

    /// Returns whether clients need an account. Returns `None` if that takes a database query.
    pub fn has_accounts_cached(&self) -> Option<bool> {
        self.store.has_accounts_cached()
    }

    /// Returns whether clients need an account. Blocks.
    ///
    /// # Errors
    ///
    /// The accounts can't be read.
    pub fn has_accounts(&self) -> Result<bool, AccountError> {
        self.store.has_accounts()
    }

    /// Adds an account and returns its token.
    ///
    /// # Errors
    ///
    /// [`AccountError::Name`] if the name is invalid, [`AccountError::Exists`] if it is taken,
    /// [`AccountError::Random`] if the system has no random numbers; any other if the accounts can't be
    /// written.
    pub fn add(&self, name: &str) -> Result<String, AccountError> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_allowed) {
            return Err(AccountError::Name(name.to_owned()));
        }
        let token = new_token()?;
        match self.store.insert(name, &digest(&token))? {
            true => Ok(token),
            false => Err(AccountError::Exists(name.to_owned())),
        }
    }

    /// Replaces the token of an account; the old token is invalid from then on.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unknown`] if there is no account of this name, [`AccountError::Random`] if the system
    /// has no random numbers; any other if the accounts can't be written.
    pub fn rotate(&self, name: &str) -> Result<String, AccountError> {
        let token = new_token()?;
        match self.store.update(name, &digest(&token))? {
            true => Ok(token),
            false => Err(AccountError::Unknown(name.to_owned())),
        }
    }

    /// Removes an account. Its tasks stay, and are accessible again if the account is added again.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unknown`] if there is no account of this name; any other if the accounts can't be
    /// written.
    pub fn remove(&self, name: &str) -> Result<(), AccountError> {
        match self.store.delete(name)? {
            true => Ok(()),
            false => Err(AccountError::Unknown(name.to_owned())),
        }
    }

    /// Returns all accounts, sorted by name.
    ///
    /// # Errors
    ///
    /// The accounts can't be read.
    pub fn list(&self) -> Result<Vec<Account>, AccountError> {
        self.store.list()
    }

    /// Returns the name of the account with this token, if it was looked up within the last second.
    pub fn recent(&self, token: &str, now: Instant) -> Option<String> {
        self.recent.find(&digest(token), now)
    }

    /// Returns the name of the account with this token. Blocks.
    ///
    /// # Errors
    ///
    /// The accounts can't be read.
    pub fn find_by_token(&self, token: &str) -> Result<Option<String>, AccountError> {
        // The result expires a second after the query starts, because the account may change during the query.
        let (digest, now) = (digest(token), Instant::now());
        let found = self.store.find_by_digest(&digest)?;
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
    fn a_token_is_shown_once_and_stored_as_a_digest() {
        let data = tempfile::tempdir().unwrap();
        let accounts = Accounts::of(data.path());
        assert!(!accounts.has_accounts().unwrap());
        let token = accounts.add("ada").unwrap();
        assert!(accounts.has_accounts().unwrap());
        let bytes = std::fs::read(data.path().join("accounts.sqlite")).unwrap();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(!has(&token) && has(&digest(&token)));
        assert_eq!(
            accounts.find_by_token(&token).unwrap().as_deref(),
            Some("ada")
        );
        assert_eq!(accounts.find_by_token("x").unwrap(), None);
        assert!(matches!(accounts.add("ada"), Err(AccountError::Exists(_))));
        assert!(matches!(accounts.add("a b"), Err(AccountError::Name(_))));

        // Another process.
        let others = Accounts::of(data.path());
        let new = others.rotate("ada").unwrap();
        assert_eq!(accounts.find_by_token(&token).unwrap(), None);
        assert_eq!(
            accounts.find_by_token(&new).unwrap().as_deref(),
            Some("ada")
        );
        assert_eq!(others.list().unwrap()[0].name, "ada");
        others.remove("ada").unwrap();
        assert_eq!(accounts.find_by_token(&new).unwrap(), None);
        assert!(matches!(
            others.remove("ada"),
            Err(AccountError::Unknown(_))
        ));
        assert!(
            accounts.has_accounts().unwrap(),
            "clients still need an account"
        );
    }
}
