//! Accounts in a separate SQLite file: the running service locks the database of the tasks, but accounts can be added
//! and removed while the service runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::{Account, AccountError, AccountStore};

/// How long a statement waits while another process locks the file.
const TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS account (
    name TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID";

pub struct File {
    path: PathBuf,
    /// Whether the file exists or has existed. If the file is deleted later, clients still need an account.
    has_existed: AtomicBool,
    connection: Mutex<Option<Connection>>,
}

impl File {
    pub fn of(data: &Path) -> Self {
        Self {
            path: data.join("accounts.sqlite"),
            has_existed: AtomicBool::new(false),
            connection: Mutex::new(None),
        }
    }

    /// Runs `work` on the accounts. Without a file, returns the default and creates none.
    fn if_exists<T: Default>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, AccountError> {
        if self.path.exists() {
            return self.with(OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE, work);
        }
        Ok(T::default())
    }

    fn with<T>(
        &self,
        flags: OpenFlags,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, AccountError> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *connection {
            Some(connection) => connection,
            none => {
                let opened = Connection::open_with_flags(&self.path, flags)?;
                opened.busy_timeout(TIMEOUT)?;
                opened.execute_batch(SCHEMA)?;
                none.insert(opened)
            }
        };
        Ok(work(connection)?)
    }
}

impl AccountStore for File {
    /// Needs no query, because it only checks whether the file exists.
    fn has_accounts_cached(&self) -> Option<bool> {
        if !self.has_existed.load(Ordering::Relaxed) && self.path.exists() {
            self.has_existed.store(true, Ordering::Relaxed);
        }
        Some(self.has_existed.load(Ordering::Relaxed))
    }

    fn has_accounts(&self) -> Result<bool, AccountError> {
        Ok(self.has_accounts_cached().unwrap_or(true))
    }

    fn insert(&self, name: &str, digest: &str) -> Result<bool, AccountError> {
        if let Some(folder) = self.path.parent() {
            crate::private::make_dir(folder)?;
        }
        self.with(OpenFlags::default(), |connection| {
            let added = connection.execute(
                "INSERT INTO account (name, token) VALUES (?1, ?2)",
                params![name, digest],
            );
            match added {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Ok(false)
                }
                added => added.map(|_| true),
            }
        })
    }

    fn update(&self, name: &str, digest: &str) -> Result<bool, AccountError> {
        let change = "UPDATE account SET token = ?2 WHERE name = ?1";
        self.if_exists(|connection| Ok(connection.execute(change, params![name, digest])? > 0))
    }

    fn delete(&self, name: &str) -> Result<bool, AccountError> {
        let change = "DELETE FROM account WHERE name = ?1";
        self.if_exists(|connection| Ok(connection.execute(change, [name])? > 0))
    }

    fn list(&self) -> Result<Vec<Account>, AccountError> {
        self.if_exists(|connection| {
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

    fn find_by_digest(&self, digest: &str) -> Result<Option<String>, AccountError> {
        self.if_exists(|connection| {
            connection
                .prepare_cached("SELECT name FROM account WHERE token = ?1")?
                .query_row([digest], |row| row.get(0))
                .optional()
        })
    }
}
