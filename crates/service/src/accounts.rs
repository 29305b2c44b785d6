//! Who may come in by a token of their own: `atelier-service account add NAME`.
//!
//! They lie in a database of their own beside the tasks, because that is the service's alone while it
//! runs, and accounts are to come and go meanwhile. A token is kept as its SHA-256: 256 random bits need
//! no slower one.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// How long a change waits for another.
const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS account (
    name TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID";

#[derive(Debug, Error)]
pub enum AccountError {
    #[error("the accounts can't be read or written: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("the accounts can't be read or written: {0}")]
    Io(#[from] io::Error),
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

/// The accounts of a data directory. There are none until the first is added; from then on nobody
/// comes in without one, also when the last has been removed.
pub struct Accounts {
    file: PathBuf,
    /// They have been there. A file that is gone does not let everybody in.
    seen: AtomicBool,
    connection: Mutex<Option<Connection>>,
}

impl Accounts {
    /// Makes nothing.
    pub fn of(data: &Path) -> Self {
        Self {
            file: data.join("accounts.sqlite"),
            seen: AtomicBool::new(false),
            connection: Mutex::new(None),
        }
    }

    /// Whether an account is needed to come in.
    pub fn are_there(&self) -> bool {
        if !self.seen.load(Ordering::Relaxed) && self.file.exists() {
            self.seen.store(true, Ordering::Relaxed);
        }
        self.seen.load(Ordering::Relaxed)
    }

    /// Adds one and returns its token.
    pub fn add(&self, name: &str) -> Result<String, AccountError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            return Err(AccountError::Name(name.to_owned()));
        }
        let token = new_token()?;
        let added = self.with(|connection| {
            let added = connection.execute(
                "INSERT INTO account (name, token) VALUES (?1, ?2)",
                params![name, digest(&token)],
            );
            match added {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Ok(false)
                }
                added => added.map(|_| true),
            }
        })?;
        match added {
            true => Ok(token),
            false => Err(AccountError::Exists(name.to_owned())),
        }
    }

    /// Gives one another token; the old one is worth nothing from then on.
    pub fn rotate(&self, name: &str) -> Result<String, AccountError> {
        let token = new_token()?;
        self.change(name, |connection| {
            connection.execute(
                "UPDATE account SET token = ?2 WHERE name = ?1",
                params![name, digest(&token)],
            )
        })?;
        Ok(token)
    }

    /// Takes one away. Its tasks stay, and are there again if it is added again.
    pub fn remove(&self, name: &str) -> Result<(), AccountError> {
        self.change(name, |connection| {
            connection.execute("DELETE FROM account WHERE name = ?1", [name])
        })
    }

    pub fn list(&self) -> Result<Vec<Account>, AccountError> {
        self.with(|connection| {
            connection
                .prepare("SELECT name, created FROM account ORDER BY name")?
                .query_map([], |row| {
                    Ok(Account {
                        name: row.get(0)?,
                        created: row.get(1)?,
                    })
                })?
                .collect()
        })
    }

    /// The name of the account that has this token.
    pub fn of_token(&self, token: &str) -> Result<Option<String>, AccountError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT name FROM account WHERE token = ?1")?
                .query_row([digest(token)], |row| row.get(0))
                .optional()
        })
    }

    /// A change of one account, which has to be there.
    fn change(
        &self,
        name: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<usize>,
    ) -> Result<(), AccountError> {
        match self.with(change)? {
            0 => Err(AccountError::Unknown(name.to_owned())),
            _ => Ok(()),
        }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, AccountError> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *connection {
            Some(connection) => connection,
            none => {
                if let Some(folder) = self.file.parent() {
                    crate::private::make_dir(folder)?;
                }
                let opened = Connection::open(&self.file)?;
                opened.busy_timeout(PATIENCE)?;
                opened.execute_batch(SCHEMA)?;
                none.insert(opened)
            }
        };
        Ok(work(connection)?)
    }
}

fn new_token() -> Result<String, AccountError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(AccountError::Random)?;
    Ok(format!("atelier_{}", hex(&bytes)))
}

fn digest(token: &str) -> String {
    hex(&Sha256::digest(token))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
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
        assert!(
            !bytes
                .windows(token.len())
                .any(|part| part == token.as_bytes())
        );
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
